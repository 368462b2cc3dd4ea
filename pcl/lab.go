package pcl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// lab is what a method may see of the learner and do with it. Of package rehearsal's interfaces, each has what is possible in
// one phase.
type lab struct {
	l *Learner
	s *step // nil between steps
}

func (b lab) Batch() int            { return b.l.options.Batch }
func (b lab) Step() int             { return b.l.steps }
func (b lab) Memory() *memory.Store { return b.l.memory }
func (b lab) Rand() *rand.Rand      { return b.l.rng.Rand }

func (b lab) Image() (height, width, channels int) {
	i := b.l.options.Image
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

func (b lab) Running() []int  { return b.l.tasks.ids() }
func (b lab) Finished() []int { return b.l.ended().ids(b.l.roll) }

// Candidates are none where the method fills the memory itself: what is collected then is for a penalty alone, and the
// memory may have the same samples.
func (b lab) Candidates(task int) []memory.Item {
	if b.l.method.Storer != nil {
		return nil
	}
	at, runs := b.l.tasks.place(task)
	if !runs {
		return nil
	}
	return b.l.tasks[at].reservoir.Items()
}

func (b lab) OneTask() bool { return b.l.options.Increment == "task" }

func (b lab) Output(task, class int) int { return fail.Or(b.l.roll.output(task, class)) }

// at returns the parameters that a point stands for. As long as nothing was remembered, [rehearsal.Remembered]
// stands for the current ones.
func (b lab) at(point rehearsal.Point) compute.Buffer {
	o := &b.l.others
	theta := map[rehearsal.Point]compute.Buffer{
		rehearsal.Now: b.l.network.theta, rehearsal.Remembered: o.remembered, rehearsal.Ahead: o.ahead, rehearsal.Apart: o.apart[0],
	}[point]
	switch {
	case theta != nil:
		return theta
	case point == rehearsal.Remembered:
		return b.l.network.theta
	}
	panic(fmt.Sprintf("it asks for parameters (%d) that it has not made", point))
}

// batches calls f with the samples in batches, each of as many samples as a program takes, and aimed for a loss.
func (b lab) batches(samples []memory.Item, loss rehearsal.Loss, f func(h *device.Batch) error) error {
	l := b.l
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
func (b lab) memoryLoss() rehearsal.Loss { return lossOf(b.l.method, method.Memory) }

func (b lab) Losses(at rehearsal.Point, samples []memory.Item) (out []float64) {
	theta, loss := b.at(at), b.memoryLoss()
	fail.If(b.batches(samples, loss, func(h *device.Batch) error {
		losses, err := b.l.programs.Losses(b.l.at(theta), h, loss)
		out = append(out, losses...)
		return err
	}))
	return out
}

func (b lab) Logits(at rehearsal.Point, samples []memory.Item) [][]float32 {
	scores, _, err := b.describe(at, samples)
	fail.If(err)
	for i := range scores {
		scores[i] = scores[i][:b.l.roll.used]
	}
	return scores
}

func (b lab) Features(at rehearsal.Point, samples []memory.Item) [][]float32 {
	_, features, err := b.describe(at, samples)
	fail.If(err)
	return features
}

func (b lab) describe(at rehearsal.Point, samples []memory.Item) (scores, features [][]float32, err error) {
	theta, loss := b.at(at), b.memoryLoss()
	err = b.batches(samples, loss, func(h *device.Batch) error {
		s, f, err := b.l.programs.Describe(b.l.at(theta), h, loss)
		scores, features = append(scores, s...), append(features, f...)
		return err
	})
	return scores, features, err
}

func (b lab) Gradient(at rehearsal.Point, samples []memory.Item) (out []float32) {
	b.fits(samples)
	theta, loss := b.at(at), b.memoryLoss()
	fail.If(b.batches(samples, loss, func(h *device.Batch) error {
		var err error
		out, err = b.sharedGradient(b.l.at(theta), h, loss)
		return err
	}))
	return out
}

// sharedGradient returns the gradient of a batch's mean loss over the shared parameters.
func (b lab) sharedGradient(at device.At, h *device.Batch, loss rehearsal.Loss) ([]float32, error) {
	g, err := b.l.programs.Gradient(at, h, loss)
	if err != nil {
		return nil, err
	}
	defer program.Free(g)
	flat, err := program.Read[float32](g, b.l.total())
	if err != nil {
		return nil, err
	}
	return slices.Clone(flat[:b.l.programs.Shared]), nil
}

// fits panics unless the samples make exactly one batch.
func (b lab) fits(samples []memory.Item) {
	if n := len(samples); n < 1 || n > b.l.options.Batch {
		panic(fmt.Sprintf("a batch of %d samples; want 1 to %d", n, b.l.options.Batch))
	}
}

func (b lab) PixelGradients(at rehearsal.Point, samples []memory.Item) (out [][]float32) {
	theta, loss := b.at(at), b.memoryLoss()
	if b.l.options.compared() != nil {
		panic("it asks for the gradients of pixels, which target values follow")
	}
	fail.If(b.batches(samples, loss, func(h *device.Batch) error {
		gradients, err := b.l.programs.Pixels(b.l.at(theta), h, loss)
		out = append(out, gradients...)
		return err
	}))
	return out
}

func (b lab) Remember() { fail.If(b.remember()) }

func (b lab) remember() error {
	var taught []int
	for o, n := range b.l.over {
		if n > 0 {
			taught = append(taught, o)
		}
	}
	theta, err := b.l.parameters()
	if err != nil {
		return err
	}
	return b.l.others.remember(b.l.options.Backend, theta, b.l.ended(), taught)
}

func (b lab) Restart() {
	l := b.l
	program.Free(l.others.apart[:]...)
	l.others.apart = [2]compute.Buffer{}
	layout := l.options.Model.Layout()
	theta, statistics := layout.Init(seed.New(l.options.Seed, "restart", l.steps).Rand)
	for i, values := range [][]float32{theta, make([]float32, len(theta))} {
		l.others.apart[i] = fail.Or(program.ToDevice(l.options.Backend, values, len(values)))
	}
	l.others.statistics = statistics
}

func (b lab) Descend(samples []memory.Item, shares []float64, s rehearsal.SGD) {
	b.fits(samples)
	b.at(rehearsal.Apart)
	total := 0.0
	for _, x := range shares {
		total += x
	}
	if len(shares) > 0 && (len(shares) != len(samples) || !(total > 0)) || slices.ContainsFunc(shares, func(x float64) bool { return x < 0 }) {
		panic(fmt.Sprintf("the shares %v for %d samples; want one for each, none negative and not all 0", shares, len(samples)))
	}
	loss := b.memoryLoss()
	fail.If(b.batches(samples, loss, func(h *device.Batch) error {
		for i, x := range shares {
			h.Counts[i] = int32(math.Round(x * 65536)) // targets are integers
		}
		if loss.Adjust > 0 {
			adjust(h, b.l.adjustmentsApart(loss.Adjust))
		}
		o := &b.l.others
		hyper := []float32{float32(s.LR), float32(s.Momentum), float32(s.Decay), float32(s.Clip)}
		own, err := b.l.programs.SGD(&o.apart, h, loss, hyper)
		if err != nil {
			return err
		}
		if own != nil {
			averageIn(o.statistics, own)
		}
		return nil
	}))
}
