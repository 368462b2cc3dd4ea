package results

import (
	"fmt"
)

// Accuracy is A of a run in percent, a figure for [RunGroup.Moment] and [LeadOf].
func Accuracy(r *Run) float64 { return r.A }

// Forgetting is F of a run in percent, likewise: the more negative, the more was forgotten.
func Forgetting(r *Run) float64 { return r.F }

// Lead is by how much some runs lead others that had the same tasks and seeds.
type Lead struct {
	Moment     // of the differences
	Higher int // number of differences above zero
}

// String is such as "+1.2, higher in 3 of 3 runs".
func (l Lead) String() string {
	return fmt.Sprintf("%+.1f, higher in %d of %d runs", l.Mean, l.Higher, l.N)
}

// LeadOf compares a figure of runs a with that of runs b, each run with the one of the same data set, increment, label
// set, timeline and seed. It is an error if a run has no such partner, or two.
func LeadOf(a, b []*Run, figure func(*Run) float64) (Lead, error) {
	partners := map[repetition]*Run{}
	for _, r := range b {
		if partners[repetitionOf(r)] != nil {
			return Lead{}, fmt.Errorf("of the second runs two have the same %s: compare one setting with one other", repetitionOf(r))
		}
		partners[repetitionOf(r)] = r
	}
	if len(a) == 0 || len(a) != len(b) {
		return Lead{}, fmt.Errorf("there are %d runs to compare with %d: as many are needed, at least one", len(a), len(b))
	}
	var l Lead
	for _, r := range a {
		other := partners[repetitionOf(r)]
		if other == nil {
			return Lead{}, fmt.Errorf("no partner is left for the run of %s", repetitionOf(r))
		}
		delete(partners, repetitionOf(r))
		d := figure(r) - figure(other)
		l.Add(d)
		if d > 0 {
			l.Higher++
		}
	}
	return l, nil
}

// repetition is what two runs share that can be compared as a pair.
type repetition struct {
	dataset, increment       string
	labelSet, timeline, seed uint64
	scenario                 string
}

func repetitionOf(r *Run) repetition {
	return repetition{r.Dataset, r.Increment, r.LabelSet, r.Timeline, r.Seed, r.OwnScenario()}
}

func (r repetition) String() string {
	return fmt.Sprintf("data set %s, increment %s, label set %d, timeline %d and seed %d", r.dataset, r.increment, r.labelSet, r.timeline, r.seed)
}
