package paper

import (
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// comparison compares two entries over the situations and seeds that both have.
type comparison struct {
	A, B *rows.Entry
	stats.Contrast

	unclear bool // whether the interval against another rival, which is further away, contains 0
}

// compare compares two entries by a metric; it is nil if they have no run in common.
func compare(a, b *rows.Entry, m *results.Metric) *comparison {
	pairs := rows.Distinct(m, a, b)
	if len(pairs) == 0 {
		return nil
	}
	return &comparison{A: a, B: b, Contrast: stats.Contrasts(pairs)[0]}
}
