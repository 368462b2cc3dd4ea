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

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// MemorySize draws the final average accuracy A against the number of stored samples (the paper's Fig. 5):
// how much each method gains from more memory, and from where on more no longer helps. There is one line per
// method, with a band of one standard deviation over its runs, and one panel for each data set and increment.
// The budget is that of the run's configuration.
func MemorySize(runs ...*results.Run) (*Figure, error) {
	label, policy := "stored samples", ""
	budget := func(r *results.Run) (float64, bool, error) {
		var c struct {
			Memory struct {
				Policy string
				Budget float64
			}
		}
		if err := json.Unmarshal(r.Config, &c); err != nil || !(c.Memory.Budget > 0) {
			return 0, false, fmt.Errorf("viz: run %s: its configuration names no memory budget above 0", r.ID)
		}
		if policy != "" && c.Memory.Policy != policy {
			return 0, false, fmt.Errorf("viz: run %s has memory policy %s and others have %s: draw them in two figures", r.ID, c.Memory.Policy, policy)
		}
		if policy = c.Memory.Policy; policy == "per_class" {
			label = "stored samples per class"
		}
		return c.Memory.Budget, true, nil
	}
	return sweep(runs, "memory.budget", budget, &label, "stored_samples", layout{name: "memory-size",
		alt: "Final average accuracy against the number of stored samples."})
}

// Temperature draws the final average accuracy A against the softmax temperature τ of the elastic factors
// (the paper's Fig. 8), as [MemorySize] does against the budget: which temperatures are good, how wide the
// good range is, and whether all of it lies above the methods that have no temperature. Runs without a fixed
// temperature (of other methods, or with tau=auto) are drawn as a level line for comparison.
func Temperature(runs ...*results.Run) (*Figure, error) {
	label := "softmax temperature τ"
	return sweep(runs, "params.tau", temperatureOf, &label, "tau", layout{name: "temperature",
		alt: "Final average accuracy against the softmax temperature of the elastic factors."})
}

// sweepPanel is the runs of one setting: those with a place on the axis, and those without, levels.
type sweepPanel struct {
	title        string
	swept, level []Group
	at           map[*results.Run]float64
	values       []float64 // that stand on the axis, sorted
}

// sweep draws A against a value of the runs, that of the named setting, on a logarithmic axis; runs without it as levels.
// The values may decide the axis's label.
func sweep(runs []*results.Run, axis string, value func(*results.Run) (float64, bool, error), label *string, column string, l layout) (*Figure, error) {
	parts, err := settings(runs)
	if err != nil {
		return nil, err
	}
	panels := make([]*sweepPanel, len(parts))
	var groups [][]Group
	for i, part := range parts {
		if panels[i], err = newSweepPanel(part, axis, value); err != nil {
			return nil, err
		}
		groups = append(groups, panels[i].swept, panels[i].level)
	}
	dress(groups...)
	l.row, l.data.Head = 230, []string{"setting", "method", column, "accuracy_percent", "std_percent", "runs"}
	var plots []*Plot
	for _, s := range panels {
		p := NewPlot(s.title, *label, "final accuracy A, %")
		s.draw(p, &l.data)
		plots = append(plots, p)
	}
	return figureOf(l, inRows(plots)...)
}

func newSweepPanel(part setting, axis string, value func(*results.Run) (float64, bool, error)) (*sweepPanel, error) {
	s := &sweepPanel{title: part.title, at: map[*results.Run]float64{}}
	var swept, level []*results.Run
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
		if axis == "params.tau" {
			plain.Params = maps.Clone(r.Params)
			if delete(plain.Params, tauKey(r)); len(plain.Params) == 0 {
				plain.Params = nil // as in runs without parameters
			}
		}
		s.at[&plain] = v
		swept = append(swept, &plain)
	}
	s.values = slices.Compact(slices.Sorted(maps.Values(s.at)))
	if len(s.values) < 2 {
		return nil, fmt.Errorf("viz: the runs on %s have %d values to draw A against; want at least two", part.runs[0].Dataset, len(s.values))
	}
	var err error
	if s.swept, err = groupsBut(swept, axis); err == nil && len(level) > 0 {
		s.level, err = Groups(level)
	}
	for i, l := range s.level {
		if slices.ContainsFunc(s.swept, func(g Group) bool { return g.Label == l.Label }) { // such as one with tau=auto
			s.level[i].Label += " " + l.Runs[0].ParamText()
		}
	}
	return s, err
}

func (s *sweepPanel) draw(p *Plot, data *Table) {
	axis := sweepAxis(s.values)
	for _, g := range s.swept {
		var c curve
		most := 0
		for i, v := range s.values {
			var as []float64
			for _, r := range g.Runs {
				if s.at[r] == v {
					as = append(as, r.A)
				}
			}
			if as != nil {
				mean, std := meanStd(as)
				c.add(axis[i].Value, mean, std)
				data.add(s.title, g.Label, v, mean, std, len(as))
				most = max(most, len(as))
			}
		}
		p.curve(g.Label, g.Style, c, spreadFor(most, len(s.swept)))
	}
	first, last := axis[0].Value, axis[len(axis)-1].Value
	for _, g := range s.level {
		mean, std := meanStd(finals(g.Runs))
		data.add(s.title, g.Label, nil, mean, std, len(g.Runs))
		g.Style.Marker = nil
		p.curve(g.Label, g.Style, curve{[]float64{first, last}, []float64{mean, mean}, []float64{std, std}}, spreadFor(len(g.Runs), 1))
	}
	pad := 0.03 * (last - first)
	p.X.Min, p.X.Max = first-pad, last+pad
	p.X.Tick.Marker = plot.ConstantTicks(spaced(axis))
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
	room, last := (ticks[len(ticks)-1].Value-ticks[0].Value)/16, math.Inf(-1)
	for i := range ticks {
		if ticks[i].Value-last < room {
			ticks[i].Label = ""
		} else {
			last = ticks[i].Value
		}
	}
	return ticks
}

// defaultTau are the temperatures that the methods have when none is given, as pcl/method says.
var defaultTau = map[string]float64{
	"emgd-gmc": emgd.DefaultTau, "emgd-gs": emgd.DefaultTau, "emgd-log": emgd.DefaultLogTau, "emgd": 1.5,
}

// tauKey is the parameter that has a run's temperature. In a composition the rule, which is its first part, may be named
// with it.
func tauKey(r *results.Run) string {
	if long := ruleOf(r) + ".tau"; r.Params[long] != nil {
		return long
	}
	return "tau"
}

// ruleOf is the rule of a run's method: in "emgd-log+der-pp" the rule is emgd-log.
func ruleOf(r *results.Run) string {
	rule, _, _ := strings.Cut(r.Method, "+")
	return rule
}

// temperatureOf returns a run's fixed temperature; ok says whether it has one.
func temperatureOf(r *results.Run) (tau float64, ok bool, err error) {
	normal, known := defaultTau[ruleOf(r)]
	given := r.Params[tauKey(r)]
	switch {
	case !known || given == "auto": // the tau of another rule, if it has one, is not a temperature
		return 0, false, nil
	case given == nil:
		return normal, true, nil
	}
	if tau, err = strconv.ParseFloat(fmt.Sprint(given), 64); err != nil || !(tau > 0) {
		return 0, false, fmt.Errorf("viz: run %s: tau is %v; want a number above 0", r.ID, given)
	}
	return tau, true, nil
}
