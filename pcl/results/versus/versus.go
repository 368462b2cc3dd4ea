// Package versus compares methods with a reference over situations, and says in sentences what that
// shows: what `pcl compare` prints, and `pcl report` of a user's own runs and grids. The statistics
// are those of [stats.Contrasts].
package versus

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Table compares the methods of a data set and an increment.
type Table struct {
	Dataset   string   `json:"dataset"`
	Increment string   `json:"increment"`
	Reference string   `json:"reference"`
	Lines     []Line   `json:"methods"`          // the reference first
	Bounds    []*Bound `json:"bounds,omitempty"` // rows that no test is about
	Verdict   string   `json:"verdict"`
	More      string   `json:"more_runs,omitempty"` // what more situations would show
	Notes     []string `json:"notes,omitempty"`
	Next      string   `json:"next_step,omitempty"` // what is likely to gain most; see [Table.Advise]

	best       string // the method with the highest A
	onFeatures bool   // whether its runs had features in place of pixels
}

// Line is a method. A and the difference are means over situations, of which each is the mean over
// its seeds.
type Line struct {
	Method     string  `json:"method"`
	A          float64 `json:"A"`
	Situations int     `json:"situations"`
	Runs       int     `json:"runs"`
	Diverged   int     `json:"diverged,omitempty"`
	Cost       float64 `json:"step_cost,omitempty"` // median time of a step, relative to the reference
	Bytes
	Against *Against `json:"against_reference,omitempty"`
}

// Against is what the situations that a method shares with the reference show about their
// difference. A statistic is nil if there are too few situations.
type Against struct {
	Situations int         `json:"situations"`
	Repeated   int         `json:"repeated,omitempty"` // further situations that repeat these ([rows.Distinct])
	Difference float64     `json:"difference"`
	Interval   *[2]float64 `json:"interval95"`
	P          *float64    `json:"p"`
	Holm       *float64    `json:"p_holm"`
	Differs    bool        `json:"differs"`

	contrast stats.Contrast
}

// Of makes a table of each column with results of at least two methods. An empty reference, or one
// that a column lacks, stands for its first method.
func Of(columns []*rows.Column, reference string) []*Table {
	out := []*Table{} // not null in JSON
	for _, c := range columns {
		entries := slices.DeleteFunc(slices.Clone(c.Entries), func(e *rows.Entry) bool { return e.Done == 0 })
		if i := slices.IndexFunc(entries, func(e *rows.Entry) bool { return e.Name == reference }); i > 0 {
			entries = slices.Insert(slices.Delete(entries, i, i+1), 0, c.Entry(reference))
		}
		if len(entries) > 1 {
			t := &Table{Dataset: c.Dataset, Increment: c.Increment, Reference: entries[0].Name}
			t.fill(entries)
			t.bound(c, entries)
			t.Advise(Features{})
			out = append(out, t)
		}
	}
	return out
}

// Alone is a table of a column of one method, which is compared with nothing but what stands beside
// it. It is nil if the column has no method with results, or several.
func Alone(c *rows.Column) *Table {
	entries := slices.DeleteFunc(slices.Clone(c.Entries), func(e *rows.Entry) bool { return e.Done == 0 })
	if len(entries) != 1 {
		return nil
	}
	t := &Table{Dataset: c.Dataset, Increment: c.Increment}
	t.bound(c, entries)
	t.Advise(Features{})
	return t
}

// Preferred returns the name of the method with which the others are compared by default: emgd,
// with the shortest name if there are several, else emgd-gmc, else another rule of EMGD, else none.
func Preferred(columns []*rows.Column) string {
	order := []string{"emgd", "emgd-gmc"}
	of := map[string]int{} // the lower the better
	for _, c := range columns {
		for _, e := range c.Entries {
			switch i := slices.Index(order, e.Method()); {
			case i >= 0:
				of[e.Name] = i
			case strings.HasPrefix(e.Method(), "emgd-"):
				of[e.Name] = len(order)
			}
		}
	}
	lines := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[a], of[b]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return append(lines, "")[0]
}

func (t *Table) fill(entries []*rows.Entry) {
	t.Lines = make([]Line, len(entries))
	var pairs [][]stats.Shared
	var tested []*Line
	var repeated []int
	for i, e := range entries {
		l := &t.Lines[i]
		l.Method, l.Runs, l.Diverged, l.Cost = e.Name, e.Done, e.Diverged, cost(e.Rows, entries[0].Rows)
		l.Bytes = BytesOf(e.Results())
		means := rows.Situations(results.FinalAccuracy, e)
		l.Situations = len(means)
		for _, s := range means {
			l.A += s.Means[0] / float64(len(means))
		}
		if shared := rows.Situations(results.FinalAccuracy, e, entries[0]); i > 0 && len(shared) > 0 {
			distinct := rows.Distinct(results.FinalAccuracy, e, entries[0])
			pairs, tested, repeated = append(pairs, distinct), append(tested, l), append(repeated, len(shared)-len(distinct))
		}
	}
	for i, c := range stats.Contrasts(pairs...) {
		tested[i].Against = against(c)
		tested[i].Against.Repeated = repeated[i]
	}
	t.say()
}

// cost is the median time of a step relative to the same runs of the reference; 0 if it is not
// known. Of runs that are made side by side some are slowed down, which a mean would show.
func cost(own, reference []*rows.Row) float64 {
	millis := map[stats.Trial]float64{}
	for _, r := range reference {
		millis[r.Trial] = stepMillis(r)
	}
	var ratios []float64
	for _, r := range own {
		if other := millis[r.Trial]; other > 0 && stepMillis(r) > 0 {
			ratios = append(ratios, stepMillis(r)/other)
		}
	}
	if slices.Sort(ratios); len(ratios) == 0 {
		return 0
	}
	return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
}

// stepMillis is the mean time of a step of a row's run; 0 if it is not known.
func stepMillis(r *rows.Row) float64 {
	if r.Run == nil {
		return 0
	}
	return r.Run.Measured.StepMillis
}

func against(c stats.Contrast) *Against {
	a := &Against{Situations: c.Pairs, Difference: c.Difference, P: known(c.P), Holm: known(c.Adjusted),
		Differs: c.Differs, contrast: c}
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
