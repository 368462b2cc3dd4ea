package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// older is a part of a rehearsal that replays what was learnt first more often: a stored sample of
// the task that was the a-th to arrive has the weight 1/aᵖ when a batch is drawn.
type older struct {
	Power *float64 `param:"power" default:"1" range:"[0,100]" doc:"p ≥ 0; with 0 all stored samples are drawn alike"`
}

// Join sets the choice that the part makes; all others stay as they are.
func (o *older) Join(r *rehearsal.Rehearsal) error {
	r.Draw = func(ctx rehearsal.ReplayContext) ([]int, error) {
		return drawOlder(ctx, *o.Power), nil
	}
	return nil
}

// drawOlder draws a batch without repeats. The smallest of numbers that are drawn from exponential
// distributions belongs to each sample as often as the sample's rate, its weight, says.
func drawOlder(ctx rehearsal.ReplayContext, power float64) []int {
	store := ctx.Memory()
	indices, drawn := make([]int, store.Len()), make([]float64, store.Len())
	for i := range indices {
		indices[i], drawn[i] = i, ctx.Rand().ExpFloat64()*math.Pow(float64(store.Item(i).Task), power)
	}
	slices.SortFunc(indices, func(a, b int) int { return cmp.Compare(drawn[a], drawn[b]) })
	return indices[:min(ctx.Batch(), len(indices))]
}
