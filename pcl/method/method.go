// Package method holds the methods: rules that turn the gradients Jᵢ of several streams into the
// weights wᵢ of one step along d = Σᵢ wᵢJᵢ (docs/method.md). A method is a struct, such as
// &EMGDGMC{Tau: 10}: its exported fields are its settings, of which zero values stand for defaults,
// and its other fields what it remembers, so that each learner needs one of its own. There is one
// file for each rule. [Compose] joins a method with parts of a rehearsal, [New] makes one by its
// name, and [Register] gives a name to one of your own.
//
// Each row Jᵢ is the gradient of one stream: first the memory, if there is any, then the tasks in
// order of arrival. All arithmetic on rows is in float64 and does not depend on the
// machine-learning framework. A method keys its memory of a stream by the stream's id, so that
// streams can join and leave at any step. That memory is saved and restored with the run.
//
// A rule of your own needs two methods and, to have a name, Register:
//
//	type power struct {
//		P *float64 `param:"p" default:"1" range:"[0,10]" doc:"wᵢ = 1/‖Jᵢ‖ᵖ; with 0 all weigh the same"`
//	}
//
//	func (*power) Needs() method.Needs { return method.Needs{Gram: true} }
//
//	func (r *power) Weights(s *method.Step, w []float64) (method.Outcome, error) {
//		for i := range w {
//			w[i] = 1 / max(1e-9, math.Pow(s.Gram[i*len(w)+i], *r.P/2))
//		}
//		return method.Outcome{}, nil
//	}
//
//	func init() {
//		method.Register(method.Info{Name: "power", Title: "Power"}, func() method.Method { return new(power) })
//	}
//
// A tagged field is a parameter: param is its name, default its value where the field is zero,
// range an interval such as "[0,1)", with "whole" before it for whole numbers, choices the texts
// that are allowed, and doc its description; where 0 is a legal setting that is not the default,
// the field is a pointer, set with new(0.0) (see package params).
package method

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
)

// MemoryID is the stream id of the rehearsal memory; tasks have ids from 1 on.
const MemoryID = 0

// Step is the input of a method in one training step, with K active streams.
type Step struct {
	// IDs are the streams' ids: first Memory, if it takes part, then the tasks in order of arrival.
	// Where the memory has several rows, such as one for each finished task, the others have ids
	// below Memory.
	IDs []int
	// Losses are the mean losses ℓᵢ of the K batches; nil if the caller has none.
	Losses []float64
	// Gram is M = JJᵀ, a K×K matrix stored row by row, so that ‖Jᵢ‖² is Gram[i*K+i]; nil if the
	// method's [Needs] do not ask for it. The caller guarantees that the longest gradient has a
	// length in [1e-120, 1e120] or that all are 0, so a rule may use Gram as it is. Callers of a
	// rule pass other gradients through [emgd.NewProblem] or [emgd.FromGradients] first.
	Gram []float64
	// Problem is the result of that; nil if Gram did not need it, and a rule of your own need not
	// read it. Gram and Cross are then in the unit of [emgd.Problem.Gram].
	Problem *emgd.Problem
	// Rows are the K gradients themselves, all of the same length; nil if [Needs] do not ask for
	// them. They belong to the caller: a method that wants to keep one must copy it.
	Rows [][]float64
	// Cross holds inner products of gradients of the two halves of each batch, a K×K matrix stored
	// row by row. Entry (i,j) is ⟨Jᵢ of the first half, Jⱼ of the second half⟩. It is nil if
	// [Needs] do not ask for it.
	Cross []float64
	// Rand is a source of random numbers for rules that draw. It is seeded by the run, and its
	// state is saved with it.
	Rand *rand.Rand
}

// k is the number of rows.
func (s *Step) k() int { return len(s.IDs) }

// Info describes a method to people.
type Info struct {
	Name   string `json:"name"`   // as on the command line, e.g. "emgd-gmc"
	Title  string `json:"title"`  // as in print, e.g. "EMGD (GMC)"
	Family string `json:"family"` // "mtl", "scl" or "pcl"
	Rule   string `json:"rule"`   // the rule in one line
	Source string `json:"source"` // the publication to cite
	Cost   string `json:"cost"`   // cost of a step, in forward (F) and backward (B) passes
	State  string `json:"state"`  // what is remembered between steps, or "none"
	SumW   string `json:"sum_w"`  // the sum of the weights (docs/method.md §1.4)
}

// Needs says what a method asks of whoever calls it.
type Needs struct {
	// Gram, Losses, Rows and Cross say which fields of [Step] Weights reads. A method that needs
	// the rows must ask for the Gram matrix too.
	Gram   bool `json:"needs_gram"`
	Losses bool `json:"needs_losses"`
	Rows   bool `json:"needs_rows"`
	Cross  bool `json:"needs_cross"`
	// PositiveLosses refuses a step with a loss that is negative or not finite.
	PositiveLosses bool `json:"-"`
	// Direction says that d need not be a weighted sum of the rows: the step is made along
	// Outcome.Direction.
	Direction bool `json:"direct"`
}

