package viz

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// MemorySize draws the final average accuracy A against the number of stored samples (the paper's Fig. 5):
// how much each method gains from more memory, and from where on more no longer helps. There is one line per
// method, with a band of one standard deviation over its runs, and one panel for each data set and increment.
// The budget is that of the run's configuration.
func MemorySize(t *Theme, runs ...*results.Run) (*Figure, error) {
	label := "stored samples"
	policy := ""
	value := func(r *results.Run) (float64, bool, error) {
		var c struct {
			Memory struct {
				Policy string
				Budget *float64
			}
		}
		if err := json.Unmarshal(r.Config, &c); err != nil || c.Memory.Budget == nil || *c.Memory.Budget <= 0 {
			return 0, false, fmt.Errorf("viz: run %s: its configuration names no memory budget above 0", r.ID)
		}
		if policy != "" && c.Memory.Policy != policy {
			return 0, false, fmt.Errorf("viz: run %s has memory policy %s and others have %s: draw them in two figures", r.ID, c.Memory.Policy, policy)
		}
		if policy = c.Memory.Policy; policy == "per_class" {
			label = "stored samples per class"
		}
		return *c.Memory.Budget, true, nil
	}
	f, err := sweep(t, runs, "memory.budget", value)
	if err != nil {
		return nil, err
	}
	f.labelX(label)
	f.Alt = "Final average accuracy against the number of stored samples."
	f.Name, f.Data.Head[2] = "memory-size", "stored_samples"
	return f, nil
}

// Temperature draws the final average accuracy A against the softmax temperature τ of the elastic factors
// (the paper's Fig. 8), as [MemorySize] does against the budget: which temperatures are good, how wide the
// good range is, and whether all of it lies above the methods that have no temperature. Runs without a fixed
// temperature (of other methods, or with tau=auto) are drawn as a level line for comparison.
func Temperature(t *Theme, runs ...*results.Run) (*Figure, error) {
	f, err := sweep(t, runs, "params.tau", temperatureOf)
	if err != nil {
		return nil, err
	}
	f.labelX("softmax temperature τ")
	f.Alt = "Final average accuracy against the softmax temperature of the elastic factors."
	f.Name, f.Data.Head[2] = "temperature", "tau"
	return f, nil
}

// labelX writes under the plots of the last row.
func (f *Figure) labelX(label string) {
	for _, p := range f.Rows[len(f.Rows)-1] {
		p.X.Label.Text = label
	}
}

// sweepPanel is the runs of one setting: those with a place on the axis, and those without, levels.
type sweepPanel struct {
	title        string
	swept, level []Group
	at           map[*results.Run]float64
	axis         []plot.Tick
}

// sweep draws A against a value of the runs, that of the named setting, on a logarithmic axis; runs without it as levels.
func sweep(t *Theme, runs []*results.Run, axis string, value func(*results.Run) (float64, bool, error)) (*Figure, error) {
	parts, err := settings(runs)
	if err != nil {
		return nil, err
	}
	var panel []*sweepPanel
	var groups [][]Group
	for _, part := range parts {
		s, err := newSweepPanel(part, axis, value)
		if err != nil {
			return nil, err
		}
		panel, groups = append(panel, s), append(groups, s.swept, s.level)
	}
	all := dressAlike(groups...)
	styles := t.stylesOf(all)
	var plots []*plot.Plot
	data := Table{Head: []string{"setting", "method", "value", "accuracy_percent", "std_percent", "runs"}}
	for _, s := range panel {
		p := t.newPlot("", "final accuracy A, %")
		p.Title.Text = s.title
		p.Add(t.horizontals())
		if err := s.draw(t, p, styles, &data); err != nil {
			return nil, err
		}
		plots = append(plots, p)
	}
	f := newFigure(t, 0, "", panels(plots)...)
	f.Height = 230 * rowsOf(f)
	f.key = keyOf(all, styles)
	for i, e := range f.key {
		drawn := func(s *sweepPanel) bool {
			return slices.ContainsFunc(s.swept, func(g Group) bool { return g.Label == e.label })
		}
		if !slices.ContainsFunc(panel, drawn) {
			f.key[i].glyph.Shape = nil // a level has no markers
		}
	}
	return f.holding("sweep", data), nil
}

