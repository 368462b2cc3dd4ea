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

// Score is one number of one run and the run's place in the benchmark.
type Score struct {
	LabelSet uint64 // seed of the label set
	Timeline uint64 // seed of the timeline; timelines of different label sets are different ones, whatever their seeds
	Seed     uint64 // seed of the run
	Value    float64
}

// Situation is a label set and a timeline, with the mean of each of some methods in it.
type Situation struct {
	LabelSet, Timeline uint64
	Means              []float64

	seeds []uint64    // that the means are over
	runs  [][]float64 // of each method, by seed
}

// place is a situation as the key of a map.
type place struct{ labelSet, timeline uint64 }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.labelSet, q.labelSet), cmp.Compare(p.timeline, q.timeline))
}

// bySeed has the values of a method by situation and seed. Of two scores of one run the first counts.
func bySeed(scores []Score) map[place]map[uint64]float64 {
	out := map[place]map[uint64]float64{}
	for _, s := range scores {
		at := place{s.LabelSet, s.Timeline}
		if out[at] == nil {
			out[at] = map[uint64]float64{}
		}
		if _, twice := out[at][s.Seed]; !twice {
			out[at][s.Seed] = s.Value
		}
	}
	return out
}

// Situations returns the situations in which all methods have runs with seeds in common, by label set and timeline. The means are
// over these seeds. They are the pairs, or the rows of a ranking, to test where a claim is about situations: nine in a benchmark
// of three label sets and three timelines.
func Situations(methods ...[]Score) (out []Situation) {
	all := make([]map[place]map[uint64]float64, len(methods))
	for i, scores := range methods {
		all[i] = bySeed(scores)
	}
	for _, at := range slices.SortedFunc(maps.Keys(all[0]), place.compare) {
		seeds := slices.Sorted(maps.Keys(all[0][at]))
		for _, other := range all[1:] {
			seeds = slices.DeleteFunc(seeds, func(seed uint64) bool { _, has := other[at][seed]; return !has })
		}
		if len(seeds) == 0 {
			continue
		}
		s := Situation{LabelSet: at.labelSet, Timeline: at.timeline, seeds: seeds}
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

// Summary is the mean of a benchmark's scores and their spread, in the unit of the scores (docs/protocol.md §3.2). The two
// deviations measure different things and must not be compared with each other.
type Summary struct {
	Mean float64 // NaN without any scores
	// StdSeeds is the population standard deviation of one number per seed, the mean over all situations: what the code that the
	// paper's authors released calls ±. It is NaN for one seed.
	StdSeeds float64
	// StdRuns is the population standard deviation of all runs; NaN for one.
	StdRuns float64
}

// String is the mean with its deviation over the seeds, such as "59.61 ± 0.41", and a dash without any scores.
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

// Summarize returns mean and deviations of scores. If a situation lacks a seed that another one has, both deviations are NaN: seeds
// then differ by their situations too.
func Summarize(scores []Score) Summary {
	var values []float64
	seeds := map[uint64][]float64{}
	all := bySeed(scores)
	for _, at := range slices.SortedFunc(maps.Keys(all), place.compare) {
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
