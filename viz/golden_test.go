package viz_test

import (
	"os"
	"testing"

	"gonum.org/v1/plot/cmpimg"
)

// Each example's picture equals the one in testdata; `go test -regen` writes them anew. The
// tolerance allows for another rounding at the edges of lines.
func TestGolden(t *testing.T) {
	for name, draw := range map[string]func(){
		"timeline.png":     ExampleTimeline,
		"accuracy.png":     ExampleAccuracy,
		"taskaccuracy.png": ExampleTaskAccuracy,
		"certificates.png": ExampleCertificates,
		"toydescent.png":   ExampleToyDescent,
		"toypaths.png":     ExampleToyPaths,
		"toylosses.png":    ExampleToyLosses,
	} {
		t.Run(name, func(t *testing.T) {
			cmpimg.CheckPlotApprox(draw, t, 0.1, name)
			if !t.Failed() {
				os.Remove("testdata/" + name)
			}
		})
	}
}
