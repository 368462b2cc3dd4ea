// Package method holds the methods: rules that turn the gradients Jᵢ of several streams into the weights wᵢ of one
// step along d = Σᵢ wᵢJᵢ (docs/method.md). Begin with [New], which makes a method by its name, with [Make], which makes it
// of a struct such as EMGDGMC{Tau: 10}, or with [Register] for a method of your own. There is one file for each rule.
//
// Each row Jᵢ is the gradient of one stream: first the memory, if there is any, then the tasks in order of arrival.
// All arithmetic on rows is in float64 and does not depend on the machine-learning framework. A method keys its memory
// of a stream by the stream's id, so that streams can join and leave at any step. That memory is saved and restored with
// the run.
package method

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fail"
)

// Memory is the stream id of the rehearsal memory; tasks have ids from 1 on.
const Memory = 0

// Step is the input of a method in one training step, with K active streams.
type Step struct {
	// IDs are the streams' ids: first Memory, if it takes part, then the tasks in order of arrival. Where the memory has
	// several rows, such as one for each finished task, the others have ids below Memory.
	IDs []int
	// Losses are the mean losses ℓᵢ of the K batches; nil if the caller has none.
	Losses []float64
	// Gram is M = JJᵀ, a K×K matrix stored row by row; nil if the method's [Info] does not ask for it. The
	// gradients have lengths between 1e-120 and 1e120; pass others through [emgd.NewProblem] or [emgd.FromGradients] first.
	Gram []float64
	// Problem is the result of that; nil if Gram did not need it. Gram and Cross are then in the unit of [emgd.Problem.Gram].
	Problem *emgd.Problem
	// Rows are the K gradients themselves, all of the same length; nil if [Info] does not ask for them. They belong
	// to the caller: a method that wants to keep one must copy it.
	Rows [][]float64
	// Cross holds inner products of gradients of the two halves of each batch, a K×K matrix stored row by row. Entry
	// (i,j) is ⟨Jᵢ of the first half, Jⱼ of the second half⟩. It is nil if [Info] does not ask for it.
	Cross []float64
	// Rand is a source of random numbers for rules that draw. It is seeded by the run, and its state is saved with it.
	Rand *rand.Rand
}

// k is the number of rows.
func (s *Step) k() int { return len(s.IDs) }

// Info describes a method, for people and for the learner.
type Info struct {
	Name   string `json:"name"`   // as on the command line, e.g. "emgd-gmc"
	Title  string `json:"title"`  // as in print, e.g. "EMGD (GMC)"
	Family string `json:"family"` // "mtl", "scl" or "pcl"
	Rule   string `json:"rule"`   // the rule in one line
	Source string `json:"source"` // the publication to cite
	Cost   string `json:"cost"`   // cost of a step, in forward (F) and backward (B) passes
	State  string `json:"state"`  // what is remembered between steps, or "none"
	SumW   string `json:"sum_w"`  // the sum of the weights (docs/method.md §1.4)
	// NeedsGram, NeedsLosses, NeedsRows and NeedsCross say which fields of [Step] Weights reads. A method that needs
	// the rows must ask for the Gram matrix too.
	NeedsGram   bool `json:"needs_gram"`
	NeedsLosses bool `json:"needs_losses"`
	NeedsRows   bool `json:"needs_rows"`
	NeedsCross  bool `json:"needs_cross"`
	// PositiveLosses refuses a step with a loss that is negative or not finite.
	PositiveLosses bool `json:"-"`
	// Direct says that d need not be a weighted sum of the rows. The method then returns d as Outcome.Direction.
	Direct bool `json:"direct"`
}

// Outcome is what a method returns for one step besides the weights.
type Outcome struct {
	// Certificate proves that the weights are optimal; nil for methods without a proof. With "rescale" it is about the
	// weights before they were rescaled, which it has as Lambda. It is valid until the method is called again.
	Certificate *emgd.Certificate
	// Direction is d, for methods with Info.Direct. It is as long as the rows, and valid until the method is called
	// again. The weights are then only nominal: the share that each row may be said to have in d.
	Direction []float64
	// Dropped lists the ids of rows that were left out because their gradient is negligible beside the longest one.
	// They have weight 0. If no row is left, the weights are equal; d is then 0 for any weights.
	Dropped []int
	// Joined is the step as the rule of a composition saw it, if it saw the memory's rows as one; nil otherwise. A certificate is
	// then about these rows. It is valid until the method is called again.
	Joined *Joined
}

