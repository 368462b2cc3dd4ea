package report

import (
	"cmp"
	"fmt"
	"image/color"
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
	Index         int
	Method, Label string
	Runs          int
	A, F, AFirst  measure
	Speed         measure // steps/s
	Steps, Millis measure // ms a step
	Params        string
	Diverged      string // how many of the runs did; empty: none

	light, dark color.NRGBA // as in figures of the table's runs
}

// measure is a mean with its standard deviation over runs.
type measure struct {
	Mean, Std float64
	Digits    int
	Many      bool
}

func (m measure) String() string {
	if math.IsNaN(m.Mean) {
		return "–"
	}
	round := math.Pow10(m.Digits)
	s := strings.Replace(fmt.Sprintf("%.*f", m.Digits, math.Round(m.Mean*round)/round+0), "-", "−", 1)
	if m.Many {
		s += fmt.Sprintf(" ±\u00a0%.*f", m.Digits, m.Std)
	}
	return s
}

// Sort is the value a table is sorted by.
func (m measure) Sort() string { return fmt.Sprintf("%g", m.Mean) }

func newResultTable(runs []runPtr) (*resultTable, error) {
	groups, err := viz.Groups(runs)
	if err != nil {
		return nil, err
	}
	t := &resultTable{}
	light, dark := viz.Light.Groups(groups), viz.Dark.Groups(groups)
	for i, g := range groups {
		row := newResultRow(g)
		row.Index, row.light, row.dark = i, light[i].Color, dark[i].Color
		t.Repeated = t.Repeated || row.Runs > 1
		t.Rows = append(t.Rows, row)
	}
	var chance []float64
	for _, r := range runs {
		chance = append(chance, viz.Chance(r, r.Span()))
	}
	t.Chance = fmt.Sprintf("%.1f", results.MomentOf(chance...).Mean)
	return t, nil
}

func newResultRow(g viz.Group) resultRow {
	row := resultRow{Method: g.Method, Label: g.Label, Runs: len(g.Runs)}
	of := func(digits int, value func(runPtr) float64) measure {
		var xs []float64
		for _, r := range g.Runs {
			xs = append(xs, value(r))
		}
		m := results.MomentOf(xs...)
		return measure{m.Mean, m.Std(), digits, len(g.Runs) > 1}
	}
	row.A = of(2, func(r runPtr) float64 { return r.A })
	row.F = of(2, func(r runPtr) float64 { return r.F })
	row.AFirst = of(2, func(r runPtr) float64 { return r.AFirst })
	row.Speed = of(1, speed)
	row.Speed.Many = false
	row.Steps = of(0, func(r runPtr) float64 { return float64(r.Steps) })
	row.Steps.Many = row.Steps.Std > 0
	row.Millis = of(2, func(r runPtr) float64 { return 1000 / speed(r) })
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
	keys := make([]string, 0, len(params))
	for k := range params {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var parts []string
	for _, k := range keys {
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
	slices.SortStableFunc(byA, func(a, b resultRow) int { return cmp.Compare(b.A.Mean, a.A.Mean) })
	byF := slices.MaxFunc(t.Rows, func(a, b resultRow) int { return cmp.Compare(a.F.Mean, b.F.Mean) })
	s := fmt.Sprintf("%s ends highest, %.1f points above %s; ", byA[0].Label, byA[0].A.Mean-byA[1].A.Mean, byA[1].Label)
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
