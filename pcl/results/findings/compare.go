package findings

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Comparison compares two entries over the situations in which both have all runs with the seeds that they share.
type Comparison struct {
	A, B       *Entry
	Metric     Metric
	Situations int
	Difference float64        // mean of A − B, in points
	Interval   stats.Interval // of the difference, 95 %
	Resampled  bool           // whether there is an interval
	// P is the two-sided p-value of the sign-flip test over situations; NaN if there are too few for it. Adjusted is P after
	// Holm's correction for all tests that are shown together.
	P, Adjusted float64

	unclear bool // whether the interval against another rival, which is further away, contains 0
}

// replicates is the number of draws for an interval.
const replicates = 2000

// errApart says that two entries have no situation in common.
var errApart = errors.New("they have no situation in common in which all runs are made")

// compare compares two entries by a metric.
func compare(a, b *Entry, m Metric) (*Comparison, error) {
	within := share(m, a, b)
	if len(within.situations) == 0 {
		return nil, errApart
	}
	c := &Comparison{A: a, B: b, Metric: m, Situations: len(within.situations), P: math.NaN(), Adjusted: math.NaN()}
	x, y := a.scores(m, within), b.scores(m, within)
	first, second, err := stats.Situations(x, y)
	if err != nil {
		return nil, err
	}
	c.Difference = stats.MeanDifference([][]float64{first}, [][]float64{second})
	if len(first) >= stats.MinPairs {
		r, err := stats.SignFlip(first, second)
		if err != nil {
			return nil, err
		}
		c.P, c.Adjusted = r.P, r.P
	}
	plan, possible := planFor(x)
	if !possible {
		return c, nil
	}
	c.Resampled = true
	c.Interval, err = stats.BootstrapPair(x, y, stats.MeanDifference, plan)
	return c, err
}

// planFor chooses what an interval draws: situations and seeds if there are several label sets, else seeds.
func planFor(scores []stats.Score) (plan stats.Plan, possible bool) {
	labelSets, seeds := map[uint64]bool{}, map[uint64]bool{}
	for _, s := range scores {
		labelSets[s.LabelSet], seeds[s.Seed] = true, true
	}
	plan = stats.Plan{OneFewer: true, Replicates: replicates, Over: stats.OverSeeds}
	switch {
	case len(labelSets) > 1 && len(seeds) > 1:
		plan.Over = stats.Crossed
	case len(labelSets) > 1:
		plan.Over = stats.Nested
	case len(seeds) < 2:
		return plan, false
	}
	return plan, true
}

// compare tells which entries of the column are the best, and ranks them.
func (c *Column) compare() error {
	c.Correlation = math.NaN()
	if !c.even() {
		c.Cause = "The methods do not all have the same label sets, timelines and seeds."
		return nil
	}
	if err := c.ranks(); err != nil || c.Cause != "" {
		return err
	}
	c.correlate()
	best := c.highest()
	if best == nil {
		c.Cause = "There are fewer than two methods with all runs."
		return nil
	}
	var tests []*Comparison
	for _, e := range c.Entries {
		if e == best || !e.complete() {
			continue
		}
		var err error
		if e.Against, err = compare(e, best, A); err != nil {
			return err
		}
		tests = append(tests, e.Against)
	}
	n := slices.MinFunc(tests, func(a, b *Comparison) int { return a.Situations - b.Situations }).Situations
	if needed := stats.Needed(Alpha, len(tests)); n < max(needed, stats.MinPairs) {
		c.Cause = tooFew(n, len(tests))
		return nil
	}
	if err := holm(tests); err != nil {
		return err
	}
	best.Best = true
	for _, t := range tests {
		t.A.Tied = t.Adjusted > Alpha
	}
	return nil
}

// correlate fills in Correlation.
func (c *Column) correlate() {
	complete := c.complete()
	if len(complete) < 2 {
		return
	}
	within := share(A, complete...)
	places := map[uint64][]int{} // of each label set, in scores
	for i, at := range within.situations {
		places[at.labelSet] = append(places[at.labelSet], i)
	}
	labelSets := slices.Sorted(maps.Keys(places))
	size := len(within.situations) / max(1, len(labelSets))
	if len(labelSets) < 2 || size < 2 || slices.ContainsFunc(labelSets, func(l uint64) bool { return len(places[l]) != size }) {
		return
	}
	scores := Scores(complete)
	var pairs [][][]float64
	for a := range complete {
		for b := range a {
			var groups [][]float64
			for _, l := range labelSets {
				var differences []float64
				for _, i := range places[l] {
					differences = append(differences, scores[i][a]-scores[i][b])
				}
				groups = append(groups, differences)
			}
			pairs = append(pairs, groups)
		}
	}
	c.Correlation = stats.IntraclassCorrelation(pairs...)
}

// even reports whether all complete entries have the same situations and seeds.
func (c *Column) even() bool {
	var first map[string]bool
	for _, e := range c.complete() {
		own := map[string]bool{}
		for _, r := range e.Rows {
			own[situationOf(r).String()+" "+seedText(r.Seed)] = true
		}
		if first == nil {
			first = own
		}
		if !maps.Equal(first, own) {
			return false
		}
	}
	return true
}

// highest returns the complete entry with the highest mean A, or nil if there are no two complete ones.
func (c *Column) highest() (best *Entry) {
	complete := c.complete()
	if len(complete) < 2 {
		return nil
	}
	return slices.MaxFunc(complete, func(a, b *Entry) int { return cmp.Compare(a.A.Mean, b.A.Mean) })
}

// complete lists the entries with all runs.
func (c *Column) complete() (out []*Entry) {
	for _, e := range c.Entries {
		if e.complete() {
			out = append(out, e)
		}
	}
	return out
}

// holm corrects the p-values of comparisons that are shown together.
func holm(all []*Comparison) error {
	var p []float64
	for _, c := range all {
		p = append(p, c.P)
	}
	adjusted, err := stats.Holm(p)
	for i := range adjusted {
		all[i].Adjusted = adjusted[i]
	}
	return err
}

// ranks fills in the average ranks of the complete entries, or the cause why there are none.
func (c *Column) ranks() error {
	complete := c.complete()
	if len(complete) < 2 {
		return nil
	}
	scores := Scores(complete)
	if len(scores) == 0 {
		c.Cause = "The methods have no label set and timeline with runs of all seeds."
		return nil
	}
	ranks, err := stats.AverageRanks(scores)
	for i := range ranks {
		complete[i].Rank = ranks[i]
	}
	return err
}

// Scores returns the mean A over the seeds of entries that are complete: scores[situation][entry]. Situations and seeds
// are those that all of them have.
func Scores(complete []*Entry) [][]float64 {
	within := share(A, complete...)
	out := make([][]float64, len(within.situations))
	for s, at := range within.situations {
		for _, e := range complete {
			out[s] = append(out[s], e.mean(A, at, within.seeds))
		}
	}
	return out
}
