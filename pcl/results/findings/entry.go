package findings

import (
	"math"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// metric is one of the numbers that tables have.
type metric string

const (
	accuracy   metric = "A"
	forgetting metric = "F"
	atOwnEnd   metric = "A_first"
)

// of returns a row's number, or NaN if it has none.
func (m metric) of(r *rows.Row) float64 {
	switch {
	case r.State != rows.Done, m != accuracy && r.RunMethod == "gdumb": // it trains a new network for each evaluation
		return math.NaN()
	case m == accuracy:
		return r.A
	case m == forgetting:
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
	Remark                 string        // what is wrong with the runs; mostly nothing is
	A, F, AFirst           stats.Summary // without deviations where runs are missing
	// PaperA and PaperF are the paper's numbers; nil where it has none.
	PaperA, PaperF *Number
	Other          *Entry  // the same with tuned values, or with published ones; nil if there is no such
	Rank           float64 // mean place by A among the methods with all runs; 0 for others
}

func newEntry(c *Column, r *rows.Row) *Entry {
	e := &Entry{Column: c, Name: r.Line(), PaperMethod: r.PaperMethod, Vary: r.Vary}
	if at := (place{c.table(), c.PaperDataset, c.Increment}); len(r.Vary) == 0 {
		e.PaperA, e.PaperF = find(at, r.PaperMethod, accuracy), find(at, r.PaperMethod, forgetting)
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
	e.Remark = e.remark()
	e.A, e.F, e.AFirst = e.summary(accuracy), e.summary(forgetting), e.summary(atOwnEnd)
}

func (e *Entry) summary(m metric) stats.Summary {
	scores := e.scores(m)
	s := stats.Summarize(scores)
	if len(scores) < len(e.Rows) {
		s.StdSeeds, s.StdRuns = math.NaN(), math.NaN()
	}
	return s
}

// scores returns the entry's numbers.
func (e *Entry) scores(m metric) (out []stats.Score) {
	for _, r := range e.Rows {
		if x := m.of(r); !math.IsNaN(x) {
			out = append(out, stats.Score{LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed, Value: x})
		}
	}
	return out
}
