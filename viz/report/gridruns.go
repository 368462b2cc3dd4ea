package report

import (
	"cmp"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// runsOf returns the finished runs of entries as figures take them.
func runsOf(entries []*findings.Entry) (out []*results.Run, err error) {
	for _, e := range entries {
		runs, err := rows.Runs(e.Rows)
		if err != nil {
			return nil, err
		}
		out = append(out, runs...)
	}
	return out, nil
}

// mostShown is the number of methods that a figure can keep apart for the eye.
const mostShown = 8

// often are the methods that figures of many methods show first.
var often = []string{"EMGD (recommended)", "EMGD(GMC)", "EMGD(GS)", "AvgGrad", "MGDA", "ER", "DER++", "MaxDO"}

// shown chooses those entries of a column that figures show: all if they are few, else the usual ones and the best.
func shown(c *findings.Column) []*findings.Entry {
	var made []*findings.Entry
	for _, e := range c.Entries {
		if e.Done > 0 {
			made = append(made, e)
		}
	}
	if len(made) <= mostShown {
		return made
	}
	order := slices.SortedStableFunc(slices.Values(made), func(a, b *findings.Entry) int {
		return cmp.Or(cmp.Compare(usual(a), usual(b)), -cmp.Compare(a.A.Mean, b.A.Mean))
	})
	return order[:mostShown]
}

// usual is the place of an entry among the usual ones, or the one behind all.
func usual(e *findings.Entry) int {
	if i := slices.Index(often, e.Name); i >= 0 {
		return i
	}
	return len(often)
}
