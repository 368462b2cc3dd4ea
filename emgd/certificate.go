package emgd

import (
	"fmt"
	"slices"
	"strings"
)

// Status says how a solve ended.
type Status int

const (
	// Optimal: d ≠ 0 and the optimality conditions hold.
	Optimal Status = iota
	// Stationary: d cannot be told from 0 in float64 (see Cancellation); the point is Pareto
	// critical as far as the Gram matrix can say.
	Stationary
	// FloorBinding: optimal, with at least one weight at the floor.
	FloorBinding
	// FloorInfeasible: no λ ≥ floor has Σλ_iσ_i = 1; equal weights 1/Σσ were returned.
	FloorInfeasible
	// IllConditioned: some gradients are combinations of others to nearly the precision of M; the
	// conditions hold to Violation and not to 1e-9. It is mostly below 1e-7, and above 1e-6 only if
	// d is on the verge of Stationary or, twice in a million gradients of any size, their
	// combinations all but cancel.
	IllConditioned
	// IterationLimit: the iteration bound was reached; Violation and Gap say how far the weights
	// are from optimal.
	IterationLimit
	// RowsDropped: optimal for the rows that took part, but the slack of a dropped one is negative.
	RowsDropped
)

var statusNames = []string{"optimal", "stationary", "floor-binding", "floor-infeasible", "ill-conditioned",
	"iteration-limit", "rows-dropped"}

var statusMessages = []string{
	"optimal: the step decreases every loss in proportion to at least its elastic factor",
	"Pareto critical: these weights cancel the gradients to within rounding, so no direction is known to decrease every " +
		"loss; the shared parameters stay, private ones may still move; if this lasts although losses are high, try larger " +
		"batches, or drop converged streams",
	"optimal with some weights at the floor: streams at the floor may lose their guaranteed share; lower the floor to " +
		"get the guarantee back",
	"the floor is too high: λ ≥ floor and Σλσ = 1 contradict each other, so equal weights were used; choose a " +
		"floor below 1/Σσ",
	"the optimality conditions hold only up to the stated violation: some gradients repeat or cancel each other to " +
		"nearly the precision of the Gram matrix; harmless unless it lasts; if it does, check for streams that share their " +
		"data, and accumulate the Gram matrix in float64",
	"the iteration bound was reached before the optimality conditions held to rounding; see the violation; if it is " +
		"large, check that the Gram matrix was accumulated in float64",
	"the step decreases every loss whose gradient took part in proportion to at least its elastic factor, but " +
		"guarantees nothing to the rows left out, whose losses may rise; if that matters, bring the gradients to " +
		"comparable lengths",
}

// String returns the short name, e.g. "optimal".
func (s Status) String() string { return s.of(statusNames) }

// Message says in a sentence what the status means and what to try.
func (s Status) Message() string { return s.of(statusMessages) }

func (s Status) of(texts []string) string {
	if s < Optimal || s > RowsDropped {
		return fmt.Sprintf("unknown (%d)", int(s))
	}
	return texts[s]
}

// Certificate holds the weights of one solve and the proof of their optimality. Lambda,
// Sigma and Slacks have one entry per gradient, in the order of the Gram matrix.
//
// The proof: λ ≥ floor, Σλ_iσ_i = 1, every slack is ≥ 0, and a slack is 0 where λ_i is above the
// floor. Rounding is judged row by row against scale_i = ‖J_i‖‖d‖ + σ_i·max(‖d‖², |Level|). Rows in
// Dropped took no part. If one of them has a negative slack, no condition of the problem that was
// solved is broken, but the status is then RowsDropped or a worse one, never Optimal.
//
// Slacks, Norm2 and Level belong to the gradients divided by 2^Exponent. Wherever float64 can hold
// them, Exponent is 0 and they belong to the gradients themselves.
type Certificate struct {
	// Lambda are the weights λ_i of d = Σ λ_i J_i.
	Lambda []float64
	// Sigma are the elastic factors as given.
	Sigma []float64
	// Slacks are J_i·d − σ_i·Level: what stream i gains beyond its guaranteed share; 0 if
	// Stationary.
	Slacks []float64
	// Norm2 is ‖d‖²; 0 if Stationary.
	Norm2 float64
	// Level is the common J_i·d/σ_i of the active rows: ‖d‖² unless a floor binds.
	Level float64
	// Violation is the worst breach of the conditions by a row that took part: the largest of
	// −slack_i/scale_i, and of |slack_i|/scale_i over active rows. 0 if Stationary.
	Violation float64
	// Gap is how far complementary slackness is from holding: Σ(λ_i−floor)|slack_i| relative to
	// Σ(λ_i−floor)·scale_i.
	Gap float64
	// Cancellation is ‖d‖/Σλ_i‖J_i‖ as computed: 1 when all active gradients agree. Below about
	// 1e-6 it cannot be distinguished from 0 in float64, and the status is Stationary. The
	// certificate is about the Gram matrix as it was given. The rounding of that matrix alone
	// changes ‖d‖² by a relative 1e-16/Cancellation² or so, which [FromGradients] avoids.
	Cancellation float64
	// Floor is the floor on λ.
	Floor float64
	// Active lists the rows with λ_i above the floor.
	Active []int
	// Dropped lists the rows left out because their gradient is zero next to the others. They have
	// λ_i = 0, unless every row with a factor σ_i > 0 has a zero gradient: then d = 0 whatever the
	// weights are, and those rows get equal weights.
	Dropped []int
	// Exponent says in which unit Slacks, Norm2 and Level are given: they belong to the gradients
	// divided by 2^Exponent. It is mostly 0.
	Exponent int
	// Iterations counts changes of the active set; 0 for closed forms.
	Iterations int
	Status     Status
}

// Clone returns a copy that stays valid after the solver's next call.
func (c *Certificate) Clone() *Certificate {
	d := *c
	d.Lambda, d.Sigma, d.Slacks = slices.Clone(c.Lambda), slices.Clone(c.Sigma), slices.Clone(c.Slacks)
	d.Active, d.Dropped = slices.Clone(c.Active), slices.Clone(c.Dropped)
	return &d
}

// Message says in a sentence what the status means and what to try, and names the rows left out,
// counted from 0.
func (c *Certificate) Message() string {
	if len(c.Dropped) == 0 {
		return c.Status.Message()
	}
	rows := "row"
	if len(c.Dropped) > 1 {
		rows = "rows"
	}
	return fmt.Sprintf("%s; left out, as zero next to the longest gradient: %s %s (counted from 0)", c.Status.Message(),
		rows, strings.Trim(fmt.Sprint(c.Dropped), "[]"))
}
