package pcl

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
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
	// Rejected says that d was not finite though every row was, so that the step left the parameters and the
	// memory as they were.
	Rejected bool
	// Edit tells of memory editing; nil where there was none.
	Edit *EditReport
	// Skipped lists streams whose loss or gradient was not finite and that were left out. Nothing of
	// their batches enters the memory.
	Skipped []int
	// Ended lists the tasks whose last batch this was.
	Ended []int
}

// Record returns the step as the record file of a run has it. Unlike the report it stays valid.
func (r *StepReport) Record() results.Record {
	out := results.Record{
		Step: r.Step, IDs: slices.Clone(r.IDs), Losses: slices.Clone(r.Losses), Gram: slices.Clone(r.Gram),
		Weights: slices.Clone(r.Weights), NormD: r.NormD,
	}
	if e := r.Edit; e != nil {
		out.Edit = &results.Edit{Samples: len(e.Indices), Phi: e.Phi, Change: e.Change}
	}
	if c := r.Outcome.Certificate; c != nil {
		c = c.Clone()
		out.Sigma, out.Lambda, out.Slacks, out.Gap, out.Status = c.Sigma, c.Lambda, c.Slacks, c.Gap, c.Status.String()
	}
	return out
}

// Step makes one update from one batch of every active stream (docs/method.md §1.2): a gradient
// each, the method's weights, one optimiser step. While the device computes,
// the streams' next batches are fetched. Tasks that end go into the memory.
//
// A step is made or not made. After an error nothing has changed and every stream keeps the batch that it
// delivered, so that Step may be called again: a [StreamError] says which stream is at fault. The one
// exception is a failure of the device or the method after the parameters were touched; from then on the
// learner says that it has stopped.
func (l *Learner) Step() (r *StepReport, err error) {
	if err := l.enter(false); err != nil {
		return nil, err
	}
	defer l.leave()
	if len(l.running()) == 0 {
		return nil, ErrNoStream
	}
	if r, err = l.makeStep(); err != nil {
		return nil, fmt.Errorf("pcl: step %d: %w", l.step, err)
	}
	l.step++
	return r, nil
}

