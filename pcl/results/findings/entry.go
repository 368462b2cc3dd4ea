package findings

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results/paper"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Metric is one of the numbers that tables have.
type Metric string

const (
	A      Metric = "A"
	F      Metric = "F"
	AFirst Metric = "A_first"
)

// of returns a row's number, or NaN if it has none.
func (m Metric) of(r *rows.Row) float64 {
	switch {
	case r.State != rows.Done, m != A && r.RunMethod == "gdumb": // it trains a new network for each evaluation
		return math.NaN()
	case m == A:
		return r.A
	case m == F:
		return r.F
	}
	return r.AFirst
}

// Entry is a method in a column.
type Entry struct {
	Column      *Column
	Name        string // of the line: the method and what is varied
	PaperMethod string
	Vary        []rows.Setting
	Rows        []*rows.Row
	// Runs with a result, those that diverged of them, and those that failed.
	Done, Diverged, Failed int
	A, F, AFirst           Value
	// PaperA and PaperF are the paper's numbers; nil where it has none.
	PaperA, PaperF *paper.Number
	Other          *Entry // the same with tuned values, or with published ones; nil if there is no such
	Rank           float64
	// Best says that no method has a higher mean A, Tied that a test cannot tell the method from that one. Both are
	// told only if a test could.
	Best, Tied bool
	Against    *Comparison // with the one of the highest mean A; nil for that one itself
}

// Value is a mean over runs.
type Value struct {
	Mean float64 // NaN if there is none
	// Std is the population standard deviation over the seeds of the means over situations, and StdRuns that over the
	// runs; both are NaN if runs are missing or if situations lack seeds that others have, Std also if there is only one
	// seed, and StdRuns if there is only one run.
	Std, StdRuns float64
}

// Defined says whether there is a number.
func (v Value) Defined() bool { return !math.IsNaN(v.Mean) }

func newEntry(c *Column, r *rows.Row) *Entry {
	e := &Entry{Column: c, Name: r.Line(), PaperMethod: r.PaperMethod, Vary: r.Vary}
	if len(r.Vary) > 0 {
		return e
	}
	if n, ok := paper.Find(c.Table(), c.Increment, r.PaperMethod, c.PaperDataset, string(A)); ok {
		e.PaperA = &n
	}
	if n, ok := paper.Find(c.Table(), c.Increment, r.PaperMethod, c.PaperDataset, string(F)); ok {
		e.PaperF = &n
	}
	return e
}

// complete says whether all runs of the entry have a result.
func (e *Entry) complete() bool { return e.Done == len(e.Rows) }

func (e *Entry) summarise() {
	for _, r := range e.Rows {
		switch {
		case r.State == rows.Done:
			e.Done++
			if r.Diverged != "" {
				e.Diverged++
			}
		case r.State == rows.Failed:
			e.Failed++
		}
	}
	for metric, into := range map[Metric]*Value{A: &e.A, F: &e.F, AFirst: &e.AFirst} {
		*into = e.value(metric)
	}
}

// value returns the mean of a metric, without a spread if runs are missing or if situations lack seeds that others have.
func (e *Entry) value(m Metric) Value {
	nan := math.NaN()
	scores := e.scores(m, nil)
	s, err := stats.Summarize(scores)
	switch {
	case len(scores) == 0:
		return Value{nan, nan, nan}
	case len(scores) < len(e.Rows), len(scores) == 1, err != nil:
		mean := 0.0
		for _, s := range scores {
			mean += s.Value / float64(len(scores))
		}
		return Value{mean, nan, nan}
	case s.Seeds < 2:
		return Value{s.Mean, nan, s.StdRuns}
	}
	return Value{s.Mean, s.StdSeeds, s.StdRuns}
}

// situation is a label set and a timeline.
type situation struct{ labelSet, timeline uint64 }

func situationOf(r *rows.Row) situation { return situation{r.LabelSet, r.Timeline} }

func (s situation) String() string { return fmt.Sprintf("%d/%d", s.labelSet, s.timeline) }

func seedText(seed uint64) string { return fmt.Sprint(seed) }

// scores returns the entry's numbers in some situations with some seeds, or all if within is nil.
func (e *Entry) scores(m Metric, within *shared) (out []stats.Score) {
	for _, r := range e.Rows {
		x := m.of(r)
		if math.IsNaN(x) || within != nil && !within.has(r) {
			continue
		}
		out = append(out, stats.Score{LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed, Value: x})
	}
	return out
}

// shared is what several entries have in common: the seeds that all of them are to have, and the situations in which
// each has a number for each of these seeds.
type shared struct {
	situations []situation
	seeds      map[uint64]bool
}

func (s *shared) has(r *rows.Row) bool {
	return s.seeds[r.Seed] && slices.Contains(s.situations, situationOf(r))
}

// share returns what entries have in common, in the order of the first.
func share(m Metric, entries ...*Entry) *shared {
	s := &shared{seeds: map[uint64]bool{}}
	for i, e := range entries {
		own := map[uint64]bool{}
		for _, r := range e.Rows {
			own[r.Seed] = i == 0 || s.seeds[r.Seed]
		}
		s.seeds = own
	}
	maps.DeleteFunc(s.seeds, func(_ uint64, in bool) bool { return !in })
	done := map[situation]int{}
	for _, e := range entries {
		for _, r := range e.Rows {
			if s.seeds[r.Seed] && !math.IsNaN(m.of(r)) {
				done[situationOf(r)]++
			}
		}
	}
	for _, r := range entries[0].Rows {
		if at := situationOf(r); len(s.seeds) > 0 && done[at] == len(s.seeds)*len(entries) && !slices.Contains(s.situations, at) {
			s.situations = append(s.situations, at)
		}
	}
	return s
}

// mean returns the mean over seeds in a situation.
func (e *Entry) mean(m Metric, at situation, seeds map[uint64]bool) float64 {
	sum, n := 0.0, 0
	for _, r := range e.Rows {
		if x := m.of(r); situationOf(r) == at && seeds[r.Seed] && !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / float64(n)
}
