package pcl

import (
	"fmt"
	"math/rand/v2"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// lab is the learner as a method sees it.
type lab struct{ l *Learner }

func (b lab) Batch() int            { return b.l.options.Batch }
func (b lab) Step() int             { return b.l.step }
func (b lab) Memory() *memory.Store { return b.l.memory }
func (b lab) Rand() *rand.Rand      { return b.l.rng.Rand }

func (b lab) Image() (height, width, channels int) {
	i := b.l.options.Image
	return i.Height, i.Width, i.Channels
}

func (b lab) Current() (batches [][]memory.Item) {
	for _, t := range b.l.running() {
		if t.ready && !t.leftOut && !t.current.Repeat {
			batches = append(batches, t.current.items())
		}
	}
	return batches
}

func (b lab) Running() []int  { return b.l.tasksThat(func(t *task) bool { return !t.ended }) }
func (b lab) Finished() []int { return b.l.tasksThat(func(t *task) bool { return t.ended }) }

func (l *Learner) tasksThat(hold func(t *task) bool) (ids []int) {
	for _, t := range l.tasks {
		if hold(t) {
			ids = append(ids, t.id)
		}
	}
	return ids
}

func (b lab) Candidates(task int) []memory.Item {
	if t := b.l.tasks[task-1]; t.reservoir != nil {
		return t.reservoir.Items()
	}
	return nil
}

func (b lab) Competing(task int) []int { return b.l.slots.among(task) }

// parameters returns θ at a point.
func (l *Learner) parameters(at method.Point) (compute.Buffer, error) {
	switch {
	case at == method.Now || (at == method.Remembered && l.remembered == nil):
		return l.theta, nil
	case at == method.Remembered:
		return l.remembered, nil
	case at == method.Ahead && l.aheadTheta != nil:
		return l.aheadTheta, nil
	case at == method.Apart && l.apart[0] != nil:
		return l.apart[0], nil
	}
	return nil, fmt.Errorf("method %s asks for parameters (%d) that it has not made", l.options.Method.Info().Name, at)
}

// batches shows samples to f, as many at a time as a program takes.
func (b lab) batches(samples []memory.Item, f func(h *hostBatch) error) error {
	l := b.l
	if l.sample == nil {
		var err error
		if l.sample, err = l.newBatch(); err != nil {
			return err
		}
	}
	for from := 0; from < len(samples); from += l.options.Batch {
		l.sample.fill(samples[from:min(len(samples), from+l.options.Batch)])
		if err := l.aim(l.sample, lossOf(l.options.Method, method.Memory)); err != nil {
			return err
		}
		if err := f(l.sample); err != nil {
			return err
		}
	}
	return nil
}

func (b lab) Losses(at method.Point, samples []memory.Item) (out []float64, err error) {
	theta, err := b.l.parameters(at)
	if err != nil {
		return nil, err
	}
	err = b.batches(samples, func(h *hostBatch) error {
		each, err := b.l.lossesAt(theta, h, lossOf(b.l.options.Method, method.Memory))
		out = append(out, each...)
		return err
	})
	return out, err
}

func (b lab) Logits(at method.Point, samples []memory.Item) ([][]float32, error) {
	scores, _, err := b.describe(at, samples)
	for i := range scores {
		scores[i] = scores[i][:b.l.slots.used]
	}
	return scores, err
}

func (b lab) Features(at method.Point, samples []memory.Item) ([][]float32, error) {
	_, features, err := b.describe(at, samples)
	return features, err
}

func (b lab) describe(at method.Point, samples []memory.Item) (scores, features [][]float32, err error) {
	theta, err := b.l.parameters(at)
	if err != nil {
		return nil, nil, err
	}
	err = b.batches(samples, func(h *hostBatch) error {
		s, f, err := b.l.describeAt(theta, h, lossOf(b.l.options.Method, method.Memory))
		scores, features = append(scores, s...), append(features, f...)
		return err
	})
	return scores, features, err
}

func (b lab) Gradient(at method.Point, samples []memory.Item) (out []float32, err error) {
	theta, err := b.l.parameters(at)
	if err != nil {
		return nil, err
	}
	if err := b.fits(samples); err != nil {
		return nil, err
	}
	loss := lossOf(b.l.options.Method, method.Memory)
	p, err := b.l.programs.gradient(loss)
	if err != nil {
		return nil, err
	}
	err = b.batches(samples, func(h *hostBatch) error {
		d, err := b.l.gradientAt(theta, p, h, loss)
		if err != nil {
			return err
		}
		defer d.free()
		all, err := host(d.gradient, b.l.programs.total())
		if err == nil {
			out = append(out, all[:b.l.programs.shared]...)
		}
		return err
	})
	return out, err
}

// fits refuses lists that are no single batch.
func (b lab) fits(samples []memory.Item) error {
	if n := len(samples); n < 1 || n > b.l.options.Batch {
		return fmt.Errorf("method %s: a batch of %d samples; want 1 to %d", b.l.options.Method.Info().Name, n, b.l.options.Batch)
	}
	return nil
}

func (b lab) PixelGradients(at method.Point, samples []memory.Item) (out [][]float32, err error) {
	theta, err := b.l.parameters(at)
	if err != nil {
		return nil, err
	}
	loss := lossOf(b.l.options.Method, method.Memory)
	p, err := b.l.programs.pixels(loss)
	if err != nil {
		return nil, err
	}
	err = b.batches(samples, func(h *hostBatch) error {
		g, err := b.l.look(p, theta, h, referenced(loss))
		if err != nil {
			return err
		}
		defer program.Free(g...)
		rows, err := matrix(g[0], h.N)
		out = append(out, rows...)
		return err
	})
	return out, err
}

func (b lab) Predict(at method.Point, samples []memory.Item) (classes []int, err error) {
	theta, err := b.l.parameters(at)
	if err != nil {
		return nil, err
	}
	err = b.batches(samples, func(h *hostBatch) error {
		outputs, err := b.l.predictAt(theta, h)
		for i, o := range outputs {
			lo, hi := b.l.slots.competing(h.task[i])
			class := -1
			if lo <= o && o < hi { // else no score was a number
				class = b.l.slots.among(h.task[i])[o-lo]
			}
			classes = append(classes, class)
		}
		return err
	})
	return classes, err
}

// current returns the gradients of the tasks' rows, and weights that average them.
func (l *Learner) current() (w []float64, rows []compute.Buffer) {
	for _, r := range l.rows {
		if r.id > 0 && r.gradient != nil {
			rows = append(rows, r.gradient)
		}
	}
	w = make([]float64, len(rows))
	for i := range w {
		w[i] = 1 / float64(len(w))
	}
	return w, rows
}

func (b lab) StepAhead(gamma float64) error {
	l := b.l
	w, rows := l.current()
	p, err := l.programs.ahead(len(rows))
	if err != nil {
		return err
	}
	in, err := l.updateInputs(w, Optimizer{LR: gamma}.hyper(1))
	if err != nil {
		return err
	}
	defer program.Free(in...)
	out, err := p.Call(append(append([]compute.Buffer{l.theta}, in...), rows...)...)
	if err != nil {
		return err
	}
	program.Free(out[1], l.aheadTheta)
	l.aheadTheta = out[0]
	return nil
}

func (b lab) Update() error {
	l := b.l
	w, rows := l.current()
	if _, err := l.descend(w, rows); err != nil {
		return err
	}
	return l.renew()
}

func (b lab) Remember() error {
	theta, err := b.l.theta32()
	if err != nil {
		return err
	}
	return b.l.setRemembered(theta, b.Finished())
}

func (l *Learner) setRemembered(theta []float32, finished []int) error {
	copied, err := program.ToDevice(l.options.Backend, theta, len(theta))
	if err != nil {
		return err
	}
	program.Free(l.remembered)
	l.remembered, l.rememberedTasks = copied, finished
	return nil
}

func (b lab) Restart() error {
	l := b.l
	program.Free(l.apart[:]...)
	l.apart = [2]compute.Buffer{}
	rng := seed.New(l.options.Seed, "restart", l.step)
	theta := l.options.Model.Layout().Init(rng.Rand)
	for i, values := range [][]float32{theta, make([]float32, len(theta))} {
		var err error
		if l.apart[i], err = program.ToDevice(l.options.Backend, values, len(values)); err != nil {
			return err
		}
	}
	l.resetStatistics()
	return nil
}

func (b lab) Descend(samples []memory.Item, shares []float64, s method.SGD) error {
	l := b.l
	if err := b.fits(samples); err != nil {
		return err
	}
	if l.apart[0] == nil {
		return fmt.Errorf("method %s trains a network apart before it restarted one", l.options.Method.Info().Name)
	}
	loss := lossOf(l.options.Method, method.Memory)
	p, err := l.programs.sgd(loss)
	if err != nil {
		return err
	}
	return b.batches(samples, func(h *hostBatch) error {
		h.share(shares)
		in, done, err := h.upload(l.options.Backend, referenced(loss))
		if err != nil {
			return err
		}
		defer done()
		hyper := []float32{float32(s.LR), float32(s.Momentum), float32(s.Decay), float32(s.Clip)}
		scalars, err := program.ToDevice(l.options.Backend, hyper, len(hyper))
		if err != nil {
			return err
		}
		defer program.Free(scalars)
		spent := l.apart
		l.apart = [2]compute.Buffer{} // donated
		out, err := p.Call(append(append([]compute.Buffer{spent[0], spent[1]}, scalars), in...)...)
		if err != nil {
			return err
		}
		l.apart = [2]compute.Buffer(out[:2])
		defer program.Free(out[2:]...)
		if len(out) > 2 {
			observed, err := host(out[2], len(l.statistics))
			if err != nil {
				return err
			}
			l.runStatistics(observed)
		}
		return nil
	})
}
