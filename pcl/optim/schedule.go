package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// Scheduled is an optimiser whose step size is multiplied by a factor that changes from step to
// step.
type Scheduled struct {
	Optimizer
	Schedule Schedule
}

// Schedule says how the step size changes. As tasks may arrive at any time, training has no end
// known in advance: a schedule either stays at its Floor in the end, or begins again.
type Schedule struct {
	// Kind says how:
	//   - linear: falls from 1 to Floor in Steps steps, and stays there.
	//   - cosine: falls from 1 to Floor along half a cosine in Steps steps, and then begins again (SGDR, Loshchilov &
	//     Hutter 2017, with periods of equal length).
	//   - step: is multiplied by Factor every Steps steps, but not below Floor.
	Kind   string  `json:"kind,omitempty" param:"kind" default:"constant" choices:"constant,linear,cosine,step" doc:"how the learning rate changes"`
	Steps  int     `json:"steps,omitempty" param:"steps" default:"0" range:"whole [0,inf)" doc:"length of one decay; for step, steps between two reductions"`
	Floor  float64 `json:"floor,omitempty" param:"floor" default:"0" range:"[0,1]" doc:"the least share of the learning rate"`
	Factor float64 `json:"factor,omitempty" param:"factor" default:"0" range:"[0,1]" doc:"factor of step, by which the learning rate is multiplied"`
	Warmup int     `json:"warmup,omitempty" param:"warmup" default:"0" range:"whole [0,inf)" doc:"steps at the beginning in which the learning rate rises"`
}

// check returns an error if the settings are not allowed.
func (s Schedule) check() error {
	full := s
	err := params.Fill(&full)
	decays := full.Kind != "constant"
	switch {
	case err != nil:
		return fmt.Errorf("schedule: %w", err)
	case !decays && (s.Steps != 0 || s.Floor != 0 || s.Factor != 0):
		return errors.New("schedule: steps, floor and factor belong to the kinds linear, cosine and step")
	case decays && s.Steps == 0:
		return fmt.Errorf("schedule: %s needs a number of steps", s.Kind)
	case (s.Kind == "step") != (s.Factor != 0):
		return errors.New("schedule: a factor belongs to the kind step, which needs one")
	}
	return nil
}

// at returns the factor of step t, counted from 1.
func (s Schedule) at(t int) float64 {
	if t <= s.Warmup {
		return float64(t) / float64(s.Warmup+1)
	}
	n := t - s.Warmup - 1 // steps since the warm-up
	if s.Steps < 1 {
		return 1 // which check refuses, or there is no schedule
	}
	switch s.Kind {
	case "linear":
		return 1 - (1-s.Floor)*min(1, float64(n)/float64(s.Steps))
	case "cosine":
		return s.Floor + (1-s.Floor)*(1+math.Cos(math.Pi*float64(n%s.Steps)/float64(s.Steps)))/2
	case "step":
		return max(s.Floor, math.Pow(s.Factor, float64(n/s.Steps)))
	}
	return 1
}

// Scalars returns those of the optimiser, of which the first, the step size, is multiplied by the
// factor of step t.
func (o Scheduled) Scalars(t int) []float32 {
	scalars := slices.Clone(o.Optimizer.Scalars(t))
	scalars[0] = float32(float64(scalars[0]) * o.Schedule.at(t))
	return scalars
}