// Outcome is what a method returns for one step besides the weights.
type Outcome struct {
	// Certificate proves that the weights are optimal; nil for methods without a proof. With
	// "rescale" it is about the weights before they were rescaled, which it has as Lambda. It is
	// valid until the method is called again.
	Certificate *emgd.Certificate
	// Direction is d, for methods with Needs.Direction. It is as long as the rows, and valid until
	// the method is called again. The weights are then only nominal: the share that each row may be
	// said to have in d.
	Direction []float64
	// Dropped lists the ids of rows that were left out because their gradient is negligible beside
	// the longest one. They have weight 0. If no row is left, the weights are equal; d is then 0
	// for any weights.
	Dropped []int
	// Summed is the step as the rule of a composition saw it, if it saw the memory's rows as one;
	// nil otherwise. A certificate is then about these rows. It is valid until the method is called
	// again.
	Summed *Summed
}

// CheckDirection returns an error if the direction that a method returned does not fit its needs or
// the length of the rows. Code that calls methods of others should call it.
func (o *Outcome) CheckDirection(n Needs, columns int) error {
	switch d := o.Direction; {
	case n.Direction && d == nil:
		return errors.New("it returned no Outcome.Direction, although Needs.Direction is set")
	case !n.Direction && d != nil:
		return errors.New("it returned an Outcome.Direction; want Needs.Direction to be set for that")
	case d != nil && len(d) != columns:
		return fmt.Errorf("it returned an Outcome.Direction of %d entries; the rows have %d", len(d), columns)
	}
	return nil
}

// Summed is a step in which the memory's rows are one row, their sum (docs/method.md §8.2).
type Summed struct {
	IDs          []int     // Memory, then the tasks
	Losses, Gram []float64 // nil where the rule does not ask for them
	Weights      []float64
	RowOf        []int // for each row of the step, the row of this one that it is, or is a part of
}

// Method computes the weights of a step. Its parameters are its tagged fields (package params). It
// can do more by implementing a role: [Starter], [Stateful], [Follower], [Idler], [Rehearser],
// [Describer], or a role of a rehearsal, such as [rehearsal.Objective].
type Method interface {
	// Needs says what Weights reads of a step.
	Needs() Needs
	// Weights writes the K weights to w. The step is then made along d = Σ wᵢJᵢ, for example as θ ←
	// θ − γd. Its errors do not name the method: the caller does.
	Weights(s *Step, w []float64) (Outcome, error)
}

// enter begins a step of a method of this package. The first step of one that embeds setup sets it
// up. It panics if the step's fields do not fit together, or if a field is missing that the method
// needs.
func (s *Step) enter(m Method, w []float64) error {
	if own, ok := m.(interface{ stage() *setup }); ok && !own.stage().begun {
		if err := begin(m); err != nil {
			return err
		}
	}
	needs := m.Needs()
	if wrong := s.misfit(needs, w); wrong != "" {
		panic("method " + Describe(m).Name + ": " + wrong)
	}
	for i, x := range s.Losses {
		if needs.PositiveLosses && (!(x >= 0) || math.IsInf(x, 1)) {
			return fmt.Errorf("the loss of stream %d is %g; want a finite number ≥ 0", s.IDs[i], x)
		}
	}
	return nil
}

// misfit says what does not fit together; "" if all does.
func (s *Step) misfit(needs Needs, w []float64) string {
	k := s.k()
	switch {
	case k == 0:
		return "no active stream"
	case len(w) != k:
		return fmt.Sprintf("w has length %d for %d streams", len(w), k)
	case needs.Gram && len(s.Gram) != k*k:
		return fmt.Sprintf("the Gram matrix has %d entries for %d streams; want %d", len(s.Gram), k, k*k)
	case needs.Cross && len(s.Cross) != k*k:
		return fmt.Sprintf("the cross-Gram matrix has %d entries for %d streams; want %d", len(s.Cross), k, k*k)
	case needs.Rows && len(s.Rows) != k:
		return fmt.Sprintf("%d gradients for %d streams; it needs the rows themselves, not only their Gram matrix",
			len(s.Rows), k)
	case needs.Losses && len(s.Losses) != k:
		return fmt.Sprintf("%d losses for %d streams", len(s.Losses), k)
	case needs.Rows && slices.ContainsFunc(s.Rows, func(row []float64) bool {
		return len(row) != len(s.Rows[0]) || len(row) == 0
	}):
		return "the gradients are empty or differ in their number of entries"
	}
	return ""
}

// random is the source of a rule that draws.
func (s *Step) random() *rand.Rand {
	if s.Rand == nil {
		panic("method: the rule draws at random, and the Step has no Rand")
	}
	return s.Rand
}

// problem is the step's Gram matrix in the form that a solver takes.
func (s *Step) problem() (*emgd.Problem, error) {
	if s.Problem != nil {
		return s.Problem, nil
	}
	return emgd.NewProblem(s.Gram)
}

// exponent is the power of two by which the gradients behind Gram were divided: 0 for gradients of
// ordinary size.
func (s *Step) exponent() int {
	if s.Problem != nil {
		return s.Problem.Exponent()
	}
	return 0
}
