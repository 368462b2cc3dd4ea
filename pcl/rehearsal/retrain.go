package rehearsal

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// Retrain is the part "gdumb": a new network is trained on the memory alone whenever a prediction
// is asked for (docs/method.md §5.8), by SGD with momentum, one warm pass, then cosine restarts
// whose cycles double from one pass on, with CutMix. With it comes the selection of [Greedy].
type Retrain struct {
	Passes float64  `param:"passes" default:"256" range:"whole [1,1e6]" doc:"number of passes over the memory before a prediction, at least 1; with a power of two, training ends at the lowest learning rate"`
	CutMix *float64 `param:"cutmix" default:"0.5" range:"[0,1]" doc:"probability in [0, 1] that CutMix mixes the images of a batch"`
	LR     float64  `param:"lr" default:"0.05" range:"[1e-12,1000]" doc:"largest learning rate, in (0, 1e3]"`
	MinLR  *float64 `param:"min_lr" default:"0.0005" range:"[0,1000]" doc:"smallest learning rate, from 0 to lr"`
}

func init() {
	Register(Info{
		Name: "gdumb", Title: "GDumb",
		Does: "the memory is filled with an equal number of samples of each class, and for predictions a new network is " +
			"trained on the memory alone",
		Source: "Prabhu, Torr & Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual Learning, ECCV " +
			"2020",
		Cost: "passes × (F+B) of the whole memory per evaluation", State: "only the memory",
		Axes: []string{"selection", "prediction"},
	}, func() Part { return new(Retrain) })
}

// Join sets what fills the memory and what predicts.
func (g *Retrain) Join(r *Rehearsal) error {
	if *g.MinLR > g.LR {
		return fmt.Errorf("min_lr is %g; want at most lr, which is %g", *g.MinLR, g.LR)
	}
	r.Store, r.Predict = storing(storeGreedily), retrained{g}
	return nil
}

// Settings that the paper fixes.
const (
	gdumbBatch    = 16
	gdumbMomentum = 0.9
	gdumbDecay    = 1e-6
	gdumbClip     = 10
	gdumbWarm     = 0.1 // of the largest rate, in the first pass
)

// retrained predicts with a network that it trains.
type retrained struct{ *Retrain }

// Prepare trains a new network on the store. Its draws depend on the step alone, so that evaluating
// changes nothing in the run.
func (g retrained) Prepare(ctx PredictContext) (err error) {
	if err := ctx.Reinitialize(); err != nil {
		return err
	}
	store, r := ctx.Memory(), seed.New(0, "gdumb", ctx.Step()).Rand
	size := max(1, min(gdumbBatch, ctx.Batch()/2)) // a mixed sample is two in a batch
	done, total := 0, int(g.Passes)*((store.Len()+size-1)/size)
	for pass := range int(g.Passes) {
		sgd := SGD{LR: g.rate(pass), Momentum: gdumbMomentum, Decay: gdumbDecay, Clip: gdumbClip}
		for batch := range slices.Chunk(r.Perm(store.Len()), size) {
			if err := ctx.Progress(done, total); err != nil {
				return err
			}
			done++
			samples, shares := store.Items(batch), []float64(nil)
			if r.Float64() < *g.CutMix && len(samples) > 1 {
				if samples, shares, err = cutmix(ctx, samples, r); err != nil {
					return err
				}
			}
			if err := ctx.TrainStep(samples, shares, sgd); err != nil {
				return err
			}
		}
	}
	return nil
}

// rate is the learning rate of a pass: cycles of 1, 2, 4, … passes after the warm one.
func (g *Retrain) rate(pass int) float64 {
	if pass == 0 {
		return gdumbWarm * g.LR
	}
	t, cycle := pass-1, 1
	for t >= cycle {
		t, cycle = t-cycle, 2*cycle
	}
	return *g.MinLR + (g.LR-*g.MinLR)*(1+math.Cos(math.Pi*float64(t)/float64(cycle)))/2
}

// Snapshot predicts with the new network.
func (retrained) Snapshot() (Point, Scorer) { return Retrained, nil }
