package pcl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// methodContext is what a method may see of the learner and do with it. Of package rehearsal's interfaces, each has what is possible in
// one phase.
type methodContext struct {
	l *Learner
	s *step // nil between steps
}

func (c methodContext) Batch() int            { return c.l.options.Batch }
func (c methodContext) Step() int             { return c.l.steps }
func (c methodContext) Memory() *memory.Store { return c.l.memory }
func (c methodContext) Rand() *rand.Rand      { return c.l.rng.Rand }

func (c methodContext) Image() (height, width, channels int) {
	i := c.l.options.Image
	return i.Height, i.Width, i.Channels
}

// firstSeen returns, for each running task, the samples that it sees for the first time in this step.
func (l *Learner) firstSeen() (batches [][]memory.Item) {
	for _, t := range l.tasks.present() {
		if t.ready && !t.leftOut && !t.current.Repeat {
			batches = append(batches, t.trainedOn())
		}
	}
	return batches
}

func (c methodContext) Running() []int  { return c.l.tasks.ids() }
func (c methodContext) Finished() []int { return c.l.ended().ids(c.l.roll) }

// Candidates are none where the method fills the memory itself: what is collected then is for a penalty alone, and the
// memory may have the same samples.
func (c methodContext) Candidates(task int) []memory.Item {
	if c.l.method.Storer != nil {
		return nil
	}
	at, runs := c.l.tasks.place(task)
	if !runs {
		return nil
	}
	return c.l.tasks[at].reservoir.Items()
}

func (c methodContext) OneTask() bool { return c.l.options.Increment == "task" }

func (c methodContext) Output(task, class int) (int, error) { return c.l.roll.output(task, class) }

// at returns the parameters that a point stands for. As long as nothing was remembered, [rehearsal.Remembered]
// stands for the current ones. It panics if the method has not made them.
func (c methodContext) at(point rehearsal.Point) compute.Buffer {
	o := &c.l.others
	theta := map[rehearsal.Point]compute.Buffer{
		rehearsal.Current: c.l.network.theta, rehearsal.Remembered: o.remembered, rehearsal.Virtual: o.ahead, rehearsal.Retrained: o.detached[0],
	}[point]
	switch {
	case theta != nil:
		return theta
	case point == rehearsal.Remembered:
		return c.l.network.theta
	}
	panic(fmt.Sprintf("it asks for parameters (%d) that it has not made", point))
}

