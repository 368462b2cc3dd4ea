package findings

import (
	"math"

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
	Other          *Entry  // the same with tuned values, or with published ones; nil if there is no such
	Rank           float64 // mean place by A among the methods with all runs; 0 for others
}

// Value is a mean over runs, with deviations unless runs are missing.
type Value stats.Summary

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
	e.A, e.F, e.AFirst = e.value(A), e.value(F), e.value(AFirst)
}

func (e *Entry) value(m Metric) Value {
	scores := e.scores(m)
	v := Value(stats.Summarize(scores))
	if len(scores) < len(e.Rows) {
		v.StdSeeds, v.StdRuns = math.NaN(), math.NaN()
	}
	return v
}

// scores returns the entry's numbers.
func (e *Entry) scores(m Metric) (out []stats.Score) {
	for _, r := range e.Rows {
		if x := m.of(r); !math.IsNaN(x) {
			out = append(out, stats.Score{LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed, Value: x})
		}
	}
	return out
}
