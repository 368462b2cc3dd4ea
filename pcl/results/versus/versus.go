// Package versus compares methods with a reference over situations, and says in sentences what that shows: what `pcl compare`
// prints, and `pcl report` of a user's own runs ([rows.Of]) and grids. The statistics are those of [stats.Contrasts].
package versus

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Table compares the methods of a data set and an increment.
type Table struct {
	Dataset   string   `json:"dataset"`
	Increment string   `json:"increment"`
	Reference string   `json:"reference"`
	Lines     []Line   `json:"methods"` // the reference first
	Verdict   string   `json:"verdict"`
	More      string   `json:"more_runs,omitempty"` // what more situations would show
	Notes     []string `json:"notes,omitempty"`
}

// Line is a method. A and the difference are means over situations, of which each is the mean over its seeds.
type Line struct {
	Method     string   `json:"method"`
	A          float64  `json:"A"`
	Situations int      `json:"situations"`
	Runs       int      `json:"runs"`
	Diverged   int      `json:"diverged,omitempty"`
	Cost       float64  `json:"step_cost,omitempty"` // median time of a step, relative to the reference
	Against    *Against `json:"against_reference,omitempty"`
}

// Against is what the situations that a method shares with the reference show about their difference. What too few of them
// do not show is nil.
type Against struct {
	Situations int         `json:"situations"`
	Difference float64     `json:"difference"`
	Interval   *[2]float64 `json:"interval95"`
	P          *float64    `json:"p"`
	Holm       *float64    `json:"p_holm"`
	Differs    bool        `json:"differs"`

	contrast stats.Contrast
}

// Of makes tables of the rows with results, one for each data set and increment with at least two methods; their order is that of
// the rows. An empty reference, or one that a table lacks, stands for the first method.
func Of(all []*rows.Row, reference string) []*Table {
	out := []*Table{} // not null in JSON
	type place struct{ dataset, increment string }
	var order []place
	by := map[place][]*rows.Row{}
	for _, r := range all {
		at := place{r.Dataset, r.Increment}
		if r.State != rows.Done {
			continue
		}
		if by[at] == nil {
			order = append(order, at)
		}
		by[at] = append(by[at], r)
	}
	for _, at := range order {
		var methods []string
		for _, r := range by[at] {
			if !slices.Contains(methods, r.Line()) {
				methods = append(methods, r.Line())
			}
		}
		if i := slices.Index(methods, reference); i > 0 {
			methods = slices.Insert(slices.Delete(methods, i, i+1), 0, reference)
		}
		if len(methods) < 2 {
			continue
		}
		t := &Table{Dataset: at.dataset, Increment: at.increment, Reference: methods[0]}
		t.fill(by[at], methods)
		out = append(out, t)
	}
	return out
}

// Preferred chooses with which method of rows the others are compared, unless somebody says so: emgd, by as short a name as there
// is, else emgd-gmc, else one of their kin, else none.
func Preferred(all []*rows.Row) string {
	order := []string{"emgd", "emgd-gmc"}
	of := map[string]int{} // the lower the better
	for _, r := range all {
		switch i := slices.Index(order, r.RunMethod); {
		case i >= 0:
			of[r.Line()] = i
		case strings.HasPrefix(r.RunMethod, "emgd-"):
			of[r.Line()] = len(order)
		}
	}
	lines := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[a], of[b]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return append(lines, "")[0]
}

func (t *Table) fill(made []*rows.Row, methods []string) {
	all, seen := make([][]*rows.Row, len(methods)), map[run]bool{}
	for _, r := range made {
		i, at := slices.Index(methods, r.Line()), runOf(r)
		at.method = i
		if !seen[at] { // a run that is named twice counts once
			seen[at], all[i] = true, append(all[i], r)
		}
	}
	t.Lines = make([]Line, len(methods))
	var pairs [][]stats.Situation
	var tested []*Line
	reference := scores(all[0])
	for i, own := range all {
		l := &t.Lines[i]
		l.Method, l.Runs, l.Cost = methods[i], len(own), cost(own, all[0])
		for _, r := range own {
			if r.Diverged != "" {
				l.Diverged++
			}
		}
		means := stats.Situations(scores(own))
		l.Situations = len(means)
		for _, s := range means {
			l.A += s.Means[0] / float64(len(means))
		}
		if shared := stats.Situations(scores(own), reference); i > 0 && len(shared) > 0 {
			pairs, tested = append(pairs, shared), append(tested, l)
		}
	}
	for i, c := range stats.Contrasts(pairs...) {
		tested[i].Against = against(c)
	}
	t.say()
}

// run is the place of a run in a table.
type run struct {
	method                   int
	labelSet, timeline, seed uint64
}

// runOf leaves the method out.
func runOf(r *rows.Row) run { return run{labelSet: r.LabelSet, timeline: r.Timeline, seed: r.Seed} }

func scores(all []*rows.Row) (out []stats.Score) {
	for _, r := range all {
		out = append(out, stats.Score{LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed, Value: r.A})
	}
	return out
}

// cost is the median time of a step relative to the same runs of the reference; 0 if it is not known. Of runs that are made side
// by side some are slowed down, which a mean would show.
func cost(own, reference []*rows.Row) float64 {
	millis := map[run]float64{}
	for _, r := range reference {
		millis[runOf(r)] = r.StepMillis
	}
	var ratios []float64
	for _, r := range own {
		if other := millis[runOf(r)]; other > 0 && r.StepMillis > 0 {
			ratios = append(ratios, r.StepMillis/other)
		}
	}
	if slices.Sort(ratios); len(ratios) == 0 {
		return 0
	}
	return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
}

func against(c stats.Contrast) *Against {
	a := &Against{Situations: c.Pairs, Difference: c.Difference, P: known(c.P), Holm: known(c.Adjusted), Differs: c.Differs, contrast: c}
	if !math.IsNaN(c.Low) {
		a.Interval = &[2]float64{c.Low, c.High}
	}
	return a
}

func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}
