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
	// Edit tells of memory editing; nil where there was none.
	Edit *EditReport
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
	r, err := l.makeStep()
	if err != nil {
		return nil, fmt.Errorf("pcl: step %d: %w", l.step, err)
	}
	l.step++
	return r, nil
}

func (l *Learner) makeStep() (*StepReport, error) {
	tasks := l.taskRows()
	for _, r := range tasks {
		if err := l.aim(r.batch, r.loss); err != nil {
			return nil, err
		}
	}
	fetched := make(chan struct{})
	go func() {
		defer close(fetched)
		l.lookAhead()
	}()
	r, err := l.train(tasks)
	l.gram.wait()
	if err == nil && l.export != nil {
		err = l.export(r)
	}
	for i := range l.rows {
		l.rows[i].free()
	}
	l.rows = nil
	if keeper, ok := method.As[method.Keeper](l.options.Method); ok && err == nil {
		err = keeper.Keep(lab{l})
	}
	<-fetched
	if err == nil {
		err = l.advance(r)
	}
	return r, err
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
		t.ended = true
		if err := l.remember(t); err != nil {
			return err
		}
		t.free()
		t.reservoir = nil
		if s, ok := method.As[method.Stateful](l.options.Method); ok {
			s.End(t.id)
		}
		r.Ended = append(r.Ended, t.id)
	}
	return nil
}

// remember takes what is to be kept of a task that has ended into the memory.
func (l *Learner) remember(t *task) error {
	items := t.reservoir.Items()
	if c, ok := method.As[method.Curator](l.options.Method); ok {
		return c.Curate(lab{l}, t.id, items)
	}
	return l.memory.Add(items)
}

// train computes the gradients, asks the method for weights and updates the parameters.
func (l *Learner) train(tasks []row) (*StepReport, error) {
	r := &StepReport{Step: l.step}
	if i, ok := method.As[method.Idler](l.options.Method); ok && i.Idle() {
		return r, nil
	}
	info := l.options.Method.Info()
	var gram []float64
	var err error
	if info.NeedsGram {
		gram, err = l.differentiateAll(tasks)
	} else {
		_, err = l.differentiateAll(tasks)
	}
	if err != nil {
		return nil, err
	}
	kept := l.finite(gram, r)
	if len(kept) == 0 {
		return r, nil
	}
	r.Gram = submatrix(gram, len(l.rows), kept)
	r.Weights = make([]float64, len(kept))
	step := &method.Step{IDs: r.IDs, Losses: r.Losses, Gram: r.Gram, Rand: l.rng.Rand}
	if info.NeedsRows {
		if step.Rows, err = l.jacobian(kept); err != nil {
			return nil, err
		}
	}
	if info.NeedsCross {
		if step.Cross, err = l.cross(kept); err != nil {
			return nil, err
		}
	}
	if r.Outcome, err = l.options.Method.Weights(step, r.Weights); err != nil {
		return nil, err
	}
	for i, w := range r.Weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("method %s gave stream %d the weight %g", info.Name, r.IDs[i], w)
		}
	}
	return r, l.conclude(kept, r)
}

// conclude makes the step whose weights are known, and what belongs to it: the memory's edit before or
// after it, an extra update, the method's look at the new losses.
func (l *Learner) conclude(kept []int, r *StepReport) error {
	var d *aggregate
	wait := func() {}
	defer func() { wait() }()
	edit := func() (err error) {
		wait, err = l.editMemory(kept, r, d)
		if err != nil {
			wait = func() {}
		}
		return err
	}
	if l.edits(r) {
		var err error
		if d, err = l.aggregate(kept, r); err != nil {
			return err
		}
		defer func() { program.Free(d.own) }()
		if l.options.Edit.At == "pre" {
			err = edit()
		} else {
			err = l.fix(d)
		}
		if err != nil {
			return err
		}
	}
	if err := l.apply(kept, r); err != nil || r.Rejected {
		return err
	}
	if l.options.ExtraUpdate {
		if err := l.again(kept, r); err != nil {
			return err
		}
	}
	if d != nil && l.options.Edit.At == "post" {
		if err := l.renew(); err != nil {
			return err
		}
		if err := edit(); err != nil {
			return err
		}
	}
	return l.follow(kept, r)
}

