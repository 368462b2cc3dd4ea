package rehearsal

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// Herding is the part "herding": of each class it keeps the samples whose mean of the features
// stays nearest to that of all candidates (docs/method.md §5.7).
type Herding struct {
	Pool float64 `param:"pool" default:"500" range:"whole [1,1e9]" doc:"number of samples of each class of a running task from which those for the memory are chosen, at least 1; never fewer than the memory can take"`
}

func init() {
	Register(Info{
		Name: "herding", Title: "herding",
		Does: "the samples of a task that are kept are chosen by herding: those whose mean of the features stays nearest " +
			"to that of all candidates",
		Source: "Welling, Herding Dynamical Weights to Learn, ICML 2009; Rebuffi et al., iCaRL: Incremental Classifier and " +
			"Representation Learning, CVPR 2017 (arXiv 1611.07725)",
		Cost: "none; F of the candidates when a task ends", State: "none",
		Axes: []string{"selection"},
	}, func() Part { return new(Herding) })
}

// Join sets the choice of what is kept.
func (h *Herding) Join(r *Rehearsal) error {
	r.Rank, r.Pool = rankByHerding, int(h.Pool)
	return nil
}

// rankByHerding ranks the candidates of each class.
func rankByHerding(ctx Context, candidates []memory.Item, quota int) ([]memory.Item, error) {
	features, err := unitFeatures(ctx, candidates)
	if err != nil {
		return nil, err
	}
	of, classes := grouped(len(candidates), func(i int) int { return candidates[i].Class })
	var ranked []memory.Item
	for _, c := range classes {
		own := make([][]float64, len(of[c]))
		for k, i := range of[c] {
			own[k] = features[i]
		}
		for _, k := range herd(own, quota) {
			ranked = append(ranked, candidates[of[c][k]])
		}
	}
	return ranked, nil
}

// herd returns the indices of n features, each chosen so that the mean of those chosen so far is
// nearest to the mean of all (Rebuffi et al., Algorithm 4).
func herd(features [][]float64, n int) []int {
	if len(features) == 0 {
		return nil
	}
	mean := make([]float64, len(features[0]))
	for _, f := range features {
		for p, x := range f {
			mean[p] += x / float64(len(features))
		}
	}
	var chosen []int
	taken, wanted := make([]bool, len(features)), make([]float64, len(mean)) // wanted: k·mean − Σ chosen
	for range min(n, len(features)) {
		floats.Add(wanted, mean)
		best, least := -1, math.Inf(1)
		for i, f := range features {
			if d := squaredDistance(wanted, f); !taken[i] && (best < 0 || d < least) {
				best, least = i, d
			}
		}
		taken[best] = true
		chosen = append(chosen, best)
		floats.Sub(wanted, features[best])
	}
	return chosen
}

func squaredDistance(a, b []float64) (sum float64) {
	for p, x := range a {
		sum += (x - b[p]) * (x - b[p])
	}
	return sum
}
