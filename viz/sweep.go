package viz

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// MemorySize draws the final average accuracy A against the number of stored samples (the paper's
// Fig. 5), one line a method with a band of one standard deviation over its runs, and one panel for
// each data set and increment. The budget is that of the run's configuration.
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
	f, err := sweep(t, runs, value)
	if err != nil {
		return nil, err
	}
	f.labelX(label)
	f.Alt = "Final average accuracy against the number of stored samples."
	return f, nil
}

// Temperature draws the final average accuracy A against the softmax temperature τ of the elastic
// factors (the paper's Fig. 8), as [MemorySize] does against the budget. Runs without a fixed
// temperature, of other methods or with tau=auto, give a level line for comparison.
func Temperature(t *Theme, runs ...*results.Run) (*Figure, error) {
	f, err := sweep(t, runs, temperatureOf)
	if err != nil {
		return nil, err
	}
	f.labelX("softmax temperature τ")
	f.Alt = "Final average accuracy against the softmax temperature of the elastic factors."
	return f, nil
}

func temperatureOf(r *results.Run) (tau float64, ok bool, err error) {
	switch v := r.Params["tau"].(type) {
	case nil:
		if strings.HasPrefix(r.Method, "emgd-") {
			return emgd.DefaultTau, true, nil
		}
		return 0, false, nil
	case float64:
		tau = v
	case int:
		tau = float64(v)
	case string:
		if v == "auto" {
			return 0, false, nil
		}
		if tau, err = strconv.ParseFloat(v, 64); err != nil {
			return 0, false, fmt.Errorf("viz: run %s: tau %q is no number", r.ID, v)
		}
	default:
		return 0, false, fmt.Errorf("viz: run %s: tau %v is no number", r.ID, v)
	}
	if !(tau > 0) {
		return 0, false, fmt.Errorf("viz: run %s: tau is %v; want a number above 0", r.ID, r.Params["tau"])
	}
	return tau, true, nil
}

// labelX writes under the plots of the last row.
func (f *Figure) labelX(label string) {
	for _, p := range f.Rows[len(f.Rows)-1] {
		p.X.Label.Text = label
	}
}

// sweep draws A against a value of the runs on a logarithmic axis; runs without it as levels.
func sweep(t *Theme, runs []*results.Run, value func(*results.Run) (float64, bool, error)) (*Figure, error) {
	parts, err := settings(runs)
	if err != nil {
		return nil, err
	}
	var plots []*plot.Plot
	var all []Group
	for _, part := range parts {
		p := t.newPlot("", "final accuracy A, %")
		p.Title.Text = part.title
		p.Add(t.horizontals())
		groups, err := addSweep(t, p, part.runs, value)
		if err != nil {
			return nil, err
		}
		all = append(all, groups...)
		plots = append(plots, p)
	}
	f := newFigure(t, 0, "", panels(plots)...)
	f.Height = 230 * rowsOf(f)
	f.key = keyOf(t, all)
	return f, nil
}

func addSweep(t *Theme, p *plot.Plot, runs []*results.Run, value func(*results.Run) (float64, bool, error)) ([]Group, error) {
	at := map[*results.Run]float64{}
	var swept, level []*results.Run
	var values []float64
	for _, r := range runs {
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
		delete(plain.Params, "tau")
		at[&plain] = v
		swept = append(swept, &plain)
		values = append(values, v)
	}
	slices.Sort(values)
	axis := sweepAxis(slices.Compact(values))
	if len(axis) < 2 {
		return nil, fmt.Errorf("viz: the runs on %s have %d values to draw A against; want at least two", runs[0].Dataset, len(axis))
	}
	groups, err := Groups(swept)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if err := addCurve(t, p, g, sweepCurve(g.Runs, at, axis)); err != nil {
			return nil, err
		}
	}
	if len(level) > 0 {
		others, err := Groups(level)
		if err != nil {
			return nil, err
		}
		for _, g := range others {
			if err := addLevel(t, p, g, axis); err != nil {
				return nil, err
			}
		}
		groups = append(groups, others...)
	}
	first, last := axis[0].Value, axis[len(axis)-1].Value
	pad := 0.03 * (last - first)
	p.X.Min, p.X.Max = first-pad, last+pad
	p.X.Tick.Marker = plot.ConstantTicks(spaced(axis))
	return groups, nil
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

func sweepCurve(runs []*results.Run, at map[*results.Run]float64, axis []plot.Tick) curve {
	scores := map[string][]float64{}
	for _, r := range runs {
		label := sweepAxis([]float64{at[r]})[0].Label
		scores[label] = append(scores[label], r.A)
	}
	var c curve
	for _, tick := range axis {
		if as := scores[tick.Label]; as != nil {
			mean, std := meanStd(as)
			c.add(tick.Value, mean, std)
		}
	}
	return c
}

// addLevel draws the mean of runs that have no place on the axis over all of it.
func addLevel(t *Theme, p *plot.Plot, g Group, axis []plot.Tick) error {
	var as []float64
	for _, r := range g.Runs {
		as = append(as, r.A)
	}
	mean, _ := meanStd(as)
	line, err := plotter.NewLine(plotter.XYs{{X: axis[0].Value, Y: mean}, {X: axis[len(axis)-1].Value, Y: mean}})
	if err != nil {
		return err
	}
	line.LineStyle = t.Method(g.look).line(1)
	p.Add(line)
	return nil
}
