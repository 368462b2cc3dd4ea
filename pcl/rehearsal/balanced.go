package rehearsal

import (
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// BalancedReplay is the part "balanced": batches of the memory have the stored classes in equal
// shares, however many samples of each are stored (docs/method.md §8.5).
type BalancedReplay struct{}

func init() {
	Register(Info{
		Name: "balanced", Title: "balanced replay",
		Does: "for each place of a replayed batch a class is drawn, and then one of its samples, without repeats",
		Source: "after Chrysakis & Moens, Online Continual Learning from Imbalanced Data, ICML 2020, who balance what is " +
			"stored",
		Cost: "none", State: "none",
		Axes: []string{"replay"},
	}, func() Part { return new(BalancedReplay) })
}

// Join sets the choice of what is replayed, for all rows.
func (*BalancedReplay) Join(r *Rehearsal) error {
	r.Draw, r.DrawAll, r.Shares = drawBalanced, true, sharesOfClasses
	return nil
}

func drawBalanced(ctx ReplayContext) ([]int, error) {
	return balanced(ctx.Memory(), ctx.Batch(), ctx.Rand()), nil
}

// balanced draws at most n samples. Each class that still has samples is as likely as any other for
// the next one.
func balanced(s *memory.Store, n int, r *rand.Rand) (indices []int) {
	of, classes := grouped(s.Len(), func(i int) int { return s.Item(i).Class })
	for len(indices) < n && len(classes) > 0 {
		k := r.IntN(len(classes))
		left := of[classes[k]]
		i := r.IntN(len(left))
		indices = append(indices, left[i])
		if left = slices.Delete(left, i, i+1); len(left) == 0 {
			classes = slices.Delete(classes, k, k+1)
			continue
		}
		of[classes[k]] = left
	}
	return indices
}

// sharesOfClasses gives all stored classes equal parts of a batch. That is exact where no class can
// run out of samples in it, and where all samples fit into it.
func sharesOfClasses(store *memory.Store, _ []int, batch int) []float64 {
	shares := slices.Repeat([]float64{1 / float64(store.Len())}, store.Len())
	if store.Len() <= batch {
		return shares
	}
	of, _ := grouped(store.Len(), func(i int) int { return store.Item(i).Class })
	for i := range shares {
		shares[i] = 1 / float64(len(of[store.Item(i).Class])) / float64(len(of))
	}
	return shares
}
