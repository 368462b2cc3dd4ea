package viz_test

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// stems draws a stem from 0 to each value, with the method's marker at its end.
type stems struct {
	label string
	style viz.Style
	xys   plotter.XYs
}

func (s stems) Series() viz.Series {
	return viz.Series{KeyEntry: viz.KeyEntry{Label: s.label, Glyph: s.style.GlyphStyle(3)}, Values: s.xys}
}

func (s stems) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = plotter.XYRange(s.xys)
	return xmin - 0.3, xmax + 0.3, min(0, ymin-0.5), max(0, ymax+0.5)
}

func (s stems) Plot(c draw.Canvas, p *plot.Plot) {
	pen := viz.NewPen(c, p)
	for _, v := range s.xys {
		pen.DrawSegment(s.style.LineStyle(), pen.At(v.X, 0), pen.At(v.X, v.Y))
		pen.DrawGlyphNoClip(s.style.GlyphStyle(3), pen.At(v.X, v.Y))
	}
}

// A new kind of figure: by how much each task's accuracy falls between its own end and the end of
// the run.
func ExamplePlotter() {
	runs := []*results.Run{invented.Run("avggrad", "AvgGrad", 1), invented.Run("emgd-gmc", "EMGD (GMC)", 1)}
	p := viz.NewPlot("", "task", "forgetting, points of accuracy")
	p.X.Tick.Marker = viz.Ticks{N: 10, Whole: true}
	for i, run := range runs {
		var xys plotter.XYs
		for _, task := range run.Tasks {
			xys = append(xys, plotter.XY{X: float64(task.ID) + 0.2*(float64(i)-0.5), Y: 100 * (task.AccEnd - task.AccFinal)})
		}
		p.Add(stems{run.MethodTitle, viz.MethodStyle(run.Method), xys})
	}
	fig, err := viz.Plots("forgetting", "Forgetting of each task under two methods.", p)
	save("forgetting", fig, err)
}
