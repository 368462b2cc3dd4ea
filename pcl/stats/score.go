package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Situation is where methods are compared: a label set and a timeline. It is the key of all tables
// of runs.
type Situation struct {
	LabelSet uint64 // seed of the label set
	// Timeline is the seed of the timeline. Timelines of different label sets are different ones,
	// whatever their seeds.
	Timeline uint64
}

// Compare orders situations by label set and timeline.
func (s Situation) Compare(other Situation) int {
	return cmp.Or(cmp.Compare(s.LabelSet, other.LabelSet), cmp.Compare(s.Timeline, other.Timeline))
}

// Trial is one run in a situation. Runs of two methods in one trial make a pair.
type Trial struct {
	Situation
	Seed uint64 // seed of the run
}

// Score is one number of one run.
type Score struct {
	Trial
	Value float64
}

// Shared is a situation that some methods share, with the mean of each in it.
type Shared struct {
	Situation
	Means []float64

	seeds []uint64    // that the means are over
	runs  [][]float64 // of each method, by seed
}

// bySeed has the values of a method by situation and seed. Of two scores of one trial the first
// counts.
func bySeed(scores []Score) map[Situation]map[uint64]float64 {
	out := map[Situation]map[uint64]float64{}
	for _, s := range scores {
		if out[s.Situation] == nil {
			out[s.Situation] = map[uint64]float64{}
		}
		if _, twice := out[s.Situation][s.Seed]; !twice {
			out[s.Situation][s.Seed] = s.Value
		}
	}
	return out
}

// Situations returns the situations in which all methods have runs with seeds in common, by label
// set and timeline. The means are over these seeds. A test of a claim about situations takes them
// as its pairs, a ranking as its rows: there are nine in a benchmark of three label sets and three
// timelines.
func Situations(methods ...[]Score) (out []Shared) {
	all := make([]map[Situation]map[uint64]float64, len(methods))
	for i, scores := range methods {
		all[i] = bySeed(scores)
	}
	for _, at := range slices.SortedFunc(maps.Keys(all[0]), Situation.Compare) {
		seeds := slices.Sorted(maps.Keys(all[0][at]))
		for _, other := range all[1:] {
			seeds = slices.DeleteFunc(seeds, func(seed uint64) bool { _, has := other[at][seed]; return !has })
		}
		if len(seeds) == 0 {
			continue
		}
		s := Shared{Situation: at, seeds: seeds}
		for _, own := range all {
			var runs []float64
			for _, seed := range seeds {
				runs = append(runs, own[at][seed])
			}
			s.runs, s.Means = append(s.runs, runs), append(s.Means, floats.Sum(runs)/float64(len(runs)))
		}
		out = append(out, s)
	}
	return out
}

// Summary is the mean of a benchmark's scores and their spread, in the unit of the scores
// (docs/protocol.md §3.2). The two deviations measure different things and must not be compared
// with each other.
type Summary struct {
	Mean float64 // NaN without any scores
	// StdSeeds is the population standard deviation of one number per seed, the mean over all
	// situations: what the code that the paper's authors released calls ±. It is NaN for one seed.
	StdSeeds float64
	// StdRuns is the population standard deviation of all runs; NaN for one.
	StdRuns float64
}

// String is the mean with its deviation over the seeds, such as "59.61 ± 0.41", and a dash without
// any scores.
func (s Summary) String() string {
	text := fmt.Sprintf("%.2f", s.Mean)
	switch {
	case math.IsNaN(s.Mean):
		return "–"
	case !math.IsNaN(s.StdSeeds):
		text += fmt.Sprintf(" ± %.2f", s.StdSeeds)
	}
	return strings.ReplaceAll(text, "-", "−")
}

// Summarize returns mean and deviations of scores. If a situation lacks a seed that another one
// has, both deviations are NaN: seeds then differ by their situations too.
func Summarize(scores []Score) Summary {
	var values []float64
	seeds := map[uint64][]float64{}
	all := bySeed(scores)
	for _, at := range slices.SortedFunc(maps.Keys(all), Situation.Compare) {
		for _, seed := range slices.Sorted(maps.Keys(all[at])) {
			values, seeds[seed] = append(values, all[at][seed]), append(seeds[seed], all[at][seed])
		}
	}
	out := Summary{Mean: math.NaN(), StdSeeds: math.NaN(), StdRuns: math.NaN()}
	if len(values) == 0 {
		return out
	}
	out.Mean = floats.Sum(values) / float64(len(values))
	if len(values) == len(all)*len(seeds) && len(values) > 1 {
		out.StdRuns = stat.PopStdDev(values, nil)
		if len(seeds) > 1 {
			var means []float64
			for _, seed := range slices.Sorted(maps.Keys(seeds)) {
				means = append(means, stat.Mean(seeds[seed], nil))
			}
			out.StdSeeds = stat.PopStdDev(means, nil)
		}
	}
	return out
}