// running lists the tasks that have not ended.
func (l *Learner) running() (tasks []*task) {
	for _, t := range l.tasks {
		if !t.ended {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

func (l *Learner) makeStep() (r *StepReport, err error) {
	if err := l.awaitStreams(); err != nil {
		return nil, err
	}
	before, err := l.mark()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil {
			return
		}
		if l.touched {
			l.failure = err
		} else {
			err = errors.Join(err, l.rewind(before))
		}
	}()
	if r, err = l.trainAhead(); err != nil {
		return nil, err
	}
	l.touched = true // samples are about to enter the memory
	for _, t := range l.running() {
		t.observe()
	}
	if err := l.keep(); err != nil {
		return nil, err
	}
	return r, l.advance(r)
}

// awaitStreams gives each running task a batch to train on, where its stream has one more. A stream that
// failed during the step before is named now, before anything is computed, and asked anew by the next step.
func (l *Learner) awaitStreams() error {
	for _, t := range l.running() {
		t.leftOut = false
		if err := t.err; err != nil {
			t.err = nil
			return t.failed(err)
		}
		if t.ready || t.over {
			continue
		}
		if err := t.fetch(t.current); err == nil {
			t.ready = true
		} else if err != io.EOF {
			return t.failed(err)
		}
	}
	return nil
}

// trainAhead trains on the current batches, while the streams' next ones are fetched.
func (l *Learner) trainAhead() (r *StepReport, err error) {
	fetched := make(chan error, 1)
	go func() { fetched <- l.lookAhead() }()
	r, err = l.trainOn()
	return r, errors.Join(err, <-fetched)
}

// trainOn makes the step's computation. A panic in the method's code is an error.
func (l *Learner) trainOn() (r *StepReport, err error) {
	defer func() {
		l.readout.wait()
		for i := range l.rows {
			l.rows[i].free()
		}
		l.rows = nil
	}()
	defer recovered(&err, "method "+l.options.Method.Info().Name)
	tasks := l.taskRows()
	if len(tasks) == 0 { // streams that ended without another batch
		return &StepReport{Step: l.step}, nil
	}
	for _, row := range tasks {
		if err := l.aim(row.batch, row.loss); err != nil {
			return nil, err
		}
	}
	if r, err = l.train(tasks); err != nil {
		return nil, err
	}
	for _, t := range l.running() {
		t.leftOut = r.Rejected || slices.Contains(r.Skipped, t.id)
	}
	if l.export != nil {
		err = l.export(r)
	}
	return r, err
}

// lookAhead fetches the next batch of each stream, unless a step that was not made has fetched it.
func (l *Learner) lookAhead() error {
	for _, t := range l.running() {
		if !t.ready || t.fetched {
			continue
		}
		switch err := t.fetch(t.spare); err {
		case nil:
			t.fetched = true
			if err := l.send(t.spare); err != nil {
				return fmt.Errorf("%s: sending its batch to the device: %w", label(t.id, t.Name), err)
			}
		case io.EOF:
		default:
			t.err = err
		}
	}
	return nil
}

// keep lets a method that fills the memory itself look at the step's batches.
func (l *Learner) keep() (err error) {
	keeper, ok := method.As[method.Keeper](l.options.Method)
	if !ok {
		return nil
	}
	defer recovered(&err, "method "+l.options.Method.Info().Name)
	return keeper.Keep(lab{l})
}

// advance makes the fetched batches current and retires the tasks whose streams have no more.
func (l *Learner) advance(r *StepReport) error {
	for _, t := range l.running() {
		t.ready = t.fetched
		if t.fetched {
			t.current, t.spare, t.fetched = t.spare, t.current, false
		}
		if t.ready || !t.over {
			continue
		}
		if err := l.retire(t, true); err != nil {
			return err
		}
		r.Ended = append(r.Ended, t.id)
	}
	return nil
}

// retire ends a task. With keep, what its reservoir holds enters the memory.
func (l *Learner) retire(t *task, keep bool) error {
	t.ended = true
	if keep {
		if err := l.remember(t); err != nil {
			return fmt.Errorf("%s: %w", label(t.id, t.Name), err)
		}
	}
	t.free()
	t.Stream, t.reservoir, t.err = nil, nil, nil
	if s, ok := method.As[method.Stateful](l.options.Method); ok {
		s.End(t.id)
	}
	return nil
}

// remember takes what is to be kept of a task that has ended into the memory.
func (l *Learner) remember(t *task) (err error) {
	items := t.reservoir.Items()
	c, ok := method.As[method.Curator](l.options.Method)
	if !ok {
		l.memory.Add(items)
		return nil
	}
	defer recovered(&err, "method "+l.options.Method.Info().Name)
	return c.Curate(lab{l}, t.id, items)
}

// Detach ends a task before its stream does: a stream that fails for good, or one that is not wanted any
// more. With keep, what has been collected of it enters the memory, as at the end of its stream; else it
// is forgotten. Batches that were fetched and not trained on are dropped.
func (l *Learner) Detach(id int, keep bool) error {
	if err := l.enter(false); err != nil {
		return err
	}
	defer l.leave()
	if id < 1 || id > len(l.tasks) {
		return fmt.Errorf("pcl: detach: there is no task %d; %d have arrived", id, len(l.tasks))
	}
	t := l.tasks[id-1]
	if t.ended {
		return fmt.Errorf("pcl: detach: %s has ended already", label(id, t.Name))
	}
	if err := l.retire(t, keep); err != nil {
		l.failure = err
		return fmt.Errorf("pcl: detach: %w", err)
	}
	return nil
}

// beginning is what a step that is not made goes back to.
type beginning struct {
	method     []byte // the state of the method's random draws
	memory     memory.Draws
	statistics []float32
}

func (l *Learner) mark() (b beginning, err error) {
	l.touched = false
	if b.method, err = l.rng.MarshalBinary(); err != nil {
		return b, err
	}
	b.statistics = slices.Clone(l.statistics)
	b.memory, err = l.memory.Draws()
	return b, err
}

func (l *Learner) rewind(b beginning) error {
	copy(l.statistics, b.statistics)
	return errors.Join(l.rng.UnmarshalBinary(b.method), l.memory.Rewind(b.memory))
}
