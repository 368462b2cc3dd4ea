package viz

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TaskAccuracy draws each task's test accuracy for each method: a thin stem from the accuracy at the task's
// own end to a marker at the accuracy at the end of the run, so that a stem that falls is forgetting. It must
// show which tasks each method learns, which it loses, and which others they overlap with. Several runs of a
// method are shown by their mean and a bar of ± one standard deviation.
func TaskAccuracy(t *Theme, runs ...*results.Run) (*Figure, error) {
	groups, err := Groups(runs)
	if err != nil {
		return nil, err
	}
	tasks := len(runs[0].Tasks)
	for _, r := range runs {
		if len(r.Tasks) != tasks {
			return nil, fmt.Errorf("viz: run %s has %d tasks and run %s has %d", runs[0].ID, tasks, r.ID, len(r.Tasks))
		}
	}
	p := t.newPlot("task, by arrival", "test accuracy, %")
	p.Add(&stripes{theme: t, n: tasks}, t.horizontals())
	low, high := 100.0, 0.0
	d := &dumbbells{theme: t}
	styles := t.stylesOf(groups)
	data := Table{Head: []string{"method", "task", "accuracy_at_own_end_percent", "accuracy_at_end_percent", "std_percent", "runs"}}
	for i, g := range groups {
		for j, task := range runs[0].Tasks {
			b := dumbbellOf(g, j)
			b.x, b.style = float64(j)+beside(i, len(groups)), styles[g.look]
			data.add(g.Label, task.ID, b.own, b.final, b.std, len(g.Runs))
			d.items = append(d.items, b)
			low, high = min(low, b.own, b.final-b.std), max(high, b.own, b.final+b.std)
		}
	}
	p.Add(d)
	p.X.Min, p.X.Max = -0.5, float64(tasks)-0.5
	p.X.Tick.Marker = plot.ConstantTicks(taskTicks(runs))
	p.X.Tick.Length = 0
	p.Y.Min, p.Y.Max = max(0, low-4), min(100, high+4)
	f := newFigure(t, 260, fmt.Sprintf("Accuracy of each of %d tasks at its own end and at the end of the run, for %d methods.", tasks, len(groups)), []*plot.Plot{p})
	f.key = methodKey(groups, styles)
	for i := range f.key {
		f.key[i].line = t.line(f.key[i].line.Color, 1)
	}
	f.key = append(f.key, keyEntry{label: "bar: at the task's own end; marker: at the end of the run"})
	return f.holding("task-accuracy", data), nil
}

// dumbbell is one method's accuracy of one task, in percent.
type dumbbell struct {
	x, own, final, std float64
	style              Style
}

func dumbbellOf(g Group, task int) dumbbell {
	var own, final []float64
	for _, r := range g.Runs {
		own = append(own, 100*r.Tasks[task].AccEnd)
		final = append(final, 100*r.Tasks[task].AccFinal)
	}
	var b dumbbell
	b.own, _ = meanStd(own)
	b.final, b.std = meanStd(final)
	return b
}

func taskTicks(runs []*results.Run) []plot.Tick {
	var ticks []plot.Tick
	for j, task := range runs[0].Tasks {
		ticks = append(ticks, plot.Tick{Value: float64(j), Label: fmt.Sprint(task.ID)})
	}
	return ticks
}

// stripes shade every second task.
type stripes struct {
	theme *Theme
	n     int
	first float64 // where the first task stands
}

func (s *stripes) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	shade := s.theme.Grid
	shade.A = 110
	for j := 1; j < s.n; j += 2 {
		left, right := trX(s.first+float64(j)-0.5), trX(s.first+float64(j)+0.5)
		c.FillPolygon(shade, []vg.Point{{X: left, Y: c.Min.Y}, {X: right, Y: c.Min.Y}, {X: right, Y: c.Max.Y}, {X: left, Y: c.Max.Y}})
	}
}

type dumbbells struct {
	theme *Theme
	items []dumbbell
}

func (d *dumbbells) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for _, b := range d.items {
		s := b.style
		x, own, final := trX(b.x), trY(b.own), trY(b.final)
		c.StrokeLine2(d.theme.line(s.Color, 1), x, own, x, final)
		c.StrokeLine2(d.theme.line(s.Color, 1), x-vg.Points(3), own, x+vg.Points(3), own)
		if b.std > 0 {
			whisker := s.Color
			whisker.A = 90
			c.StrokeLine2(d.theme.line(whisker, 4), x, trY(b.final-b.std), x, trY(b.final+b.std))
		}
		c.DrawGlyphNoClip(s.glyph(3), vg.Point{X: x, Y: final})
	}
}
