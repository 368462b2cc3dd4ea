package stats

import (
	"flag"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/seed"
)

var kinds = map[string]Resampling{"seeds": OverSeeds, "nested": Nested, "crossed": Crossed}

// TestBootstrapAgainstAllReplicates: of small benchmarks all replicates can be listed; a bootstrap of many must come
// close to them.
func TestBootstrapAgainstAllReplicates(t *testing.T) {
	for i, c := range scipy(t).Bootstrap {
		scores := scored(c.Scores)
		for _, level := range []struct {
			level     float64
			low, high string
		}{{0.95, "0.025", "0.975"}, {0.6, "0.2", "0.8"}} {
			got := must.Get(Bootstrap(scores, Mean, Plan{Over: kinds[c.Over], OneFewer: c.OneFewer, Level: level.level, Replicates: 20_000}))(t)
			low, high := c.Mean.Brackets[level.low], c.Mean.Brackets[level.high]
			if !between(low, got.Low) || !between(high, got.High) || math.Abs(got.StdError/c.Mean.Std-1) > 0.03 {
				t.Errorf("case %d over %s (one fewer: %v): %+v, want %v, %v ± %v", i, c.Over, c.OneFewer, got, low, high, c.Mean.Std)
			}
		}
	}
}

func between(bracket [2]float64, x float64) bool {
	return x >= bracket[0]-1e-9 && x <= bracket[1]+1e-9
}

// TestStandardErrors compares with closed forms for a mean of S situations of n runs: drawn over seeds, its variance is
// Σ v/(n S²) with v the population variances of the situations, and with one fewer drawn that of unbiased ones.
func TestStandardErrors(t *testing.T) {
	scores := benchmark27(seed.New(7, "errors"), effects{3, 2, 1, 2})
	variance := 0.0
	d := must.Get(arrange(scores))(t)
	for _, values := range d.values(nil, d.situations()) {
		variance += stat.PopVariance(values, nil) / (3 * 81)
	}
	for fewer, want := range map[bool]float64{false: math.Sqrt(variance), true: math.Sqrt(variance * 3 / 2)} {
		got, err := Bootstrap(scores, Mean, Plan{OneFewer: fewer, Replicates: 20_000})
		if err != nil || math.Abs(got.StdError/want-1) > 0.02 {
			t.Errorf("one fewer %v: standard error %v, want %v (%v)", fewer, got.StdError, want, err)
		}
	}
}

// effects are standard deviations of what a label set, a timeline, a seed and a run add to a score.
type effects [4]float64

// benchmark27 makes up a benchmark of 3 × 3 × 3 runs around 0.
func benchmark27(random *seed.Source, e effects) []Score {
	values := make([][][]float64, 3)
	var seeds [3]float64
	for s := range seeds {
		seeds[s] = e[2] * random.NormFloat64()
	}
	for l := range values {
		values[l] = make([][]float64, 3)
		labelSet := e[0] * random.NormFloat64()
		for t := range values[l] {
			situation := labelSet + e[1]*random.NormFloat64()
			for s := range seeds {
				values[l][t] = append(values[l][t], situation+seeds[s]+e[3]*random.NormFloat64())
			}
		}
	}
	return scored(values)
}

var coverage = flag.Int("coverage", 0, "measure how often intervals cover the mean, over this many made-up benchmarks")

// TestCoverage measures the table in Bootstrap's comment; without the flag it checks two of its cells.
func TestCoverage(t *testing.T) {
	settings := []effects{{0, 0, 0, 1}, {2, 1, 0, 1}, {2, 1, 0.5, 1}, {1, 1, 1, 1}}
	if *coverage == 0 {
		// Where only runs vary, the interval is nearly the mean ± 1.96 standard errors, of which the plain bootstrap takes
		// √⅔; Student's t with 18 degrees of freedom is within 1.6 with probability 0.873, within 1.96 with 0.934.
		for fewer, want := range map[bool]float64{false: 0.873, true: 0.934} {
			if got := covered(settings[0], Plan{OneFewer: fewer, Replicates: 200}, 400); math.Abs(got-want) > 0.05 {
				t.Errorf("one fewer %v: %v of the intervals cover the mean, should be %v", fewer, got, want)
			}
		}
		return
	}
	for _, e := range settings {
		for _, plan := range []Plan{{}, {OneFewer: true}, {Over: Nested}, {Over: Nested, OneFewer: true}, {Over: Crossed}, {Over: Crossed, OneFewer: true}} {
			plan.Replicates = 500
			t.Logf("effects %v, %v, one fewer %v: %.3f", e, plan.Over, plan.OneFewer, covered(e, plan, *coverage))
		}
	}
}

// covered is the share of intervals that cover the mean. Over seeds, it is the mean of the same situations.
func covered(e effects, plan Plan, trials int) float64 {
	random := seed.New(11, "coverage")
	hits := 0
	for i := range trials {
		made := e
		if plan.Over == OverSeeds {
			made[0], made[1] = 0, 0 // what situations add is in the mean as well
		}
		plan.Seed = uint64(i)
		got, err := Bootstrap(benchmark27(random, made), Mean, plan)
		if err != nil {
			panic(err)
		}
		if got.Low <= 0 && got.High >= 0 {
			hits++
		}
	}
	return float64(hits) / float64(trials)
}

// TestPairsCancel: what a situation or a seed does to both methods does not widen the interval of their difference.
func TestPairsCancel(t *testing.T) {
	a := benchmark27(seed.New(5, "pairs"), effects{9, 9, 9, 1})
	b := make([]Score, len(a))
	for i := range a {
		b[i] = a[len(a)-1-i]
		b[i].Value -= 2
	}
	for _, over := range kinds {
		got, err := BootstrapPair(a, b, MeanDifference, Plan{Over: over, Replicates: 200})
		if err != nil || !near(got.Estimate, 2) || math.Abs(got.Low-2) > 1e-9 || math.Abs(got.High-2) > 1e-9 {
			t.Errorf("%v: %+v, %v; the difference is 2 everywhere", over, got, err)
		}
	}
}

func TestBootstrapRefuses(t *testing.T) {
	good, alone := worked(), scored([][][]float64{{{1}, {2}}, {{3}, {4}}})
	for name, c := range map[string]struct {
		scores []Score
		plan   Plan
	}{
		"one seed": {alone, Plan{}}, "one seed, crossed": {alone, Plan{Over: Crossed}}, "one label set": {good[:6], Plan{Over: Nested}},
		"one label set, crossed": {good[:6], Plan{Over: Crossed}}, "level": {good, Plan{Level: 95}}, "one replicate": {good, Plan{Replicates: 1}}, "unknown": {good, Plan{Over: 3}},
	} {
		if _, err := Bootstrap(c.scores, Mean, c.plan); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Bootstrap(alone, Mean, Plan{Over: Nested}); err != nil {
		t.Errorf("situations can be drawn with one seed each: %v", err)
	}
}
