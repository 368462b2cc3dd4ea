package rehearsal

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// This file holds what is shared by parts that choose samples of the memory or fill it.

// anyOf returns at most n of the indices, at random and in random order.
func anyOf(indices []int, n int, r *rand.Rand) []int {
	n = min(n, len(indices))
	out := make([]int, n)
	for k, p := range r.Perm(len(indices))[:n] {
		out[k] = indices[p]
	}
	return out
}

// everyIndex lists the samples of a store.
func everyIndex(s *memory.Store) []int {
	all := make([]int, s.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// placesOf lists the samples of a task.
func placesOf(s *memory.Store, task int) []int {
	return slices.DeleteFunc(everyIndex(s), func(i int) bool { return s.Item(i).Task != task })
}

// classesMet counts the classes that are stored or in the samples: those that a store has places
// for.
func classesMet(s *memory.Store, samples [][]memory.Item) int {
	met := map[int]bool{}
	for i := range s.Len() {
		met[s.Item(i).Class] = true
	}
	for _, batch := range samples {
		for _, it := range batch {
			met[it.Class] = true
		}
	}
	return len(met)
}

// editPixels moves the pixels of a stored sample by rate·direction within [0,1]. Entries that are
// not finite move nothing, and a sample that stays as it was does not count as edited.
func editPixels(s *memory.Store, i int, rate float64, direction func(p int) float64) {
	old, changed := s.Item(i).Pixels, false
	pixels := make([]float32, len(old))
	for p, x := range old {
		pixels[p] = x
		if y := float64(x) + rate*direction(p); !math.IsNaN(y) && !math.IsInf(y, 0) {
			pixels[p] = float32(min(max(y, 0), 1))
		}
		changed = changed || pixels[p] != x
	}
	if changed {
		s.Edit(i, pixels)
	}
}

// grouped lists which of n samples each group has, and the groups in the order in which they
// appear.
func grouped(n int, group func(i int) int) (of map[int][]int, order []int) {
	of = map[int][]int{}
	for i := range n {
		g := group(i)
		if of[g] == nil {
			order = append(order, g)
		}
		of[g] = append(of[g], i)
	}
	return of, order
}