// CheckDirection returns an error if the direction that a method returned does not fit its Info or the length of the rows.
// Code that calls methods of others should call it.
func (o *Outcome) CheckDirection(info Info, columns int) error {
	switch d := o.Direction; {
	case info.Direct && d == nil:
		return fmt.Errorf("method %s returned no Outcome.Direction, although its Info has Direct", info.Name)
	case !info.Direct && d != nil:
		return fmt.Errorf("method %s returned an Outcome.Direction, for which its Info needs Direct", info.Name)
	case d != nil && len(d) != columns:
		return fmt.Errorf("method %s returned an Outcome.Direction of %d entries; the rows have %d", info.Name, len(d), columns)
	}
	return nil
}

// Joined is a step in which the memory's rows are one row, their sum (docs/method.md §8.2).
type Joined struct {
	IDs          []int     // Memory, then the tasks
	Losses, Gram []float64 // nil where the rule does not ask for them
	Weights      []float64
	To           []int // for each row of the step, the row of this one that it is, or is a part of
}

// Method computes the weights of a step. A method can do more by implementing a role: [Stateful], [Follower], [Idler],
// or a role of a rehearsal, such as [rehearsal.Objective].
type Method interface {
	Info() Info
	// Weights writes the K weights to w. The step is then made along d = Σ wᵢJᵢ, for example as θ ← θ − γd.
	// Its errors do not name the method: the caller does.
	Weights(s *Step, w []float64) (Outcome, error)
}

// check panics if the step's fields do not fit together, or if a field is missing that the method needs. It fails if there is a
// loss that the method cannot take.
func (s *Step) check(info Info, w []float64) {
	k := s.k()
	refuse := func(format string, values ...any) {
		panic("method " + info.Name + ": " + fmt.Sprintf(format, values...))
	}
	switch {
	case k == 0:
		refuse("no active stream")
	case len(w) != k:
		refuse("w has length %d for %d streams", len(w), k)
	case info.NeedsGram && len(s.Gram) != k*k:
		refuse("the Gram matrix has %d entries for %d streams; want %d", len(s.Gram), k, k*k)
	case info.NeedsCross && len(s.Cross) != k*k:
		refuse("the cross-Gram matrix has %d entries for %d streams; want %d", len(s.Cross), k, k*k)
	case info.NeedsRows && len(s.Rows) != k:
		refuse("%d gradients for %d streams; it needs the rows themselves, not only their Gram matrix", len(s.Rows), k)
	case info.NeedsLosses && len(s.Losses) != k:
		refuse("%d losses for %d streams", len(s.Losses), k)
	case info.NeedsRows && slices.ContainsFunc(s.Rows, func(row []float64) bool { return len(row) != len(s.Rows[0]) || len(row) == 0 }):
		refuse("the gradients are empty or differ in their number of entries")
	}
	for i, x := range s.Losses {
		if info.PositiveLosses && (!(x >= 0) || math.IsInf(x, 1)) {
			fail.If(fmt.Errorf("the loss of stream %d is %g; want a finite number ≥ 0", s.IDs[i], x))
		}
	}
}

// random is the source of a rule that draws.
func (s *Step) random() *rand.Rand {
	if s.Rand == nil {
		panic("method: the rule draws at random, and the Step has no Rand")
	}
	return s.Rand
}

// problem is the step's Gram matrix in the form that a solver takes.
func (s *Step) problem() *emgd.Problem {
	if s.Problem != nil {
		return s.Problem
	}
	return problemOf(s.Gram)
}

// exponent is the power of two by which the gradients behind Gram were divided: 0 for gradients of ordinary size.
func (s *Step) exponent() int {
	if s.Problem != nil {
		return s.Problem.Exponent()
	}
	return 0
}