func newSweepPanel(part setting, axis string, value func(*results.Run) (float64, bool, error)) (*sweepPanel, error) {
	s := &sweepPanel{title: part.title, at: map[*results.Run]float64{}}
	var swept, level []*results.Run
	var values []float64
	for _, r := range part.runs {
		v, ok, err := value(r)
		if err != nil {
			return nil, err
		}
		if !ok {
			level = append(level, r)
			continue
		}
		plain := *r // its group is that of all values
		plain.Params = maps.Clone(r.Params)
		if axis == "params.tau" {
			delete(plain.Params, tauKey(r))
			if len(plain.Params) == 0 {
				plain.Params = nil // as in runs without parameters
			}
		}
		s.at[&plain] = v
		swept = append(swept, &plain)
		values = append(values, v)
	}
	slices.Sort(values)
	s.axis = sweepAxis(slices.Compact(values))
	if len(s.axis) < 2 {
		return nil, fmt.Errorf("viz: the runs on %s have %d values to draw A against; want at least two", part.runs[0].Dataset, len(s.axis))
	}
	var err error
	if s.swept, err = groupsBut(swept, axis); err != nil {
		return nil, err
	}
	if len(level) > 0 {
		if s.level, err = Groups(level); err != nil {
			return nil, err
		}
	}
	for i, l := range s.level {
		if slices.ContainsFunc(s.swept, func(g Group) bool { return g.Label == l.Label }) { // such as one with tau=auto
			s.level[i].Label += " " + l.Runs[0].ParamText()
		}
	}
	return s, nil
}

func (s *sweepPanel) draw(t *Theme, p *plot.Plot, styles map[string]Style, data *Table) error {
	for _, g := range s.swept {
		c, values, runs := sweepCurve(g.Runs, s.at, s.axis)
		for i := range values {
			data.add(s.title, g.Label, values[i], c.mean[i], c.std[i], runs[i])
		}
		if err := addCurve(t, p, styles[g.look], c, spreadFor(slices.Max(runs), len(s.swept))); err != nil {
			return err
		}
	}
	first, last := s.axis[0].Value, s.axis[len(s.axis)-1].Value
	for _, g := range s.level {
		var as []float64
		for _, r := range g.Runs {
			as = append(as, r.A)
		}
		mean, std := meanStd(as)
		data.add(s.title, g.Label, nil, mean, std, len(g.Runs))
		if err := addLines(p, styles[g.look].line(1), plotter.XYs{{X: first, Y: mean}, {X: last, Y: mean}}); err != nil {
			return err
		}
	}
	pad := 0.03 * (last - first)
	p.X.Min, p.X.Max = first-pad, last+pad
	p.X.Tick.Marker = plot.ConstantTicks(spaced(s.axis))
	return nil
}

// sweepAxis places values at their logarithms, and infinity a little beyond the last of them.
func sweepAxis(values []float64) []plot.Tick {
	var ticks []plot.Tick
	for i, v := range values {
		tick := plot.Tick{Value: math.Log10(v), Label: strconv.FormatFloat(v, 'g', -1, 64)}
		if math.IsInf(v, 1) {
			tick = plot.Tick{Label: "∞"}
			if i > 0 {
				tick.Value = ticks[i-1].Value + 0.4
			}
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// spaced drops labels that would touch the one before.
func spaced(ticks []plot.Tick) []plot.Tick {
	out := slices.Clone(ticks)
	room := (out[len(out)-1].Value - out[0].Value) / 16
	last := math.Inf(-1)
	for i := range out {
		if out[i].Value-last < room {
			out[i].Label = ""
			continue
		}
		last = out[i].Value
	}
	return out
}

// sweepCurve is A over the axis, the values that stand there, and the number of runs with each.
func sweepCurve(runs []*results.Run, at map[*results.Run]float64, axis []plot.Tick) (c curve, values []float64, counts []int) {
	scores, valueOf := map[string][]float64{}, map[string]float64{}
	for _, r := range runs {
		label := sweepAxis([]float64{at[r]})[0].Label
		scores[label], valueOf[label] = append(scores[label], r.A), at[r]
	}
	for _, tick := range axis {
		if as := scores[tick.Label]; as != nil {
			mean, std := meanStd(as)
			c.add(tick.Value, mean, std)
			values, counts = append(values, valueOf[tick.Label]), append(counts, len(as))
		}
	}
	return c, values, counts
}
