// Package toy is the paper's two-dimensional example of parallel continual learning (Fig. 2 of
// arXiv 2401.01054): plain gradient descent on an old task f1, which a new task f2 joins at step
// 500. It shows what a method does when a task arrives, in numbers that are quick to compute.
package toy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Settings describe one descent.
type Settings struct {
	Start   [2]float64 `json:"start"`   // (x, y)
	Steps   int        `json:"steps"`   // number of updates
	LR      float64    `json:"lr"`      // γ of θ ← θ − γd
	Arrival int        `json:"arrival"` // the first step with both tasks; before it there is f1 alone
	Seed    uint64     `json:"seed"`    // for methods that draw
}

// Figure2 returns the settings of the paper's figure (step size and length read off it;
// docs/protocol.md §5.1).
func Figure2() Settings {
	return Settings{Start: [2]float64{3, 3}, Steps: 1500, LR: 2e-5, Arrival: 500}
}

// maxSteps bounds the memory of a trace.
const maxSteps = 1_000_000

func (s Settings) check() error {
	switch {
	case !finite(s.Start[0]) || !finite(s.Start[1]):
		return fmt.Errorf("toy: start (%v, %v) is not finite", s.Start[0], s.Start[1])
	case s.Steps < 1:
		return fmt.Errorf("toy: %d steps; want at least 1", s.Steps)
	case s.Steps > maxSteps:
		return fmt.Errorf("toy: %d steps, each of which is kept; want at most %d", s.Steps, maxSteps)
	case !(s.LR > 0) || math.IsInf(s.LR, 1):
		return fmt.Errorf("toy: step size %v; want a positive number", s.LR)
	case s.Arrival < 0:
		return fmt.Errorf("toy: arrival at step %d; want 0 or later", s.Arrival)
	}
	return nil
}

func finite(x float64) bool { return x-x == 0 }

// Point is a place, with the values and gradient norms of both tasks there.
type Point struct {
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	F1    float64 `json:"f1"`
	F2    float64 `json:"f2"`
	Norm1 float64 `json:"norm1"` // ‖∇f1‖
	Norm2 float64 `json:"norm2"` // ‖∇f2‖
}

// Step is one update, seen from the point it starts at.
type Step struct {
	Point
	Index int `json:"step"` // from 0
	// Weights are w of d = w_1∇f1 + w_2∇f2; w_2 is 0 before the arrival.
	Weights [2]float64 `json:"weights"`
	// Direction is d for methods whose d does not follow from weights.
	Direction []float64 `json:"direction,omitempty"`
	// Slacks are ∇f_i·d − σ_i‖d‖² from the arrival on, for methods that come with a certificate; d
	// is that of the method before it is rescaled, if it is.
	Slacks []float64 `json:"slacks,omitempty"`
}

// Trace is a whole descent.
type Trace struct {
	Method   string   `json:"method"`
	Label    string   `json:"-"` // what figures call it; Method if it is empty
	Settings Settings `json:"settings"`
	Steps    []Step   `json:"steps"` // Settings.Steps of them
	End      Point    `json:"end"`   // after the last update
}

// Task ids as the method sees them.
const (
	task1 = 1
	task2 = 2
)

// Run descends on f1 alone, which needs no method, until the arrival, and with m from then on,
// which is of this run alone. It fails if the settings make no sense, if m fails, or if the descent
// leaves the range of float64 (the step size is then too large).
func Run(m method.Method, s Settings) (*Trace, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	at, err := method.Start(m)
	if err != nil {
		return nil, fmt.Errorf("toy: %w", err)
	}
	trace := &Trace{Method: at.Info.Name, Settings: s, Steps: make([]Step, 0, s.Steps)}
	rng := rand.New(rand.NewPCG(s.Seed, 0))
	x, y := s.Start[0], s.Start[1]
	for t := range s.Steps {
		point, g := gradientsAt(x, y)
		step := Step{Point: point, Index: t, Weights: [2]float64{1, 0}}
		if t >= s.Arrival {
			if err := weigh(at, rng, g, &step); err != nil {
				return nil, fmt.Errorf("toy: step %d at (%v, %v): %w", t, x, y, err)
			}
		}
		trace.Steps = append(trace.Steps, step)
		d := step.direction(g)
		x -= s.LR * d[0]
		y -= s.LR * d[1]
		if !finite(f1(x, y)) || !finite(f2(x, y)) {
			return nil, fmt.Errorf("toy: the descent diverges at step %d, (%v, %v); choose a step size below %v", t, x, y, s.LR)
		}
		if at.Follower != nil && t >= s.Arrival {
			if err := at.Follower.Follow([]int{task1, task2}, []float64{f1(x, y), f2(x, y)}); err != nil {
				return nil, fmt.Errorf("toy: step %d: %w", t, err)
			}
		}
	}
	trace.End = At(x, y)
	return trace, nil
}

// direction is d at the gradients g.
func (s *Step) direction(g [2][2]float64) [2]float64 {
	if s.Direction != nil {
		return [2]float64(s.Direction)
	}
	w := s.Weights
	return [2]float64{w[0]*g[0][0] + w[1]*g[1][0], w[0]*g[0][1] + w[1]*g[1][1]}
}

// At describes the place (x, y).
func At(x, y float64) Point {
	p, _ := gradientsAt(x, y)
	return p
}

// gradientsAt is [At] with the two gradients.
func gradientsAt(x, y float64) (Point, [2][2]float64) {
	var g [2][2]float64
	g[0][0], g[0][1] = grad1(x, y)
	g[1][0], g[1][1] = grad2(x, y)
	return Point{x, y, f1(x, y), f2(x, y), math.Hypot(g[0][0], g[0][1]), math.Hypot(g[1][0], g[1][1])}, g
}

// weigh asks m for the weights of the gradients g.
func weigh(m *method.Started, rng *rand.Rand, g [2][2]float64, step *Step) error {
	rows := [][]float64{g[0][:], g[1][:]}
	p, err := emgd.FromGradients(rows)
	if err != nil {
		return err
	}
	gram := p.Gram()
	// The functions are known exactly: two halves of a batch, which modo multiplies (Cross), would
	// have the same gradients.
	out, err := m.Method.Weights(&method.Step{
		IDs: []int{task1, task2}, Losses: []float64{step.F1, step.F2}, Gram: gram, Problem: p,
		Rows: rows, Cross: gram, Rand: rng,
	}, step.Weights[:])
	if err != nil {
		return fmt.Errorf("method %s: %w", m.Info.Name, err)
	}
	if err := out.CheckDirection(m.Needs, len(rows[0])); err != nil {
		return fmt.Errorf("method %s: %w", m.Info.Name, err)
	}
	step.Direction = slices.Clone(out.Direction)
	if c := out.Certificate; c != nil {
		for _, slack := range c.Slacks {
			step.Slacks = append(step.Slacks, math.Ldexp(slack, 2*c.Exponent))
		}
	}
	return nil
}
