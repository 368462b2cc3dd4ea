package stats

import (
	"fmt"

	"gonum.org/v1/gonum/stat"
)

// Summary is the mean of a benchmark's scores and their spread, in the unit of the scores (docs/protocol.md §3.2). The
// two deviations measure different things and must not be compared with each other.
type Summary struct {
	Mean float64
	// StdSeeds is the population standard deviation of one number per seed, the mean over all situations: what the
	// code that the paper's authors released calls ±.
	StdSeeds float64
	// StdRuns is the population standard deviation of all runs.
	StdRuns float64
	// Runs = Situations · Seeds.
	Runs, Situations, Seeds int
}

// Summarize returns mean and deviations of the scores of one benchmark, in which every situation has a run of every
// seed.
func Summarize(scores []Score) (Summary, error) {
	d, err := arrange(scores)
	if err != nil {
		return Summary{}, err
	}
	if len(d.benchmarks) > 1 {
		return Summary{}, fmt.Errorf("stats: the scores are of %d benchmarks (%s, %s, …), which have no spread in common", len(d.benchmarks), d.benchmarks[0].name, d.benchmarks[1].name)
	}
	situations := d.situations()
	bySeed := make([]float64, len(d.benchmarks[0].seeds))
	values := make([]float64, 0, len(scores))
	for _, t := range situations {
		for s, i := range t {
			bySeed[s] += d.scores[i].Value / float64(len(situations))
			values = append(values, d.scores[i].Value)
		}
	}
	out := Summary{Runs: len(values), Situations: len(situations), Seeds: len(bySeed)}
	out.Mean, out.StdRuns = stat.PopMeanStdDev(values, nil)
	out.StdSeeds = stat.PopStdDev(bySeed, nil)
	return out, nil
}
