package pcl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// methodContext is what a method may see of the learner and do with it. Each of package rehearsal's
// interfaces has what is possible in one phase.
type methodContext struct {
	parts
	number int   // of steps made
	step   *step // nil between steps
}

func (c methodContext) Batch() int            { return c.options.Batch }
func (c methodContext) Step() int             { return c.number }
func (c methodContext) Memory() *memory.Store { return c.memory }
func (c methodContext) Rand() *rand.Rand      { return c.rng.Rand }

func (c methodContext) Image() (height, width, channels int) {
	i := c.options.Image
	return i.Height, i.Width, i.Channels
}

func (c methodContext) Running() []int  { return c.tasks.running.ids() }
func (c methodContext) Finished() []int { return c.tasks.endedIDs() }

// Candidates returns none if the method fills the memory itself: samples that are collected then
// are for a penalty alone, and the memory may have the same ones.
func (c methodContext) Candidates(task int) []memory.Item {
	if c.method.Storer != nil {
		return nil
	}
	if a := c.tasks.running.get(task); a != nil {
		return a.reservoir.Items()
	}
	return nil
}

func (c methodContext) OneTask() bool { return c.options.Increment == "task" }

func (c methodContext) Output(task, class int) (int, error) {
	return c.tasks.registry.output(task, class)
}

// batches calls f with the samples in batches, each of as many as a program takes, and with targets
// for a loss.
func (c methodContext) batches(samples []memory.Item, loss rehearsal.Loss, f func(b *device.Batch) error) error {
	b, err := c.scratch.batch(c.network)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(samples, c.options.Batch) {
		b.Gather(some)
		if err := c.targets.set(b, loss); err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// memoryLoss is the loss that the method trains the memory on.
func (c methodContext) memoryLoss() rehearsal.Loss { return lossOf(c.method, method.MemoryID) }

func (c methodContext) Losses(at rehearsal.Point, samples []memory.Item) (out []float64, err error) {
	theta, loss := c.network.point(at), c.memoryLoss()
	err = c.batches(samples, loss, func(h *device.Batch) error {
		losses, err := c.network.programs.Losses(c.network.at(theta), h, loss)
		out = append(out, losses...)
		return err
	})
	return out, err
}

func (c methodContext) Logits(at rehearsal.Point, samples []memory.Item) ([][]float32, error) {
	scores, _, err := c.describe(at, samples)
	for i := range scores {
		scores[i] = scores[i][:c.tasks.registry.used]
	}
	return scores, err
}

func (c methodContext) Features(at rehearsal.Point, samples []memory.Item) ([][]float32, error) {
	_, features, err := c.describe(at, samples)
	return features, err
}

func (c methodContext) describe(at rehearsal.Point, samples []memory.Item) (scores, features [][]float32, err error) {
	theta, loss := c.network.point(at), c.memoryLoss()
	err = c.batches(samples, loss, func(h *device.Batch) error {
		s, f, err := c.network.programs.Describe(c.network.at(theta), h, loss)
		scores, features = append(scores, s...), append(features, f...)
		return err
	})
	return scores, features, err
}

func (c methodContext) Gradient(at rehearsal.Point, samples []memory.Item) (out []float32, err error) {
	c.fits(samples)
	theta, loss := c.network.point(at), c.memoryLoss()
	err = c.batches(samples, loss, func(h *device.Batch) (err error) {
		out, err = c.sharedGradient(c.network.at(theta), h, loss)
		return err
	})
	return out, err
}

// sharedGradient returns the gradient of a batch's mean loss over the shared parameters.
func (c methodContext) sharedGradient(at device.At, h *device.Batch, loss rehearsal.Loss) ([]float32, error) {
	g, err := c.network.programs.Gradient(at, h, loss)
	if err != nil {
		return nil, err
	}
	defer program.Free(g)
	flat, err := c.network.read(g)
	if err != nil {
		return nil, err
	}
	return slices.Clone(flat[:c.network.programs.Shared]), nil
}

// fits panics unless the samples make exactly one batch.
func (c methodContext) fits(samples []memory.Item) {
	if n := len(samples); n < 1 || n > c.options.Batch {
		panic(fmt.Sprintf("a batch of %d samples; want 1 to %d", n, c.options.Batch))
	}
}

func (c methodContext) PixelGradients(at rehearsal.Point, samples []memory.Item) (out [][]float32, err error) {
	theta, loss := c.network.point(at), c.memoryLoss()
	if c.options.compared() != nil {
		panic("it asks for the gradients of pixels, which target values follow")
	}
	err = c.batches(samples, loss, func(h *device.Batch) error {
		gradients, err := c.network.programs.Pixels(c.network.at(theta), h, loss)
		out = append(out, gradients...)
		return err
	})
	return out, err
}

func (c methodContext) Remember() error {
	theta, err := c.network.parameters()
	if err != nil {
		return err
	}
	return c.network.auxiliary.remember(c.options.Backend, theta, c.tasks.endedNow(), c.tasks.endedOutputs())
}

func (c methodContext) Progress(done, total int) error {
	if c.options.Preparing == nil {
		return nil
	}
	return guarded("Options.Preparing", func() error { return c.options.Preparing(done, total) })
}

func (c methodContext) Reinitialize() error {
	theta, statistics := c.network.layout().Init(seed.New(c.options.Seed, "restart", c.number).Rand)
	return c.network.auxiliary.restart(c.options.Backend, theta, statistics)
}

// areShares reports whether n samples can have these shares of a loss. None stands for equal ones.
func areShares(shares []float64, n int) bool {
	total := 0.0
	for _, x := range shares {
		if x < 0 {
			return false
		}
		total += x
	}
	return len(shares) == 0 || len(shares) == n && total > 0
}

func (c methodContext) TrainStep(samples []memory.Item, shares []float64, s rehearsal.SGD) error {
	c.fits(samples)
	c.network.point(rehearsal.Retrained)
	if !areShares(shares, len(samples)) {
		panic(fmt.Sprintf("the shares %v for %d samples; want one for each, none negative and not all 0",
			shares, len(samples)))
	}
	loss := c.memoryLoss()
	return c.batches(samples, loss, func(h *device.Batch) error {
		for i, share := range shares {
			h.Counts[i] = int32(math.Round(share * 65536)) // targets are integers
		}
		if loss.Adjust > 0 {
			adjust(h, c.targets.adjustmentsDetached(loss.Adjust))
		}
		x := &c.network.auxiliary
		hyper := []float32{float32(s.LR), float32(s.Momentum), float32(s.Decay), float32(s.Clip)}
		own, err := c.network.programs.SGD(&x.detached, h, loss, hyper)
		if err != nil {
			return err
		}
		if own != nil {
			averageIn(x.statistics, own)
		}
		return nil
	})
}
