// Package method has one file for each rule that turns the gradients of several streams into the weights of
// one step d = Σᵢ wᵢ Jᵢ (docs/method.md). Rows are ordered [memory, tasks by arrival]. All arithmetic on them
// is in float64 and independent of the machine-learning framework.
//
// A method is a value with explicit state. What it remembers is keyed by stream id, so that streams can join
// and leave at any step, and is saved and restored with the run.
package method

import (
	"fmt"
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/emgd"
)

// Memory is the stream id of the rehearsal memory; tasks have ids from 1 on.
const Memory = 0

// Step is what a method is given in one training step. K is the number of active streams.
type Step struct {
	// IDs names the rows: Memory first where it is active, then tasks by arrival.
	IDs []int
	// Losses are the mean losses ℓᵢ of the K batches; nil if the caller has none.
	Losses []float64
	// Gram is M = JJᵀ, row-major K×K; nil if the method's [Info] does not ask for it.
	Gram []float64
	// Exponent is 0 for gradients of ordinary size. If their products would leave the range of float64, Gram
	// and Cross belong to the gradients divided by 2^Exponent; see [emgd.Gram].
	Exponent int
	// Rows are the gradients themselves, K of equal length; nil if [Info] does not ask for them. They belong
	// to the caller: a method that wants to keep one copies it.
	Rows [][]float64
	// Cross holds the inner products of two independent halves of the batches, row-major K×K: entry
	// (i,j) is ⟨Jᵢ of the first half, Jⱼ of the second⟩; nil where [Info] does not ask for it.
	Cross []float64
	// Rand is the run's seeded source for rules that draw; its state is saved with the run.
	Rand *rand.Rand
}

// K returns the number of rows.
func (s *Step) K() int { return len(s.IDs) }

// Info describes a method for people and for the engine.
type Info struct {
	Name   string `json:"name"`   // as on the command line, e.g. "emgd-gmc"
	Title  string `json:"title"`  // as in print, e.g. "EMGD (GMC)"
	Family string `json:"family"` // "mtl", "scl" or "pcl"
	Rule   string `json:"rule"`   // the rule in one line
	Source string `json:"source"` // whom to cite
	Cost   string `json:"cost"`   // per step, in forward (F) and backward (B) passes
	State  string `json:"state"`  // what is remembered between steps; "none"
	SumW   string `json:"sum_w"`  // the declared Σw (docs/method.md §1.4)
	// NeedsGram says that Weights reads Step.Gram; NeedsLosses that it reads Step.Losses; NeedsRows,
	// which implies NeedsGram, Step.Rows; NeedsCross Step.Cross.
	NeedsGram   bool `json:"needs_gram"`
	NeedsLosses bool `json:"needs_losses"`
	NeedsRows   bool `json:"needs_rows"`
	NeedsCross  bool `json:"needs_cross"`
	// Direct says that d need not be a combination of the rows; the method returns it as Outcome.Direction.
	Direct bool `json:"direct"`
}

// Outcome is what a method returns for one step besides the weights.
type Outcome struct {
	// Certificate is the proof that came with the weights; nil for methods without one.
	// It is valid until the method's next call.
	Certificate *emgd.Certificate
	// Direction is d, for methods with Info.Direct: as long as the rows, and valid until the method's next
	// call. The weights are then the rows' nominal shares in it.
	Direction []float64
	// Dropped lists the ids of rows that were left out because their gradient is zero next to the longest
	// one. They have weight 0. If no row is left, the weights are equal, and d = 0 whatever they are.
	Dropped []int
}

// Method turns one step into weights. What it may do beyond that is in its roles: [Stateful],
// [Follower], [Objective], [Replayer], [Curator], [Storer], [Predictor].
type Method interface {
	Info() Info
	// Weights writes w (length K), to be used as d = Σ wᵢJᵢ with a step θ ← θ − γd.
	Weights(s *Step, w []float64) (Outcome, error)
}

func (s *Step) check(info Info, w []float64) error {
	k := s.K()
	switch {
	case k == 0:
		return fmt.Errorf("method %s: no active stream", info.Name)
	case len(w) != k:
		return fmt.Errorf("method %s: w has length %d for %d streams", info.Name, len(w), k)
	case info.NeedsGram && len(s.Gram) != k*k:
		return fmt.Errorf("method %s: the Gram matrix has %d entries for %d streams; want %d", info.Name, len(s.Gram), k, k*k)
	case info.NeedsCross && len(s.Cross) != k*k:
		return fmt.Errorf("method %s: the cross-Gram matrix has %d entries for %d streams; want %d", info.Name, len(s.Cross), k, k*k)
	case info.NeedsRows && len(s.Rows) != k:
		return fmt.Errorf("method %s: %d gradients for %d streams; it needs the rows themselves, not only their Gram matrix", info.Name, len(s.Rows), k)
	case s.Exponent < -2000 || s.Exponent > 2000:
		return fmt.Errorf("method %s: the gradients are divided by 2^%d; no length in float64 needs that", info.Name, s.Exponent)
	case info.NeedsLosses && len(s.Losses) != k:
		return fmt.Errorf("method %s: %d losses for %d streams", info.Name, len(s.Losses), k)
	}
	if info.NeedsRows {
		for i, row := range s.Rows {
			if len(row) != len(s.Rows[0]) || len(row) == 0 {
				return fmt.Errorf("method %s: gradient %d has %d entries, the first has %d", info.Name, i, len(row), len(s.Rows[0]))
			}
		}
	}
	return nil
}