// again makes a second update with the same weights, from the same batches' gradients at the new θ.
func (l *Learner) again(kept []int, r *StepReport) error {
	if err := l.renew(); err != nil {
		return err
	}
	rows := make([]compute.Buffer, len(kept))
	for k, i := range kept {
		rows[k] = l.rows[i].gradient
	}
	_, err := l.descend(r.Weights, rows)
	return err
}

// renew computes the gradients of all rows at the θ of now.
func (l *Learner) renew() error {
	for i := range l.rows {
		l.rows[i].free()
		if err := l.differentiate(&l.rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// differentiateAll computes the gradients of a step's rows, the memory's first, and their Gram matrix
// where the method asks for it. A method that chooses what is replayed sees the tasks' gradients first.
func (l *Learner) differentiateAll(tasks []row) ([]float64, error) {
	_, chooses := method.As[method.Replayer](l.options.Method)
	l.rows = tasks
	if chooses {
		for i := range l.rows {
			if err := l.differentiate(&l.rows[i]); err != nil {
				return nil, err
			}
		}
	}
	if chooses || l.memory.Len() > 0 {
		replayed, err := l.memoryRows()
		if err != nil {
			return nil, err
		}
		for _, r := range replayed {
			if err := l.aim(r.batch, r.loss); err != nil {
				return nil, err
			}
		}
		l.rows = append(replayed, l.rows...)
	}
	needsGram := l.options.Method.Info().NeedsGram
	if needsGram {
		l.gram.begin(len(l.rows))
	}
	for i := range l.rows {
		if l.rows[i].gradient == nil {
			if err := l.differentiate(&l.rows[i]); err != nil {
				return nil, err
			}
		}
		if needsGram {
			l.gram.add(l.rows[i].gradient)
		}
	}
	if !needsGram {
		return nil, nil
	}
	gram := make([]float64, len(l.rows)*len(l.rows))
	return gram, l.gram.finish(gram)
}

// aim sets what a batch should predict, for a loss.
func (l *Learner) aim(b *hostBatch, loss method.Loss) error {
	if loss.TaskMargin != 0 {
		for _, id := range b.task[:b.N] {
			if !l.slots.contiguous(id) {
				return fmt.Errorf("method %s sets a margin around each task, but the outputs of task %d lie among those of others, since they share classes: set its task margin to 0", l.options.Method.Info().Name, id)
			}
		}
	}
	if err := b.target(l.slots, loss.Seen); err != nil {
		return err
	}
	switch loss.Kind {
	case method.StoredLogits:
		b.refer(l.options.Model.Outputs())
	case method.Sigmoid:
		return l.teach(b)
	}
	return nil
}

// differentiate computes one stream's gradient and loss.
func (l *Learner) differentiate(r *row) error {
	p, err := l.programs.gradient(r.loss)
	if err != nil {
		return err
	}
	if r.gradient, r.value, err = l.gradientAt(l.theta, p, r.batch, r.loss, true); err != nil {
		return err
	}
	if !l.options.Method.Info().NeedsCross {
		return nil
	}
	half := (r.batch.N + 1) / 2
	for h := range r.halves {
		for i := range r.batch.N {
			r.batch.valid[i] = 0
			if (i < half) == (h == 0) || r.batch.N == 1 {
				r.batch.valid[i] = 1
			}
		}
		if r.halves[h], _, err = l.gradientAt(l.theta, p, r.batch, r.loss, false); err != nil {
			return err
		}
	}
	for i := range r.batch.N {
		r.batch.valid[i] = 1
	}
	return nil
}

// gradientAt runs a gradient program on a batch that has been aimed. With record, the batch's
// statistics go into the running ones.
func (l *Learner) gradientAt(theta compute.Buffer, p *program.Program, b *hostBatch, loss method.Loss, record bool) (compute.Buffer, float64, error) {
	in, done, err := b.upload(l.options.Backend, referenced(loss))
	if err != nil {
		return nil, 0, err
	}
	defer done()
	out, err := p.Call(append([]compute.Buffer{theta}, in...)...)
	if err != nil {
		return nil, 0, err
	}
	defer program.Free(out[1:]...)
	if record && len(out) > 2 {
		if err := l.runStatistics(out[2]); err != nil {
			program.Free(out[0])
			return nil, 0, err
		}
	}
	var value [1]float32
	if err := program.ToHost(value[:], out[1]); err != nil {
		program.Free(out[0])
		return nil, 0, err
	}
	return out[0], float64(value[0]), nil
}

// finite returns the indices of the rows whose loss and gradient are finite, and reports them and
// the others.
func (l *Learner) finite(gram []float64, r *StepReport) []int {
	kept := make([]int, 0, len(l.rows))
	for i, row := range l.rows {
		v := row.value
		if gram != nil {
			v += gram[i*len(l.rows)+i]
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			r.Skipped = append(r.Skipped, row.id)
			continue
		}
		kept = append(kept, i)
		r.IDs = append(r.IDs, row.id)
		r.Losses = append(r.Losses, row.value)
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

// apply makes the optimiser step along d: Σ wᵢJᵢ, or what the method gave instead.
func (l *Learner) apply(kept []int, r *StepReport) error {
	w, rows := r.Weights, make([]compute.Buffer, len(kept))
	for k, i := range kept {
		rows[k] = l.rows[i].gradient
	}
	if d := r.Outcome.Direction; d != nil {
		g, err := l.along(d, kept)
		if err != nil {
			return err
		}
		defer program.Free(g)
		w, rows = []float64{1}, []compute.Buffer{g}
	}
	norm2, err := l.descend(w, rows)
	if err != nil {
		return err
	}
	if r.Rejected = math.IsNaN(norm2) || math.IsInf(norm2, 0); !r.Rejected {
		r.NormD = math.Sqrt(norm2)
	}
	return nil
}

// descend makes an optimiser step along Σ wᵢ·rowᵢ and returns ‖d‖², which is not finite if the step was
// refused.
func (l *Learner) descend(w []float64, rows []compute.Buffer) (norm2 float64, err error) {
	p, err := l.programs.update(len(rows))
	if err != nil {
		return 0, err
	}
	in, err := l.updateInputs(w, l.options.Optimizer.hyper(l.update+1))
	if err != nil {
		return 0, err
	}
	defer program.Free(in...)
	all := append([]compute.Buffer{l.theta}, l.state...)
	all = append(append(all, in...), rows...)
	l.theta, l.state = nil, nil // donated
	out, err := p.Call(all...)
	if err != nil {
		return 0, err
	}
	last := len(out) - 1
	l.theta, l.state = out[0], out[1:last]
	defer program.Free(out[last])
	var result [1]float64
	if err := program.ToHost(result[:], out[last]); err != nil {
		return 0, err
	}
	if norm2 = result[0]; !math.IsNaN(norm2) && !math.IsInf(norm2, 0) {
		l.update++
	}
	return norm2, nil
}

// updateInputs uploads the weights and the scalars of an update.
func (l *Learner) updateInputs(w []float64, hyper []float32) ([]compute.Buffer, error) {
	single := make([]float32, len(w))
	for i := range w {
		single[i] = float32(w[i])
	}
	weights, err := program.ToDevice(l.options.Backend, single, len(single))
	if err != nil {
		return nil, err
	}
	h, err := program.ToDevice(l.options.Backend, hyper, hyperSize)
	if err != nil {
		program.Free(weights)
		return nil, err
	}
	return []compute.Buffer{weights, h}, nil
}

// follow shows the method the losses of the same batches at the new parameters.
func (l *Learner) follow(kept []int, r *StepReport) error {
	f, ok := method.As[method.Follower](l.options.Method)
	if !ok {
		return nil
	}
	after := make([]float64, len(kept))
	for k, i := range kept {
		each, err := l.lossesAt(l.theta, l.rows[i].batch, l.rows[i].loss)
		if err != nil {
			return err
		}
		for _, x := range each {
			after[k] += x / float64(len(each))
		}
	}
	return f.Follow(r.IDs, after)
}
