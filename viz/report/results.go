package report

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

type runPtr = *results.Run

// resultTable is what each method reached.
type resultTable struct {
	Rows     []resultRow
	Chance   string // %, guessing at the end
	Repeated bool   // some method has several runs
}

type resultRow struct {
	Method, Label    string
	Runs, Situations int
	A, F, AFirst     value
	Speed            value // steps/s
	Steps, Millis    value // ms a step
	Params           string
	Diverged         string       // how many of the runs did; empty: none
	Swatch           template.CSS // as in figures of the table's runs
}

// value is a number of a table: as it is shown, with the standard deviation over runs where there are several, and as it is
// sorted by.
type value struct {
	Text  string
	Value float64
}

var dash = value{"–", math.NaN()}

func (n value) known() bool { return !math.IsNaN(n.Value) }

func rounded(x float64, digits int) value {
	if math.IsNaN(x) {
		return dash
	}
	round := math.Pow10(digits)
	return value{strings.Replace(fmt.Sprintf("%.*f", digits, math.Round(x*round)/round+0), "-", "−", 1), x}
}

// overRuns is the mean of values, with their standard deviation if there are several.
func overRuns(digits int, values ...float64) value {
	if len(values) == 0 {
		return dash
	}
	m := results.MomentOf(values...)
	n := rounded(m.Mean, digits)
	if len(values) > 1 && n.known() {
		n.Text += fmt.Sprintf(" ±\u00a0%.*f", digits, m.Std())
	}
	return n
}

func newResultTable(groups []viz.Group) *resultTable {
	t := &resultTable{}
	var chance []float64
	styles := viz.Styles(groups)
	for i, g := range groups {
		row := newResultRow(g)
		row.Swatch = template.CSS("background:" + styles[i].CSS())
		t.Repeated = t.Repeated || row.Runs > 1
		t.Rows = append(t.Rows, row)
		for _, r := range g.Runs {
			chance = append(chance, viz.Chance(r, r.Span()))
		}
	}
	t.Chance = fmt.Sprintf("%.1f", results.MomentOf(chance...).Mean)
	return t
}

func newResultRow(g viz.Group) resultRow {
	row := resultRow{Method: g.Method, Label: g.Label, Runs: len(g.Runs)}
	of := func(digits int, value func(runPtr) float64) value {
		var xs []float64
		for _, r := range g.Runs {
			xs = append(xs, value(r))
		}
		return overRuns(digits, xs...)
	}
	row.A = of(2, func(r runPtr) float64 { return r.A })
	row.F = of(2, func(r runPtr) float64 { return r.F })
	row.AFirst = of(2, func(r runPtr) float64 { return r.AFirst })
	row.Speed = of(1, speed)
	row.Speed.Text, _, _ = strings.Cut(row.Speed.Text, " ")
	row.Steps = of(0, func(r runPtr) float64 { return float64(r.Steps) })
	row.Steps.Text = strings.TrimSuffix(row.Steps.Text, " ±\u00a00")
	row.Millis = of(2, func(r runPtr) float64 { return 1000 / speed(r) })
	situations := map[situation]bool{}
	for _, r := range g.Runs {
		situations[situationOf(r)] = true
	}
	row.Situations = len(situations)
	if n := (results.RunGroup{Runs: g.Runs}).Diverged(); n > 0 {
		row.Diverged = fmt.Sprintf("%d diverged", n)
	}
	if r := g.Runs[0]; !strings.Contains(g.Label, r.ParamText()) { // else the label has them
		row.Params = paramText(r.Params)
	}
	return row
}

// speed is in steps a second, updates only.
func speed(r runPtr) float64 {
	switch {
	case r.Measured.StepMillis > 0:
		return 1000 / r.Measured.StepMillis
	case r.Measured.TrainSeconds > 0:
		return float64(r.Steps) / r.Measured.TrainSeconds
	}
	return math.NaN()
}

func paramText(params map[string]any) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(params)) {
		parts = append(parts, fmt.Sprintf("%s = %v", k, params[k]))
	}
	return strings.Join(parts, ", ")
}

// best says which method ended highest and which forgot least.
func (t *resultTable) best() string {
	if len(t.Rows) < 2 {
		return ""
	}
	byA := slices.Clone(t.Rows)
	slices.SortStableFunc(byA, func(a, b resultRow) int { return cmp.Compare(b.A.Value, a.A.Value) })
	byF := slices.MaxFunc(t.Rows, func(a, b resultRow) int { return cmp.Compare(a.F.Value, b.F.Value) })
	s := fmt.Sprintf("%s ends highest, %.1f points above %s; ", byA[0].Label, byA[0].A.Value-byA[1].A.Value, byA[1].Label)
	if byF.Label == byA[0].Label {
		s += "it also has the highest F"
	} else {
		s += byF.Label + " has the highest F"
	}
	if !t.Repeated {
		s += ". One run each: differences of a few points may be chance"
	}
	return s + "."
}
