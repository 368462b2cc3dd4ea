package pcl

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// lab is what a method may see of the learner and do with it. Of package rehearsal's interfaces, each has what is possible in
// one phase.
type lab struct {
	l *Learner
	s *step // nil between steps
}

// storing is the lab of a method that decides which samples of a step's batches enter the memory.
type storing struct{ lab }

func (b lab) Batch() int            { return b.l.options.Batch }
func (b lab) Step() int             { return b.l.steps }
func (b lab) Memory() *memory.Store { return b.l.memory }
func (b lab) Rand() *rand.Rand      { return b.l.rng.Rand }

func (b lab) Image() (height, width, channels int) {
	i := b.l.options.Image
	return i.Height, i.Width, i.Channels
}

func (b storing) Current() (batches [][]memory.Item) {
	for _, t := range b.l.tasks.present() {
		if t.ready && !t.leftOut && !t.current.Repeat {
			batches = append(batches, t.current.Items())
		}
	}
	return batches
}

func (b lab) Running() []int  { return b.l.tasks.ids() }
func (b lab) Finished() []int { return b.l.ended().ids(b.l.roll) }

// Candidates are none where the method fills the memory itself: what is collected then is for a penalty alone, and the
// memory may have the same samples.
func (b lab) Candidates(task int) []memory.Item {
	if _, ok := method.As[rehearsal.Storer](b.l.options.Method); ok {
		return nil
	}
	at, runs := b.l.tasks.place(task)
	if !runs {
		return nil
	}
	return b.l.tasks[at].reservoir.Items()
}

func (b lab) OneTask() bool { return b.l.options.Increment == scenario.TaskIncremental }

func (b lab) Output(task, class int) (int, error) {
	o, err := b.l.heads.Output(task, class)
	return int(o), err
}

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
		if l.sample, err = l.newBatch(); err != nil {
			return err
		}
	}
	for from := 0; from < len(samples); from += l.options.Batch {
		l.sample.Gather(samples[from:min(len(samples), from+l.options.Batch)])
		if err := l.aim(l.sample, loss); err != nil {
			return err
		}
		if err := f(l.sample); err != nil {
			return err
		}
	}
	return nil
}

func (b lab) Losses(at rehearsal.Point, samples []memory.Item) (out []float64, err error) {
	theta, loss := b.at(at), b.l.options.lossOf(method.Memory)
	err = b.batches(samples, loss, func(h *device.Batch) error {
		each, err := b.l.lossesAt(theta, h, loss)
		out = append(out, each...)
		return err
	})
	return out, err
}

func (b lab) Logits(at rehearsal.Point, samples []memory.Item) ([][]float32, error) {
	scores, _, err := b.describe(at, samples)
	for i := range scores {
		scores[i] = scores[i][:b.l.heads.Used()]
	}
	return scores, err
}

func (b lab) Features(at rehearsal.Point, samples []memory.Item) ([][]float32, error) {
	_, features, err := b.describe(at, samples)
	return features, err
}

func (b lab) describe(at rehearsal.Point, samples []memory.Item) (scores, features [][]float32, err error) {
	theta, loss := b.at(at), b.l.options.lossOf(method.Memory)
	err = b.batches(samples, loss, func(h *device.Batch) error {
		s, f, err := b.l.describeAt(theta, h, loss)
		scores, features = append(scores, s...), append(features, f...)
		return err
	})
	return scores, features, err
}

func (b lab) Gradient(at rehearsal.Point, samples []memory.Item) (out []float32, err error) {
	b.fits(samples)
	theta, loss := b.at(at), b.l.options.lossOf(method.Memory)
	err = b.batches(samples, loss, func(h *device.Batch) error {
		g, err := b.l.gradientAlone(theta, h, loss)
		if err != nil {
			return err
		}
		defer program.Free(g)
		out, err = b.shared(g)
		return err
	})
	return out, err
}

// sharedGradient returns the gradient of a batch's mean loss over the shared parameters, where the batch is normalised with
// its own statistics.
func (b lab) sharedGradient(theta compute.Buffer, h *device.Batch, loss rehearsal.Loss) ([]float32, error) {
	g, err := b.l.gradientAt(b.l.programs, []compute.Buffer{theta}, h, loss)
	if err != nil {
		return nil, err
	}
	defer g.Free()
	return b.shared(g.Flat)
}

