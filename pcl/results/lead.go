package results

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Accuracy is A of a run in percent, a number for [RunGroup.Moment] and [LeadOf].
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

// LeadOf compares the runs a with the runs b by a number of each run, such as [Accuracy]. Each run
// is compared with the one of the same benchmark and trial. It is an error if a run has no such
// partner, or two.
func LeadOf(a, b []*Run, number func(*Run) float64) (Lead, error) {
	partners := map[pair]*Run{}
	for _, r := range b {
		if partners[pairOf(r)] != nil {
			return Lead{}, fmt.Errorf("of the second runs two have the same %s: compare one setting with one other",
				where(r))
		}
		partners[pairOf(r)] = r
	}
	if len(a) == 0 || len(a) != len(b) {
		return Lead{}, fmt.Errorf("there are %d runs to compare with %d: as many are needed, at least one",
			len(a), len(b))
	}
	var l Lead
	for _, r := range a {
		other := partners[pairOf(r)]
		if other == nil {
			return Lead{}, fmt.Errorf("no partner is left for the run of %s", where(r))
		}
		delete(partners, pairOf(r))
		d := number(r) - number(other)
		l.Add(d)
		if d > 0 {
			l.Higher++
		}
	}
	return l, nil
}

// pair is what two runs share that can be compared with each other.
type pair struct {
	Benchmark
	stats.Trial
}

func pairOf(r *Run) pair { return pair{r.Benchmark(), r.Trial()} }

// where describes the pair of a run.
func where(r *Run) string {
	return fmt.Sprintf("data set %s, increment %s, label set %d, timeline %d and seed %d",
		r.Dataset, r.Increment, r.LabelSet, r.Timeline, r.Seed)
}