// batches calls f with the samples in batches, each of as many samples as a program takes, and aimed for a loss.
func (c methodContext) batches(samples []memory.Item, loss rehearsal.Loss, f func(h *device.Batch) error) error {
	l := c.l
	if l.sample == nil {
		var err error
		if l.sample, err = l.programs.Lane(0).NewBatch(); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(samples, l.options.Batch) {
		l.sample.Gather(some)
		if err := l.aim(l.sample, loss); err != nil {
			return err
		}
		if err := f(l.sample); err != nil {
			return err
		}
	}
	return nil
}

// memoryLoss is the loss that the method trains the memory on.
func (c methodContext) memoryLoss() rehearsal.Loss { return lossOf(c.l.method, method.MemoryID) }

func (c methodContext) Losses(at rehearsal.Point, samples []memory.Item) (out []float64, err error) {
	theta, loss := c.at(at), c.memoryLoss()
	err = c.batches(samples, loss, func(h *device.Batch) error {
		losses, err := c.l.programs.Losses(c.l.at(theta), h, loss)
		out = append(out, losses...)
		return err
	})
	return out, err
}

func (c methodContext) Logits(at rehearsal.Point, samples []memory.Item) ([][]float32, error) {
	scores, _, err := c.describe(at, samples)
	for i := range scores {
		scores[i] = scores[i][:c.l.roll.used]
	}
	return scores, err
}

func (c methodContext) Features(at rehearsal.Point, samples []memory.Item) ([][]float32, error) {
	_, features, err := c.describe(at, samples)
	return features, err
}

func (c methodContext) describe(at rehearsal.Point, samples []memory.Item) (scores, features [][]float32, err error) {
	theta, loss := c.at(at), c.memoryLoss()
	err = c.batches(samples, loss, func(h *device.Batch) error {
		s, f, err := c.l.programs.Describe(c.l.at(theta), h, loss)
		scores, features = append(scores, s...), append(features, f...)
		return err
	})
	return scores, features, err
}

func (c methodContext) Gradient(at rehearsal.Point, samples []memory.Item) (out []float32, err error) {
	c.fits(samples)
	theta, loss := c.at(at), c.memoryLoss()
	err = c.batches(samples, loss, func(h *device.Batch) (err error) {
		out, err = c.sharedGradient(c.l.at(theta), h, loss)
		return err
	})
	return out, err
}

// sharedGradient returns the gradient of a batch's mean loss over the shared parameters.
func (c methodContext) sharedGradient(at device.At, h *device.Batch, loss rehearsal.Loss) ([]float32, error) {
	g, err := c.l.programs.Gradient(at, h, loss)
	if err != nil {
		return nil, err
	}
	defer program.Free(g)
	flat, err := program.Read[float32](g, c.l.total())
	if err != nil {
		return nil, err
	}
	return slices.Clone(flat[:c.l.programs.Shared]), nil
}

// fits panics unless the samples make exactly one batch.
func (c methodContext) fits(samples []memory.Item) {
	if n := len(samples); n < 1 || n > c.l.options.Batch {
		panic(fmt.Sprintf("a batch of %d samples; want 1 to %d", n, c.l.options.Batch))
	}
}

func (c methodContext) PixelGradients(at rehearsal.Point, samples []memory.Item) (out [][]float32, err error) {
	theta, loss := c.at(at), c.memoryLoss()
	if c.l.options.compared() != nil {
		panic("it asks for the gradients of pixels, which target values follow")
	}
	err = c.batches(samples, loss, func(h *device.Batch) error {
		gradients, err := c.l.programs.Pixels(c.l.at(theta), h, loss)
		out = append(out, gradients...)
		return err
	})
	return out, err
}

func (c methodContext) Remember() error {
	var taught []int
	for o, n := range c.l.over {
		if n > 0 {
			taught = append(taught, o)
		}
	}
	theta, err := c.l.parameters()
	if err != nil {
		return err
	}
	return c.l.others.remember(c.l.options.Backend, theta, c.l.ended(), taught)
}

func (c methodContext) Reinitialize() error {
	l := c.l
	program.Free(l.others.detached[:]...)
	l.others.detached = [2]compute.Buffer{}
	layout := l.options.Model.Layout()
	theta, statistics := layout.Init(seed.New(l.options.Seed, "restart", l.steps).Rand)
	for i, values := range [][]float32{theta, make([]float32, len(theta))} {
		var err error
		if l.others.detached[i], err = program.ToDevice(l.options.Backend, values, len(values)); err != nil {
			return err
		}
	}
	l.others.statistics = statistics
	return nil
}

func (c methodContext) TrainStep(samples []memory.Item, shares []float64, s rehearsal.SGD) error {
	c.fits(samples)
	c.at(rehearsal.Retrained)
	total := 0.0
	for _, x := range shares {
		total += x
	}
	if len(shares) > 0 && (len(shares) != len(samples) || !(total > 0)) || slices.ContainsFunc(shares, func(x float64) bool { return x < 0 }) {
		panic(fmt.Sprintf("the shares %v for %d samples; want one for each, none negative and not all 0", shares, len(samples)))
	}
	loss := c.memoryLoss()
	return c.batches(samples, loss, func(h *device.Batch) error {
		for i, x := range shares {
			h.Counts[i] = int32(math.Round(x * 65536)) // targets are integers
		}
		if loss.Adjust > 0 {
			adjust(h, c.l.adjustmentsDetached(loss.Adjust))
		}
		o := &c.l.others
		hyper := []float32{float32(s.LR), float32(s.Momentum), float32(s.Decay), float32(s.Clip)}
		own, err := c.l.programs.SGD(&o.detached, h, loss, hyper)
		if err != nil {
			return err
		}
		if own != nil {
			averageIn(o.statistics, own)
		}
		return nil
	})
}