// shared copies the entries of a gradient that belong to the shared parameters.
func (b lab) shared(gradient compute.Buffer) ([]float32, error) {
	all, err := device.Host(gradient, b.l.programs.Total())
	if err != nil {
		return nil, err
	}
	return slices.Clone(all[:b.l.programs.Shared]), nil
}

// fits panics unless the samples make exactly one batch.
func (b lab) fits(samples []memory.Item) {
	if n := len(samples); n < 1 || n > b.l.options.Batch {
		panic(fmt.Sprintf("a batch of %d samples; want 1 to %d", n, b.l.options.Batch))
	}
}

func (b lab) PixelGradients(at rehearsal.Point, samples []memory.Item) (out [][]float32, err error) {
	theta, loss := b.at(at), b.l.options.lossOf(method.Memory)
	if b.l.options.compared() != nil {
		panic("it asks for the gradients of pixels, which target values follow")
	}
	p, err := b.l.programs.Pixels(loss)
	if err != nil {
		return nil, err
	}
	err = b.batches(samples, loss, func(h *device.Batch) error {
		g, err := b.l.look(p, theta, h, graphs.Referenced(loss))
		if err != nil {
			return err
		}
		defer program.Free(g...)
		rows, err := device.Matrix(g[0], h.N)
		out = append(out, rows...)
		return err
	})
	return out, err
}

func (b lab) Remember() error {
	theta, err := b.l.parameters()
	if err != nil {
		return err
	}
	var taught []int
	for o, n := range b.l.over {
		if n > 0 {
			taught = append(taught, o)
		}
	}
	return b.l.others.remember(b.l.options.Backend, theta, b.l.ended(), taught)
}

func (b lab) Restart() error {
	l := b.l
	program.Free(l.others.apart[:]...)
	l.others.apart = [2]compute.Buffer{}
	rng := seed.New(l.options.Seed, "restart", l.steps)
	theta := l.options.Model.Layout().Init(rng.Rand)
	for i, values := range [][]float32{theta, make([]float32, len(theta))} {
		var err error
		if l.others.apart[i], err = program.ToDevice(l.options.Backend, values, len(values)); err != nil {
			return err
		}
	}
	if layout := l.options.Model.Layout(); layout.StatsTotal > 0 {
		l.others.statistics = layout.InitStats()
	}
	return nil
}

func (b lab) Descend(samples []memory.Item, shares []float64, s rehearsal.SGD) error {
	b.fits(samples)
	b.at(rehearsal.Apart)
	total := 0.0
	for _, x := range shares {
		total += x
	}
	if len(shares) > 0 && (len(shares) != len(samples) || !(total > 0)) || slices.ContainsFunc(shares, func(x float64) bool { return x < 0 }) {
		panic(fmt.Sprintf("the shares %v for %d samples; want one for each, none negative and not all 0", shares, len(samples)))
	}
	loss := b.l.options.lossOf(method.Memory)
	return b.batches(samples, loss, func(h *device.Batch) error {
		h.Share(shares)
		if loss.Adjust > 0 {
			h.Adjust(b.l.adjustmentsApart(loss.Adjust))
		}
		return b.l.descendApart(h, loss, []float32{float32(s.LR), float32(s.Momentum), float32(s.Decay), float32(s.Clip)})
	})
}

// descendApart trains the network apart for one step.
func (l *Learner) descendApart(h *device.Batch, loss rehearsal.Loss, hyper []float32) error {
	p, err := l.programs.SGD(loss)
	if err != nil {
		return err
	}
	in, done, err := h.Inputs(l.options.Backend, graphs.Referenced(loss))
	if err != nil {
		return err
	}
	defer done()
	scalars, err := program.ToDevice(l.options.Backend, hyper, len(hyper))
	if err != nil {
		return err
	}
	defer program.Free(scalars)
	spent := l.others.apart
	l.others.apart = [2]compute.Buffer{} // the program reuses their memory for its results
	out, err := p.Call(append([]compute.Buffer{spent[0], spent[1], scalars}, in...)...)
	if err != nil {
		return err
	}
	l.others.apart = [2]compute.Buffer(out[:2])
	defer program.Free(out[2:]...)
	if len(out) > 2 {
		observed, err := device.Host(out[2], len(l.others.statistics))
		if err != nil {
			return err
		}
		averageIn(l.others.statistics, observed)
	}
	return nil
}
