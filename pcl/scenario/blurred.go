package scenario

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// Part is one of several equal parts of the training samples of a class, counted from 0. Tasks that
// share a class have different parts of it. The zero value stands for all samples.
type Part struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

// len returns how many of n samples belong to the part.
func (p Part) len(n int) int {
	if p.Of == 0 {
		return n
	}
	return (n - p.Index + p.Of - 1) / p.Of
}

// bad reports whether the part is neither one of several nor the zero value.
func (p Part) bad() bool { return p != Part{} && (p.Index < 0 || p.Index >= p.Of || p.Of > limit) }

// blurredSets cuts the classes 0…classes−1, in random order, into tasks of size classes each, of
// which every task has the first overlap classes in common with the one before it (docs/protocol.md
// §1.6), and a part of its own of each.
func blurredSets(classes, tasks, size, overlap int, labelset uint64) ([]Task, error) {
	step := size - overlap
	if overlap < 1 || step < 1 || tasks < 1 || tasks > classes || size > classes || size+(tasks-1)*step != classes {
		return nil, fmt.Errorf("%d tasks of %d classes, of which neighbours share %d, do not make %d classes",
			tasks, size, overlap, classes)
	}
	order := seed.New(labelset, "blurred", classes, tasks, size, overlap).Perm(classes)
	sets, having := make([]Task, tasks), make([]int, classes) // how many tasks have each class
	for t := range sets {
		sets[t] = Task{Classes: order[t*step : t*step+size : t*step+size], Parts: make([]Part, size)}
		for i, c := range sets[t].Classes {
			sets[t].Parts[i].Index = having[c]
			having[c]++
		}
	}
	for _, set := range sets {
		for i, c := range set.Classes {
			if having[c] > 1 {
				set.Parts[i].Of = having[c]
			}
		}
	}
	return sets, nil
}
