package stats

import (
	"math"
	"slices"
	"strings"
	"testing"
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
	got, err := Summarize(scores)
	if err != nil {
		t.Fatal(err)
	}
	if !near(got.Mean, 22.5) || !near(got.StdSeeds, math.Sqrt(200./3)) || !near(got.StdRuns, math.Sqrt(200./3+3.25)) {
		t.Errorf("%+v", got)
	}
	if got.Runs != 12 || got.Situations != 4 || got.Seeds != 3 {
		t.Errorf("%+v", got)
	}
}

func TestScoresAreRefused(t *testing.T) {
	change := func(f func([]Score) []Score) []Score { return f(worked()) }
	for name, c := range map[string]struct {
		scores []Score
		want   string
	}{
		"none":     {nil, "no scores"},
		"twice":    {change(func(s []Score) []Score { return append(s, s[3]) }), "label set 0, timeline 1, seed 1234 has two"},
		"missing":  {change(func(s []Score) []Score { return slices.Delete(s, 4, 5) }), "no score of label set 0, timeline 1, seed 1235"},
		"NaN":      {change(func(s []Score) []Score { s[0].Value = math.NaN(); return s }), "seed 1234 is NaN"},
		"infinite": {change(func(s []Score) []Score { s[0].Value = math.Inf(-1); return s }), "-Inf"},
	} {
		if _, err := Summarize(c.scores); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Bootstrap(c.scores, Mean, Plan{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, in a bootstrap: %v", name, err)
		}
	}
	two := append(worked(), Score{Benchmark: "emnist", Seed: 1, Value: 3})
	if _, err := Summarize(two); err == nil || !strings.Contains(err.Error(), "2 benchmarks") {
		t.Errorf("two benchmarks: %v", err)
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
	for _, c := range []struct {
		a, b []Score
		want string
	}{
		{a, missing, "the second method has no score of label set 0, timeline 1, seed 1234"},
		{missing, a, "the first method has no score of label set 0, timeline 1, seed 1234"},
		{a, a[:9], "the second method has no score of label set 1, timeline 1"},
		{a[:9], a, "the first method has no score of label set 1, timeline 1"},
		{a, nil, "no scores, in the second method's"},
		{nil, a, "no scores, in the first method's"},
	} {
		_, _, situations := Situations(c.a, c.b)
		_, bootstrap := BootstrapPair(c.a, c.b, MeanDifference, Plan{})
		for _, err := range []error{situations, bootstrap} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		}
	}
}
