package viz

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// sweep is a figure of the final average accuracy A against a value of the runs on a logarithmic
// axis: a line for each method, and a panel for each data set and increment. Runs without the value
// are level lines.
type sweep struct {
	label   string                              // of the axis
	setting string                              // that runs of one line may differ in
	params  func(*results.Run) string           // the parameters, in which they may not
	value   func(*results.Run) (float64, error) // NaN for a level
}

// MemorySize draws the final average accuracy A against the number of stored samples (the paper's
// Fig. 5), for each data set and increment. It must show how much each method gains from more
// memory, and where more no longer helps. The number of samples is the budget in the run's
// configuration; the spread is one standard deviation over the runs.
func MemorySize(runs ...*results.Run) (*Figure, error) {
	s := sweep{label: "stored samples", setting: "memory.budget", params: (*results.Run).ParamText}
	policy := ""
	for i, r := range runs {
		own := r.Settings()["memory.policy"]
		if i > 0 && own != policy {
			return nil, fmt.Errorf("viz: run %s has memory policy %s and others have %s: draw them in two figures", r.ID,
				own, policy)
		}
		policy = own
	}
	if policy == "per_class" {
		s.label = "stored samples per class"
	}
	s.value = func(r *results.Run) (float64, error) {
		budget, err := strconv.ParseFloat(r.Settings()["memory.budget"], 64)
		if err != nil || !(budget > 0) {
			return 0, fmt.Errorf("viz: run %s: its configuration names no memory budget above 0", r.ID)
		}
		return budget, nil
	}
	f := Figure{Name: "memory-size", Alt: "Final average accuracy against the number of stored samples."}
	f.Data.Head = []string{"setting", "method", "stored_samples", "accuracy_percent", "std_percent", "runs"}
	return s.draw(f, runs)
}

// Temperature draws the final average accuracy A against the softmax temperature τ of the elastic
// factors (the paper's Fig. 8), for each data set and increment. It must show which temperatures
// are good, how wide the good range is, and whether all of it lies above the other methods. Runs
// without a fixed temperature (other methods, or tau=auto) are level lines.
func Temperature(runs ...*results.Run) (*Figure, error) {
	s := sweep{label: "softmax temperature τ", value: temperatureOf, params: func(r *results.Run) string {
		plain := *r
		if tau, _ := temperatureOf(r); !math.IsNaN(tau) {
			plain.Params = maps.Clone(r.Params)
			delete(plain.Params, tauKey(r))
		}
		return plain.ParamText()
	}}
	f := Figure{Name: "temperature", Alt: "Final average accuracy against the softmax temperature of the elastic factors."}
	f.Data.Head = []string{"setting", "method", "tau", "accuracy_percent", "std_percent", "runs"}
	return s.draw(f, runs)
}

func (s *sweep) draw(f Figure, runs []*results.Run) (*Figure, error) {
	at := map[*results.Run]float64{}
	for _, r := range runs {
		v, err := s.value(r)
		if err != nil {
			return nil, err
		}
		at[r] = v
	}
	level := func(r *results.Run) bool { return math.IsNaN(at[r]) }
	swept := slices.DeleteFunc(slices.Clone(runs), level) // first, as a method's own look is that of its line
	parts, err := compare(append(swept, slices.DeleteFunc(slices.Clone(runs), func(r *results.Run) bool {
		return !level(r)
	})...), s.params, s.setting)
	if err != nil {
		return nil, err
	}
	var plots []*Plot
	for _, part := range parts {
		values := valuesOn(part.runs, at)
		if len(values) < 2 {
			return nil, fmt.Errorf("viz: the runs on %s have %d values to draw A against; want at least two",
				part.runs[0].Dataset, len(values))
		}
		if !slices.ContainsFunc(part.groups, func(g repetitions) bool { return len(valuesOn(g.Runs, at)) > 1 }) {
			return nil, fmt.Errorf("viz: no method on %s has two values to draw A against", part.runs[0].Dataset)
		}
		p := NewPlot(part.title, s.label, "final accuracy A, %")
		addSweep(p, part, values, at, &f.Data)
		plots = append(plots, p)
	}
	rows := Rows(plots...)
	f.Height = 230 * vg.Length(len(rows))
	return NewFigure(f, rows...)
}

// valuesOn returns the values of runs that stand on the axis, sorted.
func valuesOn(runs []*results.Run, at map[*results.Run]float64) (values []float64) {
	for _, r := range runs {
		if v := at[r]; !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// addSweep adds the groups of a setting, of which the runs have values.
func addSweep(p *Plot, part setting, values []float64, at map[*results.Run]float64, data *Table) {
	axis := sweepAxis(values)
	first, end := axis[0].Value, last(axis).Value
	lines := slices.DeleteFunc(slices.Clone(part.groups), func(g repetitions) bool { return math.IsNaN(at[g.Runs[0]]) })
	for _, g := range part.groups {
		var c curve
		if math.IsNaN(at[g.Runs[0]]) {
			c.add(first, finals(g.Runs)...)
			c.add(end, finals(g.Runs)...)
			data.Add(part.title, g.Label, nil, c[0].mean, c[0].std, len(g.Runs))
			g.Style.Marker = nil
			p.Add(c.drawn(g.Label, g.Style, spreadFor(len(g.Runs), 1)))
			continue
		}
		most := 0
		for i, v := range values {
			same := slices.DeleteFunc(slices.Clone(g.Runs), func(r *results.Run) bool { return at[r] != v })
			if len(same) == 0 {
				continue
			}
			c.add(axis[i].Value, finals(same)...)
			data.Add(part.title, g.Label, v, last(c).mean, last(c).std, len(same))
			most = max(most, len(same))
		}
		p.Add(c.drawn(g.Label, g.Style, spreadFor(most, len(lines))))
	}
	pad := 0.03 * (end - first)
	p.X.Min, p.X.Max = first-pad, end+pad
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
	"emgd-gmc": 5, "emgd-gs": 5, "emgd-log": 1, "emgd": 1.5,
}

// tauKey is the parameter that has a run's temperature. In a composition the rule, which is its
// first part, may be named with it.
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

// temperatureOf returns a run's fixed temperature, NaN if it has none.
func temperatureOf(r *results.Run) (float64, error) {
	normal, known := defaultTau[ruleOf(r)]
	given := r.Params[tauKey(r)]
	switch {
	case !known || given == "auto": // the tau of another rule, if it has one, is not a temperature
		return math.NaN(), nil
	case given == nil:
		return normal, nil
	}
	tau, err := strconv.ParseFloat(fmt.Sprint(given), 64)
	if err != nil || !(tau > 0) {
		return 0, fmt.Errorf("viz: run %s: tau is %v; want a number above 0", r.ID, given)
	}
	return tau, nil
}
