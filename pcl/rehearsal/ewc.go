package rehearsal

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// EWC is the part "ewc", online elastic weight consolidation (docs/method.md §8.7): a penalty row
// that holds the shared parameters where they were when a task last ended, each as firmly as the
// Fisher information of the tasks that have ended says.
type EWC struct {
	Lambda  *float64 `param:"lambda" default:"100" range:"[0,1e12]" doc:"λ ≥ 0, weight of the penalty; 0 leaves it out"`
	Decay   *float64 `param:"decay" default:"1" range:"[0,1]" doc:"γ in [0, 1], by which old information is multiplied when a task ends"`
	Samples float64  `param:"samples" default:"20" range:"whole [1,1e6]" doc:"number of samples of each class of a task from which its information is estimated, at least 1"`
	Group   float64  `param:"group" default:"1" range:"whole [1,1e6]" doc:"number of samples whose gradients are added up before they are squared, at least 1; with batch normalisation, which needs several samples, take more than 1"`
	Rows    RowsSeen `param:"rows" default:"joined" choices:"joined,apart" doc:"whether the rule sees the penalty as a part of the memory's row or as a row of its own"`
}

func init() {
	Register(Info{
		Name: "ewc", Title: "EWC",
		Does: "a penalty ½λΣF(θ−θ*)², where θ* are the parameters when the last task ended and F is the Fisher " +
			"information of the tasks that have ended",
		Source: "Kirkpatrick et al., Overcoming Catastrophic Forgetting in Neural Networks, PNAS 2017 (arXiv 1612.00796); " +
			"online form of Schwarz et al., Progress & Compress, ICML 2018 (arXiv 1805.06370)",
		Cost: "O(P); a gradient for each group of samples when a task ends", State: "two vectors of P: F and θ*",
		Axes: []string{"penalty"},
	}, func() Part { return new(EWC) })
}

// Join adds the penalty.
func (e *EWC) Join(r *Rehearsal) error {
	if *e.Lambda != 0 {
		r.Penalty = &ewc{lambda: *e.Lambda, decay: *e.Decay, samples: int(e.Samples), group: int(e.Group)}
		r.SeparatePenalty = e.Rows == RowsApart
	}
	return nil
}

type ewc struct {
	lambda, decay  float64
	samples, group int
	quadraticPenalty
}

// Samples is the number of samples of a class that are needed.
func (e *ewc) Samples() int { return e.samples }

// Penalise pulls towards θ*.
func (e *ewc) Penalise(ctx PenaltyContext) (float64, []float32, error) { return e.pull(ctx, e.lambda) }

// Consolidate takes in the information of a task's samples: of those given or, if there are none,
// of those in the memory.
func (e *ewc) Consolidate(ctx PenaltyContext, id int, samples []memory.Item) error {
	if len(samples) == 0 {
		samples = ctx.Memory().Items(placesOf(ctx.Memory(), id))
	}
	if len(samples) == 0 {
		return nil
	}
	theta, err := ctx.Parameters()
	if err != nil {
		return err
	}
	sum, n, err := squares(ctx, samples, min(e.group, ctx.Batch()), len(theta))
	if err != nil {
		return err
	}
	if e.Stiffness == nil {
		e.Stiffness = make([]float64, len(theta))
	}
	for p, x := range sum {
		e.Stiffness[p] = e.decay*e.Stiffness[p] + x/float64(max(1, n))
	}
	e.Anchor = slices.Clone(theta)
	return nil
}

// squares sums the squared gradients of groups of samples, and counts the samples. It skips groups
// whose gradient is not finite.
func squares(ctx PenaltyContext, samples []memory.Item, group, parameters int) (sum []float64, n int, err error) {
	sum = make([]float64, parameters)
	for some := range slices.Chunk(samples, group) {
		mean, err := ctx.TaskGradient(some)
		switch {
		case err != nil:
			return nil, 0, err
		case len(mean) != parameters:
			return nil, 0, fmt.Errorf("ewc: a gradient of %d entries for %d parameters", len(mean), parameters)
		}
		if !fp.Finite(mean) {
			continue
		}
		n += len(some)
		for p, g := range mean {
			x := float64(len(some)) * float64(g)
			sum[p] += x * x
		}
	}
	return sum, n, nil
}

// UnmarshalState restores F and θ*.
func (e *ewc) UnmarshalState(data json.RawMessage) error { return e.restore(data, false) }
