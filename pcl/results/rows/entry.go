package rows

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Entry is a method in a column.
type Entry struct {
	Column      *Column
	Name        string // of the line: the method and what is varied
	PaperMethod string // what the paper calls the method; empty where it has no such
	Vary        []Setting
	Rows        []*Row
	// Done counts the runs with a result, Diverged those that diverged of them, and Failed those
	// that failed.
	Done, Diverged, Failed int
	Remark                 string        // what is wrong with the runs; mostly empty
	A                      stats.Summary // [Entry.Summary] of the final accuracy
	Other                  *Entry        // the same with tuned values, or with published ones; nil if there is no such
	Rank                   float64       // mean place by A among the methods with all runs; 0 for others
}

// Complete reports whether all runs of the entry have a result.
func (e *Entry) Complete() bool { return e.Done == len(e.Rows) }

// Method returns the id of the entry's method; empty if no run has a result.
func (e *Entry) Method() string {
	for _, r := range e.Rows {
		if r.State == Done {
			return r.Run.Method
		}
	}
	return ""
}

// Results returns the runs of the entry that have a result.
func (e *Entry) Results() (out []*results.Run) {
	for _, r := range e.Rows {
		if r.State == Done {
			out = append(out, r.Run)
		}
	}
	return out
}

// Took returns the seconds that the runs of the entry took together.
func (e *Entry) Took() (seconds float64) {
	for _, r := range e.Rows {
		seconds += r.Took()
	}
	return seconds
}

func (e *Entry) summarise() {
	for _, r := range e.Rows {
		switch {
		case r.State == Done:
			e.Done++
			if r.Run.DivergedAt != nil {
				e.Diverged++
			}
		case r.State == Failed:
			e.Failed++
		}
	}
	e.Remark = e.remark()
	e.A = e.Summary(results.FinalAccuracy)
}

// remark says what is wrong with the runs.
func (e *Entry) remark() string {
	var parts []string
	if !e.Complete() {
		parts = append(parts, fmt.Sprintf("%d of %d", e.Done, len(e.Rows)))
	}
	if e.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", e.Failed))
	}
	if e.Diverged > 0 {
		parts = append(parts, fmt.Sprintf("%d diverged", e.Diverged))
	}
	return strings.Join(parts, ", ")
}

// Summary returns the mean of a metric over the entry's runs, without deviations where runs are
// missing.
func (e *Entry) Summary(m *results.Metric) stats.Summary {
	scores := e.scores(m)
	s := stats.Summarize(scores)
	if len(scores) < len(e.Rows) {
		s.StdSeeds, s.StdRuns = math.NaN(), math.NaN()
	}
	return s
}

// scores returns the entry's numbers.
func (e *Entry) scores(m *results.Metric) (out []stats.Score) {
	for _, r := range e.Rows {
		if x := r.Value(m); !math.IsNaN(x) {
			out = append(out, stats.Score{Trial: r.Trial, Value: x})
		}
	}
	return out
}

// Situations returns the means of a metric in the situations, and over the seeds, in which all
// entries have a result.
func Situations(m *results.Metric, entries ...*Entry) []stats.Shared {
	scores := make([][]stats.Score, len(entries))
	for i, e := range entries {
		scores[i] = e.scores(m)
	}
	return stats.Situations(scores...)
}

// Distinct returns the situations of [Situations] that a test may count: of those of one label set
// in which each entry has the same value and the same models, the first stands for all. Methods
// that learn from sums end alike whatever the timeline.
func Distinct(m *results.Metric, entries ...*Entry) []stats.Shared {
	seen := map[string]bool{}
	return slices.DeleteFunc(Situations(m, entries...), func(s stats.Shared) bool {
		var ends []string
		for i, e := range entries {
			for _, r := range e.Rows {
				switch {
				case r.Situation != s.Situation || r.State != Done:
				case r.Run.ModelSHA256 == "":
					return false
				default:
					ends = append(ends, fmt.Sprint(i, r.Seed, r.Run.ModelSHA256, r.Value(m)))
				}
			}
		}
		slices.Sort(ends)
		key := fmt.Sprint(s.LabelSet, ends)
		again := seen[key]
		seen[key] = true
		return again
	})
}

// Repeated returns in how many situations two entries repeat what [Distinct] counts, by A.
func Repeated(a, b *Entry) int {
	return len(Situations(results.FinalAccuracy, a, b)) - len(Distinct(results.FinalAccuracy, a, b))
}

// Scores returns the means of A in a line for each distinct situation, for rankings of entries.
func Scores(entries ...*Entry) (out [][]float64) {
	for _, s := range Distinct(results.FinalAccuracy, entries...) {
		out = append(out, s.Means)
	}
	return out
}

// rank fills in the average ranks of the entries with all runs, if there are several.
func (c *Column) rank() {
	var complete []*Entry
	for _, e := range c.Entries {
		if e.Complete() {
			complete = append(complete, e)
		}
	}
	if len(complete) < 2 {
		return
	}
	scores := Scores(complete...)
	if len(scores) == 0 {
		return
	}
	for i, rank := range stats.AverageRanks(scores) {
		complete[i].Rank = rank
	}
}
