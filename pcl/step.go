package pcl

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// ErrNoStream is what [Learner.Step] returns where no task is attached or all have ended.
var ErrNoStream = errors.New("pcl: no active stream: attach a task first")

// StepReport tells what one step did. Its slices are valid until the next step.
type StepReport struct {
	Step   int   // from 0
	IDs    []int // the rows that took part; 0 is the memory
	Losses []float64
	// Gram is M = JJᵀ, row-major; nil where the method does not ask for it.
	Gram    []float64
	Weights []float64
	Outcome method.Outcome
	// NormD is ‖d‖ over the shared parameters.
	NormD float64
	// Rejected says that d was not finite, so that the step left everything as it was. Only methods
	// that do not look at the gradients come to this; the others leave such streams out.
	Rejected bool
	// Skipped lists streams whose loss or gradient was not finite and that were left out.
	Skipped []int
	// Ended lists the tasks whose last batch this was.
	Ended []int
}

// Step makes one update from one batch of every active stream (METHODS §0, DESIGN "One training
// step"): a gradient each, the method's weights, one optimiser step. While the device computes,
// the streams' next batches are fetched. Tasks that end go into the memory.
func (l *Learner) Step() (*StepReport, error) {
	running := false
	for _, t := range l.tasks {
		running = running || !t.ended
	}
	if !running {
		return nil, ErrNoStream
	}
	if err := l.collect(); err != nil {
		return nil, fmt.Errorf("pcl: step %d: %w", l.step, err)
	}
	fetched := make(chan struct{})
	go func() {
		defer close(fetched)
		l.lookAhead()
	}()
	r, err := l.train()
	l.gram.wait()
	for i := range l.rows {
		program.Free(l.rows[i].gradient)
		l.rows[i].gradient = nil
	}
	<-fetched
	if err == nil {
		err = l.advance(r)
	}
	if err != nil {
		return nil, fmt.Errorf("pcl: step %d: %w", l.step, err)
	}
	l.step++
	return r, nil
}

// lookAhead shows the batches being trained on to the reservoirs and fetches the next ones.
func (l *Learner) lookAhead() {
	for _, t := range l.tasks {
		if !t.ended {
			t.observe(t.current)
			t.err = t.fetch(t.spare)
		}
	}
}

// advance makes the fetched batches current and retires streams that have ended.
func (l *Learner) advance(r *StepReport) error {
	for _, t := range l.tasks {
		if t.ended {
			continue
		}
		if t.err == nil {
			t.current, t.spare = t.spare, t.current
			continue
		}
		if t.err != io.EOF {
			return fmt.Errorf("task %d (%s): %w", t.id, t.Name, t.err)
		}
		if err := l.memory.Add(t.reservoir.Items()); err != nil {
			return err
		}
		t.ended, t.current, t.spare, t.reservoir = true, nil, nil, nil
		if s, ok := method.As[method.Stateful](l.options.Method); ok {
			s.End(t.id)
		}
		r.Ended = append(r.Ended, t.id)
	}
	return nil
}

// train computes the gradients, asks the method for weights and updates the parameters.
func (l *Learner) train() (*StepReport, error) {
	r := &StepReport{Step: l.step}
	info := l.options.Method.Info()
	if info.NeedsGram {
		l.gram.begin(len(l.rows))
	}
	for i := range l.rows {
		if err := l.differentiate(&l.rows[i]); err != nil {
			return nil, err
		}
		if info.NeedsGram {
			l.gram.add(l.rows[i].gradient)
		}
	}
	gram := []float64(nil)
	if info.NeedsGram {
		gram = make([]float64, len(l.rows)*len(l.rows))
		if err := l.gram.finish(gram); err != nil {
			return nil, err
		}
	}
	kept := l.finite(gram, r)
	if len(kept) == 0 {
		return r, nil
	}
	r.Gram = submatrix(gram, len(l.rows), kept)
	r.Weights = make([]float64, len(kept))
	step := &method.Step{IDs: r.IDs, Losses: r.Losses, Gram: r.Gram, Rand: l.rng.Rand}
	var err error
	if r.Outcome, err = l.options.Method.Weights(step, r.Weights); err != nil {
		return nil, err
	}
	for i, w := range r.Weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("method %s gave stream %d the weight %g", info.Name, r.IDs[i], w)
		}
	}
	return r, l.apply(kept, r)
}

// differentiate computes one stream's gradient and loss.
func (l *Learner) differentiate(r *row) error {
	in, err := r.batch.upload(l.options.Backend)
	if err != nil {
		return err
	}
	defer program.Free(in...)
	out, err := l.programs.gradient.Call(append([]compute.Buffer{l.theta}, in...)...)
	if err != nil {
		return err
	}
	r.gradient = out[0]
	defer program.Free(out[1])
	var loss [1]float32
	if err := program.ToHost(loss[:], out[1]); err != nil {
		return err
	}
	r.loss = float64(loss[0])
	return nil
}

// finite returns the indices of the rows whose loss and gradient are finite, and reports them and
// the others.
func (l *Learner) finite(gram []float64, r *StepReport) []int {
	kept := make([]int, 0, len(l.rows))
	for i, row := range l.rows {
		v := row.loss
		if gram != nil {
			v += gram[i*len(l.rows)+i]
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			r.Skipped = append(r.Skipped, row.id)
			continue
		}
		kept = append(kept, i)
		r.IDs = append(r.IDs, row.id)
		r.Losses = append(r.Losses, row.loss)
	}
	return kept
}

// submatrix keeps the given rows and columns of an n×n matrix.
func submatrix(m []float64, n int, kept []int) []float64 {
	if m == nil || len(kept) == n {
		return m
	}
	out := make([]float64, 0, len(kept)*len(kept))
	for _, i := range kept {
		for _, j := range kept {
			out = append(out, m[i*n+j])
		}
	}
	return out
}

// apply makes the optimiser step along d = Σ wᵢJᵢ.
func (l *Learner) apply(kept []int, r *StepReport) error {
	p, err := l.programs.update(len(kept))
	if err != nil {
		return err
	}
	w := make([]float32, len(kept))
	for i := range w {
		w[i] = float32(r.Weights[i])
	}
	weights, err := program.ToDevice(l.options.Backend, w, len(w))
	if err != nil {
		return err
	}
	defer program.Free(weights)
	hyper, err := program.ToDevice(l.options.Backend, l.options.Optimizer.hyper(l.update+1), hyperSize)
	if err != nil {
		return err
	}
	defer program.Free(hyper)
	in := append([]compute.Buffer{l.theta}, l.state...)
	in = append(in, weights, hyper)
	for _, i := range kept {
		in = append(in, l.rows[i].gradient)
	}
	l.theta, l.state = nil, nil // donated
	out, err := p.Call(in...)
	if err != nil {
		return err
	}
	last := len(out) - 1
	l.theta, l.state = out[0], out[1:last]
	defer program.Free(out[last])
	var norm2 [1]float64
	if err := program.ToHost(norm2[:], out[last]); err != nil {
		return err
	}
	if r.Rejected = math.IsNaN(norm2[0]) || math.IsInf(norm2[0], 0); r.Rejected {
		return nil
	}
	r.NormD = math.Sqrt(norm2[0])
	l.update++
	return nil
}
