package stats

import (
	"math"
	"slices"
	"testing"
)

// worked is two label sets × two timelines × three seeds; the means of the seeds are 12.5, 22.5 and
// 32.5.
func worked() []Score {
	return scored([][][]float64{{{10, 20, 30}, {12, 22, 32}}, {{13, 23, 33}, {15, 25, 35}}})
}

// TestSummary: the seeds' means lie 10 apart, so the deviation of the three is √(200/3); all runs
// add the variance within a seed, (2.5² + 0.5² + 0.5² + 2.5²)/4 = 3.25. Where a run is missing
// there is no deviation.
func TestSummary(t *testing.T) {
	nan := math.NaN()
	all := worked()
	slices.Reverse(all) // the order does not matter
	for name, c := range map[string]struct {
		scores              []Score
		mean, seeds, spread float64
	}{
		"all":      {all, 22.5, math.Sqrt(200. / 3), math.Sqrt(200./3 + 3.25)},
		"twice":    {append(all[:12:12], all[3]), 22.5, math.Sqrt(200. / 3), math.Sqrt(200./3 + 3.25)},
		"missing":  {slices.DeleteFunc(worked(), func(s Score) bool { return s.Value == 22 }), 248. / 11, nan, nan},
		"one seed": {slices.DeleteFunc(worked(), func(s Score) bool { return s.Seed != 1234 }), 12.5, nan, math.Sqrt(3.25)},
		"one run":  {all[:1], 35, nan, nan},
		"none":     {nil, nan, nan, nan},
	} {
		t.Run(name, func(t *testing.T) {
			got := Summarize(c.scores)
			for i, pair := range [][2]float64{{got.Mean, c.mean}, {got.StdSeeds, c.seeds}, {got.StdRuns, c.spread}} {
				if both := math.IsNaN(pair[0]) && math.IsNaN(pair[1]); !both && !near(pair[0], pair[1]) {
					t.Errorf("%+v (number %d)", got, i)
				}
			}
		})
	}
}

// TestSituations: methods share the situations and seeds that all have.
func TestSituations(t *testing.T) {
	a, b := worked(), worked()
	for i := range b {
		b[i].Value -= float64(i)
	}
	slices.Reverse(b)
	means := func(all []Shared) (out []float64) {
		for _, s := range all {
			out = append(out, s.Means...)
		}
		return out
	}
	if got := means(Situations(a, b)); !slices.EqualFunc(got, []float64{20, 19, 22, 18, 23, 16, 25, 15}, near) {
		t.Errorf("all runs: %v", got)
	}
	few := slices.DeleteFunc(worked(), func(s Score) bool {
		return s.LabelSet == 0 && s.Timeline == 0 || s.Timeline == 1 && s.Seed == 1236
	})
	got := Situations(few, a)
	switch {
	case !slices.EqualFunc(means(got), []float64{17, 17, 23, 23, 20, 20}, near):
		t.Errorf("some runs: %+v", got)
	case got[0].LabelSet != 0:
		t.Errorf("some runs: got[0].LabelSet is %d; want 0", got[0].LabelSet)
	case got[0].Timeline != 1:
		t.Errorf("some runs: got[0].Timeline is %d; want 1", got[0].Timeline)
	}
	if got := Situations(a, nil); len(got) > 0 {
		t.Errorf("nothing in common: %+v", got)
	}
}
