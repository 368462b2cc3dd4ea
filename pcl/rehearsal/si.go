package rehearsal

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// SI is the part "si", synaptic intelligence (docs/method.md §8.7): a penalty row like that of [EWC], where how firmly a
// parameter is held comes from how much its way through training has lowered the losses.
type SI struct {
	C    *float64 `param:"c" default:"10" range:"[0,1e12]" doc:"c ≥ 0, weight of the penalty; 0 leaves it out"`
	Xi   float64  `param:"xi" default:"0.1" range:"[1e-12,1e12]" doc:"ξ > 0, added to the square of how far a parameter has moved"`
	Rows string   `param:"rows" default:"joined" choices:"joined,apart" doc:"whether the rule sees the penalty as a part of the memory's row or as a row of its own"`
}

func (SI) Info() Info {
	return Info{
		Name: "si", Title: "SI",
		Does:   "a penalty cΣΩ(θ−θ*)², where θ* are the parameters when the last task ended and Ω adds up −Σ g_cur·Δθ of the steps between two ends, divided by the square of the way plus ξ",
		Source: "Zenke, Poole & Ganguli, Continual Learning Through Synaptic Intelligence, ICML 2017 (arXiv 1703.04200)",
		Cost:   "O(P)", State: "three vectors of P: Ω, θ* and the sums since the last end",
		Axes: []Axis{Penalising},
	}
}

// Join adds the penalty.
func (s SI) Join(r *Rehearsal) error {
	if *s.C != 0 {
		r.Penalty = &si{c: *s.C, xi: s.Xi}
		r.PenaltyApart = s.Rows == "apart"
	}
	return nil
}

type si struct {
	c, xi float64
	spring
	path   fp.Bits[float64] // what each parameter's way has lowered the losses by since the last end
	before []float32        // θ before the update that is being made
}

// Penalise pulls towards θ*, and notes where the step begins. Before the first end, θ* is where the run began.
func (s *si) Penalise(lab PenaltyLab) (value float64, gradient []float32, err error) {
	theta, err := lab.Parameters()
	if err != nil {
		return 0, nil, err
	}
	s.before = append(s.before[:0], theta...)
	if s.Anchor == nil {
		s.Anchor, s.path = slices.Clone(theta), make([]float64, len(theta))
	}
	return s.pull(lab, 2*s.c)
}

// Moved adds −g_cur·Δθ.
func (s *si) Moved(lab MovedLab) error {
	after, err := lab.Parameters()
	if err != nil {
		return err
	}
	g, err := lab.Current()
	if err != nil {
		return err
	}
	if len(g) != len(s.path) || len(after) != len(s.path) {
		return fmt.Errorf("si: a gradient of %d entries for %d parameters", len(g), len(s.path))
	}
	if !fp.Finite(g) {
		return nil
	}
	for p, x := range g {
		s.path[p] -= float64(x) * (float64(after[p]) - float64(s.before[p]))
	}
	return nil
}

// Replaced begins the sums anew, too: the way to given parameters has lowered no loss.
func (s *si) Replaced(lab PenaltyLab) error {
	clear(s.path)
	return s.spring.Replaced(lab)
}

// Samples asks for none.
func (s *si) Samples() int { return 0 }

// Consolidate adds what was summed up to Ω, where it is positive, and begins anew at the present parameters.
func (s *si) Consolidate(lab PenaltyLab, _ int, _ []memory.Item) error {
	theta, err := lab.Parameters()
	if err != nil || s.Anchor == nil {
		return err
	}
	if s.Stiffness == nil {
		s.Stiffness = make([]float64, len(theta))
	}
	for p, x := range theta {
		way := float64(x) - float64(s.Anchor[p])
		s.Stiffness[p] += max(s.path[p], 0) / (way*way + s.xi)
	}
	s.Anchor = slices.Clone(theta)
	clear(s.path)
	return nil
}

type siState struct {
	spring
	Path fp.Bits[float64] `json:"path,omitempty"`
}

// MarshalState keeps Ω, θ* and the sums.
func (s *si) MarshalState() (json.RawMessage, error) { return json.Marshal(siState{s.spring, s.path}) }

// UnmarshalState restores them.
func (s *si) UnmarshalState(data json.RawMessage) error {
	var in siState
	if err := jsonin.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("si: %w", err)
	}
	if err := in.check(); err != nil {
		return fmt.Errorf("si: %w", err)
	}
	if len(in.Path) != len(in.Anchor) {
		return fmt.Errorf("si: sums of %d parameters for %d anchors", len(in.Path), len(in.Anchor))
	}
	s.spring, s.path = in.spring, in.Path
	return nil
}
