package rehearsal

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// SI is the part "si", synaptic intelligence (docs/method.md §8.7): a penalty row like that of
// [EWC], which holds a parameter the more firmly, the more its changes have lowered the losses.
type SI struct {
	C    *float64 `param:"c" default:"10" range:"[0,1e12]" doc:"c ≥ 0, weight of the penalty; 0 leaves it out"`
	Xi   float64  `param:"xi" default:"0.1" range:"[1e-12,1e12]" doc:"ξ > 0, added to the square of how far a parameter has moved"`
	Rows RowsSeen `param:"rows" default:"joined" choices:"joined,apart" doc:"whether the rule sees the penalty as a part of the memory's row or as a row of its own"`
}

func init() {
	Register(Info{
		Name: "si", Title: "SI",
		Does: "a penalty cΣΩ(θ−θ*)², where θ* are the parameters when the last task ended and Ω adds up −Σ " +
			"g_cur·Δθ of the steps between two ends, divided by the square of the way plus ξ",
		Source: "Zenke, Poole & Ganguli, Continual Learning Through Synaptic Intelligence, ICML 2017 (arXiv 1703.04200)",
		Cost:   "O(P)", State: "three vectors of P: Ω, θ* and the sums since the last end",
		Axes: []string{"penalty"},
	}, func() Part { return new(SI) })
}

// Join adds the penalty.
func (s *SI) Join(r *Rehearsal) error {
	if *s.C != 0 {
		r.Penalty = &si{c: *s.C, xi: s.Xi}
		r.SeparatePenalty = s.Rows == RowsApart
	}
	return nil
}

type si struct {
	c, xi float64
	quadraticPenalty
	before []float32 // θ before the update that is being made
}

// Penalise pulls towards θ*, and notes where the step begins. Before the first end, θ* is where the
// run began.
func (s *si) Penalise(ctx PenaltyContext) (value float64, gradient []float32, err error) {
	theta, err := ctx.Parameters()
	if err != nil {
		return 0, nil, err
	}
	s.before = append(s.before[:0], theta...)
	if s.Anchor == nil {
		s.Anchor, s.Path = slices.Clone(theta), make([]float64, len(theta))
	}
	return s.pull(ctx, 2*s.c)
}

// AfterUpdate adds −g_cur·Δθ.
func (s *si) AfterUpdate(ctx PenaltyContext, current func() ([]float32, error)) error {
	after, err := ctx.Parameters()
	if err != nil {
		return err
	}
	g, err := current()
	if err != nil {
		return err
	}
	if len(g) != len(s.Path) || len(after) != len(s.Path) {
		return fmt.Errorf("si: a gradient of %d entries for %d parameters", len(g), len(s.Path))
	}
	if !fp.Finite(g) {
		return nil
	}
	for p, x := range g {
		s.Path[p] -= float64(x) * (float64(after[p]) - float64(s.before[p]))
	}
	return nil
}

// Samples returns 0: Consolidate needs none.
func (s *si) Samples() int { return 0 }

// Consolidate adds the positive sums to Ω, and starts again at the present parameters.
func (s *si) Consolidate(ctx PenaltyContext, _ int, _ []memory.Item) error {
	if s.Anchor == nil {
		return nil
	}
	theta, err := ctx.Parameters()
	if err != nil {
		return err
	}
	if s.Stiffness == nil {
		s.Stiffness = make([]float64, len(theta))
	}
	for p, x := range theta {
		way := float64(x) - float64(s.Anchor[p])
		s.Stiffness[p] += max(s.Path[p], 0) / (way*way + s.xi)
	}
	s.Anchor = slices.Clone(theta)
	clear(s.Path)
	return nil
}

// UnmarshalState restores Ω, θ* and the sums.
func (s *si) UnmarshalState(data json.RawMessage) error { return s.restore(data, true) }
