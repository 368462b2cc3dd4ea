package report_test

import (
	"bytes"
	"image"
	"io"
	"log"
	"os"
	"testing"

	"gonum.org/v1/plot/cmpimg"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/viz/report"
)

func ExampleCover() {
	err := atomicfile.Write("testdata/cover.png", func(w io.Writer) error {
		return report.Cover(w, invented.Runs(1), invented.Descents())
	})
	if err != nil {
		log.Fatal(err)
	}
}

func TestCover(t *testing.T) {
	cmpimg.CheckPlotApprox(ExampleCover, t, 0.1, "cover.png")
	if !t.Failed() {
		os.Remove("testdata/cover.png")
	}
	var buf bytes.Buffer
	must.Do(t, report.Cover(&buf, invented.Runs(1), invented.Descents()))
	c, format, err := image.DecodeConfig(&buf)
	if err != nil || format != "png" || c.Width != 1200 || c.Height != 520 {
		t.Errorf("cover: %d×%d %s, %v; want a PNG of 1200×520", c.Width, c.Height, format, err)
	}
}

// TestNothingIsWritten where there is nothing to show.
func TestNothingIsWritten(t *testing.T) {
	mixed := invented.Runs(1)
	mixed[1].Dataset = "other"
	var buf bytes.Buffer
	for what, err := range map[string]error{
		"no runs, page": report.Runs(t.Context(), &buf, report.RunsInput{}), "mixed": report.Cover(&buf, mixed, invented.Descents()),
	} {
		if err == nil || buf.Len() > 0 {
			t.Errorf("%s: %d bytes, %v", what, buf.Len(), err)
		}
	}
}
