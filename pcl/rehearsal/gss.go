package rehearsal

import (
	"errors"
	"math"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// GSS is the part "gss": it keeps samples whose gradients point in different directions
// (docs/method.md §5.9). While the store has room, every sample is taken.
type GSS struct {
	Subsets    float64 `param:"subsets" default:"10" range:"whole [1,1e4]" doc:"n ≥ 1, number of random parts of the memory that a gradient is compared with"`
	SubsetSize float64 `param:"subset_size" default:"10" range:"whole [1,1e6]" doc:"number of samples in each part, from 1 to the batch size"`
	Threshold  float64 `param:"threshold" default:"0" range:"[-1,1]" doc:"cosine in [-1, 1]: only batches whose cosine with the memory is below it may replace samples"`
	ScoreAll   bool    `param:"score_all" default:"false" doc:"also score samples while the memory is not full, as in the official code, at the cost of a gradient for each"`
}

func init() {
	Register(Info{
		Name: "gss", Title: "GSS-Greedy",
		Does: "a new sample with score c replaces a stored one, which is drawn in proportion to its score cᵢ, with " +
			"probability cᵢ/(cᵢ+c); the score is 1 + the largest cosine of the sample's gradient with those of n random " +
			"parts of the memory",
		Source: "Aljundi et al., Gradient based sample selection for online continual learning, NeurIPS 2019 (arXiv " +
			"1903.08671)",
		Cost:  "(n+K_c)(F+B); a gradient per sample if a batch conflicts with the memory",
		State: "none, apart from the scores stored with the samples",
		Axes:  []string{"selection"},
	}, func() Part { return new(GSS) })
}

// Join sets what fills the memory.
func (g *GSS) Join(r *Rehearsal) error {
	r.Store = storing(g.store)
	return nil
}

// Check refuses a loss that has no gradient yet, and another score of the samples.
func (*GSS) Check(r *Rehearsal) error {
	switch {
	case r.rows()[0].Loss.StoredLogits:
		return errors.New("gss compares gradients of the memory's loss, which is 0 for samples whose logits are not stored " +
			"yet; set beta of der-pp above 0")
	case r.DrawScores:
		return errors.New("gss and the best_loss of mir each keep a score with the stored samples, which have one; leave " +
			"best_loss out")
	}
	return nil
}

// gssFirst is the score of a sample that was compared with nothing: a cosine of 0.1, as in the
// official code.
const gssFirst = 1.1

// store offers each running task's batch. Samples of a batch that fills the store and do not fit
// are passed over.
func (g *GSS) store(ctx Context, current [][]memory.Item) error {
	store := ctx.Memory()
	capacity := store.Capacity(classesMet(store, current))
	if capacity == 0 {
		return nil
	}
	var parts [][]float32 // gradients, computed when first needed
	for _, batch := range current {
		room := min(len(batch), capacity-store.Len())
		if parts == nil && store.Len() > 0 && (room <= 0 || g.ScoreAll) {
			var err error
			if parts, err = g.parts(ctx); err != nil {
				return err
			}
		}
		offer := g.replace
		if room > 0 {
			offer, batch = g.take, batch[:room]
		}
		if err := offer(ctx, batch, parts); err != nil {
			return err
		}
	}
	return nil
}

// parts are the gradients of random parts of the store.
func (g *GSS) parts(ctx Context) (gradients [][]float32, err error) {
	store := ctx.Memory()
	for range int(g.Subsets) {
		part := anyOf(everyIndex(store), min(int(g.SubsetSize), ctx.Batch()), ctx.Rand())
		gradient, err := ctx.Gradient(Current, store.Items(part))
		if err != nil {
			return nil, err
		}
		gradients = append(gradients, gradient)
	}
	return gradients, nil
}

func (g *GSS) take(ctx Context, samples []memory.Item, parts [][]float32) (err error) {
	for _, it := range samples {
		it.Score = gssFirst
		if g.ScoreAll && parts != nil {
			if it.Score, err = score(ctx, []memory.Item{it}, parts); err != nil {
				return err
			}
		}
		ctx.Memory().Put(ctx.Memory().Len(), it)
	}
	return nil
}

func (g *GSS) replace(ctx Context, batch []memory.Item, parts [][]float32) error {
	if all, err := score(ctx, batch, parts); err != nil || all >= 1+g.Threshold {
		return err
	}
	store, r := ctx.Memory(), ctx.Rand()
	for _, it := range batch {
		var err error
		if it.Score, err = score(ctx, []memory.Item{it}, parts); err != nil {
			return err
		}
		i := drawByScore(store, r.Float64())
		if i < 0 {
			return nil
		}
		if old := store.Item(i).Score; r.Float64()*(old+it.Score) < old {
			store.Put(i, it)
		}
	}
	return nil
}

// score is 1 + the largest cosine of the samples' gradient with one of the parts', in [0, 2].
func score(ctx Context, samples []memory.Item, parts [][]float32) (float64, error) {
	g, err := ctx.Gradient(Current, samples)
	if err != nil {
		return 0, err
	}
	largest := -1.0
	for _, part := range parts {
		largest = max(largest, cosine32(g, part))
	}
	return 1 + largest, nil
}

// cosine32 is 0 where a vector is 0 or not finite.
func cosine32(a, b []float32) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for p, x := range a {
		x, y := float64(x), float64(b[p])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	c := ab / math.Sqrt(aa) / math.Sqrt(bb)
	if math.IsNaN(c) {
		return 0
	}
	return min(max(c, -1), 1)
}

// drawByScore returns the sample at the part u in [0, 1) of the sum of the scores; −1 if all are 0.
func drawByScore(s *memory.Store, u float64) int {
	total, last := 0.0, -1
	for i := range s.Len() {
		total += s.Item(i).Score
	}
	u *= total
	for i := range s.Len() {
		c := s.Item(i).Score
		if c > 0 {
			last = i
		}
		if u -= c; u < 0 {
			return i
		}
	}
	return last
}
