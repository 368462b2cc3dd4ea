package findings

import (
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// comparison compares two entries over the situations and seeds that both have.
type comparison struct {
	A, B *Entry
	stats.Contrast

	unclear bool // whether the interval against another rival, which is further away, contains 0
}

// compare compares two entries by a metric; it is nil if they have no run in common.
func compare(a, b *Entry, m metric) *comparison {
	pairs := situations(m, a, b)
	if len(pairs) == 0 {
		return nil
	}
	return &comparison{A: a, B: b, Contrast: stats.Contrasts(pairs)[0]}
}

// Situations returns the mean A of entries in the situations, and over the seeds, in which all of them have a result.
func Situations(entries ...*Entry) []stats.Situation { return situations(accuracy, entries...) }

func situations(m metric, entries ...*Entry) []stats.Situation {
	scores := make([][]stats.Score, len(entries))
	for i, e := range entries {
		scores[i] = e.scores(m)
	}
	return stats.Situations(scores...)
}

// rank fills in the average ranks of the entries with all runs, if there are several.
func (c *Column) rank() {
	var complete []*Entry
	for _, e := range c.Entries {
		if e.complete() {
			complete = append(complete, e)
		}
	}
	if len(complete) < 2 {
		return
	}
	var scores [][]float64
	for _, s := range Situations(complete...) {
		scores = append(scores, s.Means)
	}
	if len(scores) == 0 {
		return
	}
	for i, rank := range stats.AverageRanks(scores) {
		complete[i].Rank = rank
	}
}
