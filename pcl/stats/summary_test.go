package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// worked is two label sets × two timelines × three seeds; the means of the seeds are 12.5, 22.5 and 32.5.
func worked() []Score {
	return scored([][][]float64{{{10, 20, 30}, {12, 22, 32}}, {{13, 23, 33}, {15, 25, 35}}})
}

// TestSummary: the seeds' means lie 10 apart, so the deviation of the three is √(200/3); all runs add the variance
// within a seed, (2.5² + 0.5² + 0.5² + 2.5²)/4 = 3.25.
func TestSummary(t *testing.T) {
	scores := worked()
	slices.Reverse(scores) // the order does not matter
	got := must.Get(Summarize(scores))(t)
	if !near(got.Mean, 22.5) || !near(got.StdSeeds, math.Sqrt(200./3)) || !near(got.StdRuns, math.Sqrt(200./3+3.25)) {
		t.Errorf("%+v", got)
	}
	if got.Runs != 12 || got.Situations != 4 || got.Seeds != 3 {
		t.Errorf("%+v", got)
	}
}

func TestScoresAreRefused(t *testing.T) {
	valued := func(v float64) []Score { s := worked(); s[0].Value = v; return s }
	for name, scores := range map[string][]Score{
		"none": nil, "twice": append(worked(), worked()[3]), "missing": slices.Delete(worked(), 4, 5), "NaN": valued(math.NaN()), "infinite": valued(math.Inf(-1)),
	} {
		_, summary := Summarize(scores)
		_, bootstrap := Bootstrap(scores, Mean, Plan{})
		if summary == nil || bootstrap == nil {
			t.Errorf("%s: %v, %v", name, summary, bootstrap)
		}
	}
	if _, err := Summarize(append(worked(), Score{Benchmark: "emnist", Seed: 1, Value: 3})); err == nil {
		t.Error("two benchmarks have a spread in common")
	}
}

func TestPairs(t *testing.T) {
	a, b := worked(), worked()
	for i := range b {
		b[i].Value -= float64(i)
	}
	slices.Reverse(b)
	x, y, err := Situations(a, b)
	if err != nil || !slices.EqualFunc(x, []float64{20, 22, 23, 25}, near) || !slices.EqualFunc(y, []float64{19, 18, 16, 15}, near) {
		t.Errorf("situations %v, %v (%v)", x, y, err)
	}
	missing := slices.DeleteFunc(slices.Clone(a), func(s Score) bool { return s.LabelSet == 0 && s.Timeline == 1 })
	for i, pair := range [][2][]Score{{a, missing}, {missing, a}, {a, a[:9]}, {a[:9], a}, {a, nil}, {nil, a}} {
		_, _, situations := Situations(pair[0], pair[1])
		_, bootstrap := BootstrapPair(pair[0], pair[1], MeanDifference, Plan{})
		if situations == nil || bootstrap == nil {
			t.Errorf("case %d: %v, %v", i, situations, bootstrap)
		}
	}
}
