package viz_test

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
	"github.com/parallelcl/parallelcl/viz"
)

func ExampleCover() {
	err := atomicfile.Write("testdata/cover.png", func(w io.Writer) error {
		return viz.Cover(w, invented.Runs(1), invented.Descents())
	})
	if err != nil {
		log.Fatal(err)
	}
}

func TestCover(t *testing.T) {
	mixed := invented.Runs(1)
	mixed[1].Dataset = "other"
	if err := viz.Cover(io.Discard, mixed, invented.Descents()); err == nil {
		t.Error("runs of two data sets have a cover")
	}
	cmpimg.CheckPlotApprox(ExampleCover, t, 0.1, "cover.png")
	if !t.Failed() {
		os.Remove("testdata/cover.png")
	}
	var buf bytes.Buffer
	must.Do(t, viz.Cover(&buf, invented.Runs(1), invented.Descents()))
	c, format, err := image.DecodeConfig(&buf)
	switch {
	case err != nil:
		t.Errorf("cover: %v", err)
	case format != "png":
		t.Errorf("cover: format is %q; want %q", format, "png")
	case c.Width != 1200:
		t.Errorf("cover: c.Width is %d; want 1200", c.Width)
	case c.Height != 520:
		t.Errorf("cover: c.Height is %d; want 520", c.Height)
	}
}
