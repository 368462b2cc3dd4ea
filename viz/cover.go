package viz

import (
	"errors"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/toy"
)

// Cover writes a PNG of 1200×520 pixels for a README: on the left the first run's timeline above
// the accuracy of all runs, on the right the toy descent. There must be a run.
func Cover(w io.Writer, runs []*results.Run, traces []*toy.Trace) error {
	timeline, err := Timeline(runs[0])
	left, wrong := Accuracy(runs...)
	right, broken := ToyPaths(traces...)
	if err := errors.Join(err, wrong, broken); err != nil {
		return err
	}
	left.Rows, left.HeightRatios = [][]*plot.Plot{timeline.Rows[0], left.Rows[0]}, []float64{2, 3}
	right.Rows[0][0].Title.Text = "two toy functions, after task 2 has arrived"
	// 720 points wide, at 120 dots per inch: text is as large as in a figure of that width
	c := vgimg.NewWith(vgimg.UseWH(720, 312), vgimg.UseDPI(120), vgimg.UseBackgroundColor(color.White))
	dc := draw.Crop(draw.New(c), 6, -6, 4, -6)
	middle := dc.Min.X + 0.58*(dc.Max.X-dc.Min.X)
	left.Draw(draw.Crop(dc, 0, middle-dc.Max.X-6, 0, 0))
	right.Draw(draw.Crop(dc, middle-dc.Min.X+6, 0, 0, 0))
	_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}
