// Package versus compares methods with a reference over situations, and says in sentences what that shows: what `pcl compare`
// prints, and `pcl report` of a user's own runs and grids. The statistics are those of [stats.Contrasts].
package versus

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Run is what a comparison takes of a run.
type Run struct {
	Dataset, Increment       string
	Method                   string // and all that tells it from others, such as "emgd tau=3"
	LabelSet, Timeline, Seed uint64
	A                        float64 // %
	StepMillis               float64
	Diverged                 bool
}

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

// Of makes tables of runs, one for each data set and increment with at least two methods; their order is that of the runs. An
// empty reference, or one that a table lacks, stands for the first method.
func Of(runs []Run, reference string) (all []*Table, err error) {
	all = []*Table{} // not null in JSON
	type place struct{ dataset, increment string }
	var order []place
	by := map[place][]Run{}
	for _, r := range runs {
		at := place{r.Dataset, r.Increment}
		if by[at] == nil {
			order = append(order, at)
		}
		by[at] = append(by[at], r)
	}
	for _, at := range order {
		var methods []string
		for _, r := range by[at] {
			if !slices.Contains(methods, r.Method) {
				methods = append(methods, r.Method)
			}
		}
		if i := slices.Index(methods, reference); i > 0 {
			methods = slices.Insert(slices.Delete(methods, i, i+1), 0, reference)
		}
		if len(methods) < 2 {
			continue
		}
		t := &Table{Dataset: at.dataset, Increment: at.increment, Reference: methods[0]}
		if err := t.fill(by[at], methods); err != nil {
			return nil, fmt.Errorf("%s, %s-incremental: %w", at.dataset, at.increment, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// Preferred chooses with which line of a report the others are compared, given the method of each: emgd, as short a line as
// there is, else emgd-gmc, else one of their kin, else none.
func Preferred(method map[string]string) string {
	order := []string{"emgd", "emgd-gmc"}
	kin := func(line string) int {
		switch i := slices.Index(order, method[line]); {
		case i >= 0:
			return i
		case strings.HasPrefix(method[line], "emgd-"):
			return len(order)
		}
		return len(order) + 1
	}
	lines := slices.SortedFunc(maps.Keys(method), func(a, b string) int {
		return cmp.Or(cmp.Compare(kin(a), kin(b)), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if len(lines) == 0 || kin(lines[0]) > len(order) {
		return ""
	}
	return lines[0]
}

// Results returns what a comparison takes of results. Methods with other values are different ones, and so are those
// that were run with another network, memory or anything else.
func Results(runs []*results.Run) (out []Run) {
	told := append([]string{"method", "params", "edit", "extra_update", "eval_every", "dataset", "data_sha256", "increment"}, results.Repetition...)
	settings := map[string][]map[string]string{} // of the runs of a label, in one data set and increment
	label := func(r *results.Run) string { return results.RunGroup{Runs: []*results.Run{r}}.Label() }
	key := func(r *results.Run) string { return r.Dataset + "\x00" + r.Increment + "\x00" + label(r) }
	for _, r := range runs {
		settings[key(r)] = append(settings[key(r)], r.Settings(told...))
	}
	for _, r := range runs {
		name, own := label(r), r.Settings(told...)
		for _, setting := range results.Differing(settings[key(r)]...) {
			name += " " + setting + "=" + own[setting]
		}
		labelSet := r.LabelSet
		if played := r.OwnScenario(); played != "" { // a situation of its own
			h := fnv.New64a()
			h.Write([]byte(played))
			labelSet = h.Sum64()
		}
		out = append(out, Run{
			Dataset: r.Dataset, Increment: r.Increment, Method: name, LabelSet: labelSet, Timeline: r.Timeline, Seed: r.Seed,
			A: r.A, StepMillis: r.Measured.StepMillis, Diverged: r.DivergedAt != nil,
		})
	}
	return out
}

// Rows is the same of the rows of a grid.
func Rows(all []*rows.Row) (out []Run) {
	for _, r := range all {
		if r.State == rows.Done {
			out = append(out, Run{
				Dataset: r.Dataset, Increment: r.Increment, Method: r.Line(), LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed,
				A: r.A, StepMillis: r.StepMillis, Diverged: r.Diverged != "",
			})
		}
	}
	return out
}

// situation is the unit of a comparison.
type situation struct{ labelSet, timeline uint64 }

// made are a method's runs by situation and seed.
type made map[situation]map[uint64]Run

// shared returns the mean A in each situation over the seeds that the other has there too.
func (m made) shared(other made) (out []stats.Score) {
	for at, seeds := range m {
		sum, n := 0.0, 0
		for _, seed := range slices.Sorted(maps.Keys(seeds)) {
			if _, has := other[at][seed]; has {
				sum, n = sum+seeds[seed].A, n+1
			}
		}
		if n > 0 {
			out = append(out, stats.Score{LabelSet: at.labelSet, Timeline: at.timeline, Value: sum / float64(n)})
		}
	}
	return out
}

// cost is the median time of a step relative to the same runs of the reference; 0 if it is not known. Of runs that are made side
// by side some are slowed down, which a mean would show.
func (m made) cost(reference made) float64 {
	var ratios []float64
	for at, seeds := range m {
		for seed, r := range seeds {
			if other := reference[at][seed]; other.StepMillis > 0 && r.StepMillis > 0 {
				ratios = append(ratios, r.StepMillis/other.StepMillis)
			}
		}
	}
	if slices.Sort(ratios); len(ratios) == 0 {
		return 0
	}
	return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
}

func (t *Table) fill(runs []Run, methods []string) error {
	all := make([]made, len(methods))
	t.Lines = make([]Line, len(methods))
	for i, m := range methods {
		t.Lines[i].Method, all[i] = m, made{}
	}
	for _, r := range runs {
		i, at := slices.Index(methods, r.Method), situation{r.LabelSet, r.Timeline}
		if all[i][at] == nil {
			all[i][at] = map[uint64]Run{}
		}
		if _, twice := all[i][at][r.Seed]; twice {
			continue // a run that is named twice counts once
		}
		all[i][at][r.Seed] = r
		if t.Lines[i].Runs++; r.Diverged {
			t.Lines[i].Diverged++
		}
	}
	var theirs, ours [][]stats.Score
	var tested []*Line
	for i := range methods {
		l, own := &t.Lines[i], all[i].shared(all[i])
		l.Situations, l.Cost = len(own), all[i].cost(all[0])
		for _, s := range own {
			l.A += s.Value / float64(len(own))
		}
		if method := all[i].shared(all[0]); i > 0 && len(method) > 0 {
			theirs, ours, tested = append(theirs, method), append(ours, all[0].shared(all[i])), append(tested, l)
		}
	}
	found, err := stats.Contrasts(theirs, ours)
	if err != nil {
		return err
	}
	for i, c := range found {
		tested[i].Against = against(c)
	}
	t.say()
	return nil
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
