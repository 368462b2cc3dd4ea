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
		"scenarios.png":       ExampleScenarios,
		"timeline.png":        ExampleTimeline,
		"accuracy.png":        ExampleAccuracy,
		"taskaccuracy.png":    ExampleTaskAccuracy,
		"taskcurves.png":      ExampleTaskCurves,
		"accuracymatrix.png":  ExampleAccuracyMatrix,
		"learningprocess.png": ExampleLearningProcess,
		"memorysize.png":      ExampleMemorySize,
		"temperature.png":     ExampleTemperature,
		"ranks.png":           ExampleCriticalDifference,
		"profiles.png":        ExampleProfiles,
		"tradeoff.png":        ExampleTradeOff,
		"certificates.png":    ExampleCertificates,
		"streamweights.png":   ExampleStreamWeights,
		"conflicts.png":       ExampleConflicts,
		"ratio.png":           ExampleRatio,
		"stepgeometry.png":    ExampleStepGeometry,
		"features.png":        ExampleFeatures,
		"editedimages.png":    ExampleEditedImages,
		"toydescent.png":      ExampleToyDescent,
		"toypaths.png":        ExampleToyPaths,
		"toylosses.png":       ExampleToyLosses,
		"own.png":             ExamplePlots,
		"ownbelow.png":        ExampleNewPlot,
		"forgetting.png":      ExamplePlotter,
	} {
		t.Run(name, func(t *testing.T) {
			cmpimg.CheckPlotApprox(draw, t, 0.1, name)
			if !t.Failed() {
				os.Remove("testdata/" + name)
			}
		})
	}
}
