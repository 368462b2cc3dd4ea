package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// The cover is 1200×520 pixels; its text is as large as in a figure of 720 points.
const (
	coverWidth  vg.Length = 720
	coverHeight vg.Length = 312
	coverDPI              = 120
)

// Cover writes the picture for a README as a PNG of 1200×520 pixels: on the left the tasks' timeline over the
// accuracy that goes with it, on the right the toy descent if there is one.
func Cover(w io.Writer, runs []*results.Run, toy []viz.Trace) error {
	if len(runs) == 0 {
		return errors.New("report: no runs; a cover needs at least one")
	}
	left, err := coverRuns(runs)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	c := vgimg.NewWith(vgimg.UseWH(coverWidth, coverHeight), vgimg.UseDPI(coverDPI), vgimg.UseBackgroundColor(color.White))
	dc := draw.Crop(draw.New(c), 6, -6, 4, -6)
	if len(toy) == 0 {
		left.Draw(dc)
	} else {
		right, err := viz.ToyPaths(toy...)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		right.Rows[0][0].Title.Text = "two toy functions, after task 2 has arrived"
		middle := dc.Min.X + 0.58*(dc.Max.X-dc.Min.X)
		left.Draw(draw.Crop(dc, 0, middle-dc.Max.X-6, 0, 0))
		right.Draw(draw.Crop(dc, middle-dc.Min.X+6, 0, 0, 0))
	}
	_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// coverRuns puts the timeline's bars over the accuracy, on one time axis.
func coverRuns(runs []*results.Run) (*viz.Figure, error) {
	timeline, err := viz.Timeline(runs[0])
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(runs, func(r *results.Run) bool { return len(r.Curve) > 0 }) {
		return timeline, nil
	}
	accuracy, err := viz.Accuracy(runs...)
	if err != nil {
		return nil, err
	}
	accuracy.Rows = [][]*plot.Plot{timeline.Rows[0], accuracy.Rows[0]}
	accuracy.Share = []float64{2, 3}
	return accuracy, nil
}
