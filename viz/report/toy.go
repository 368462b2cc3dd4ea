package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/viz"
)

// toySection shows the descents on the two synthetic functions.
type toySection struct {
	Descent, Losses template.HTML
	Steps, Arrival  int
	Rows            []toyRow
	Note            string
}

type toyRow struct {
	Label  string
	Ends   [4]string // x, y, f₁, f₂ reached
	Known  [4]string // the same as known; empty where nothing is known
	Differ string    // the largest difference
	OK     bool
}

// known holds x, y, f₁ and f₂ after 1,500 steps of 2·10⁻⁵ from (3, 3) with the second function from
// step 500 on, for methods with their default parameters: docs/protocol.md §5.1, computed independently of this library and given
// with four decimals.
var known = map[string][4]float64{
	"avggrad":  {2.9710, 3.0834, 2.2995, 4.1868},
	"sum":      {2.9559, 3.0825, 2.2906, 4.1727},
	"mgda":     {2.9731, 3.0905, 2.2864, 4.2184},
	"emgd-gs":  {2.9611, 3.0899, 2.2791, 4.2078},
	"emgd-gmc": {2.9519, 3.0873, 2.2747, 4.1906},
}

// knownTolerance allows for the fourth decimal's rounding.
const knownTolerance = 1.5e-4

func newToySection(traces []viz.Trace) (*toySection, error) {
	if len(traces) == 0 {
		return nil, nil
	}
	s := &toySection{Arrival: traces[0].Arrival, Steps: len(traces[0].X) - 1}
	var err error
	s.Descent, err = picture(viz.ToyDescent(traces...))
	if err != nil {
		return nil, err
	}
	s.Losses, err = picture(viz.ToyLosses(traces...))
	if err != nil {
		return nil, err
	}
	for _, tr := range traces {
		s.Rows = append(s.Rows, newToyRow(tr))
	}
	s.Note = toyNote(traces)
	return s, nil
}

func newToyRow(tr viz.Trace) toyRow {
	n := len(tr.X) - 1
	row := toyRow{Label: cmp.Or(tr.Label, tr.Method)}
	ends := [4]float64{tr.X[n], tr.Y[n], tr.F1[n], tr.F2[n]}
	want, ok := known[tr.Method]
	ok = ok && n == 1500 && tr.LR == 2e-5 && tr.Arrival == 500 && tr.X[0] == 3 && tr.Y[0] == 3
	worst := 0.0
	for i, v := range ends {
		row.Ends[i] = fmt.Sprintf("%.4f", v)
		if ok {
			row.Known[i] = fmt.Sprintf("%.4f", want[i])
			worst = math.Max(worst, math.Abs(v-want[i]))
		}
	}
	if ok {
		row.Differ = fmt.Sprintf("%.1e", worst)
		row.OK = worst <= knownTolerance
	}
	return row
}

// toyNote says which methods raise f₁ after the arrival, from the traces themselves.
func toyNote(traces []viz.Trace) string {
	var raise, keep []string
	most, longer := 0.0, false
	for _, tr := range traces {
		label := cmp.Or(tr.Label, tr.Method)
		longer = longer || strings.HasPrefix(tr.Method, "emgd")
		rise := slices.Max(tr.F1[tr.Arrival:]) - tr.F1[tr.Arrival]
		if rise <= 1e-4 {
			keep = append(keep, label)
			continue
		}
		raise = append(raise, label)
		most = max(most, rise)
	}
	note := "Look at f₁ after the arrival of task 2, whose gradient is the larger one: a rise is forgetting."
	if len(raise) > 0 {
		note += fmt.Sprintf(" It rises, by up to %.4f, with %s", most, strings.Join(raise, ", "))
		if len(keep) > 0 {
			note += "; it does not with " + strings.Join(keep, ", ")
		}
		note += "."
	}
	if longer {
		note += " The weights of EMGD and Sum add up to about 2, those of AvgGrad and MGDA to 1: part of how far they get is the longer step."
	}
	return note
}
