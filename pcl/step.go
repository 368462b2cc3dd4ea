package pcl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// ErrNoStream is what [Learner.Step] returns when no task is attached, or when all attached tasks
// have ended.
var ErrNoStream = errors.New("pcl: no running stream: attach a task first")

// Step makes one update from one batch of every running stream (docs/method.md §1.2). It computes
// one gradient for each stream, asks the method for the weight of each gradient, and makes one
// optimiser step along their weighted sum. While the device computes, the streams' next batches are
// fetched. When a task's stream has ended, the samples collected from it enter the memory.
//
// A task whose stream is not ready ([data.ErrNotReady]) and a task that is paused take no part in
// the step. If that leaves none, Step returns [ErrIdle]; [Learner.Run] waits.
//
// A step happens completely or not at all. After an error nothing has changed, and every stream
// keeps the batch that it delivered, so Step may be called again. If a stream is at fault, the
// error is a [StreamError], which says which one. The only exception is a failure of the device or
// of the method after the parameters have been touched: the learner then stops, and every later
// call returns an error that says so. And what a method remembers is not taken back: one that had
// been asked for weights before the failure has seen the gradients of that step.
func (l *Learner) Step() (*StepReport, error) { return l.stepOn(context.Background()) }

// stepOn makes a step unless ctx ends before its turn.
func (l *Learner) stepOn(ctx context.Context) (*StepReport, error) {
	if err := l.enter(ctx, false); err != nil {
		return nil, err
	}
	defer l.leave()
	count := l.ready.count()
	if len(l.tasks.running) == 0 {
		l.ready.idleSince.Store(count)
		return nil, ErrNoStream
	}
	l.ready.idleSince.Store(0)
	s := l.newStep()
	switch err := s.make(); {
	case err == ErrIdle:
		l.ready.idleSince.Store(count)
		return nil, err
	case err != nil:
		if s.touched {
			l.turns.failure = err
		}
		return nil, fmt.Errorf("pcl: step %d: %w", l.steps, err)
	}
	l.steps++
	l.version++
	s.report.Compilations = l.network.programs.Compilations()
	return s.report, nil
}

// step is one update of the parameters while it is made. It owns its rows, its weights and what it
// reports. It is given the learner's parts, and changes the network, the running tasks, the memory
// and the random numbers; mark takes this back as long as touched is false.
type step struct {
	parts

	rows    []row // the memory's rows first, then the tasks' rows in order of arrival
	kept    []int // indices of the rows whose loss and gradient are finite
	report  *StepReport
	touched bool       // whether something has changed that cannot be undone
	toward  *aggregate // what edits aim at; nil if this step does not edit the memory
}

// newStep returns the next step before its first phase.
func (l *Learner) newStep() *step {
	return &step{parts: l.parts(), report: &StepReport{Step: l.steps}}
}

// context is what the method may see during the step.
func (s *step) context() methodContext {
	return methodContext{parts: s.parts, number: s.report.Step, step: s}
}

// make makes the whole step: the functions that it and [step.compute] call are the phases, in
// order.
func (s *step) make() (err error) {
	if err := s.awaitStreams(); err != nil {
		return err
	}
	undo := s.mark()
	defer func() {
		if err != nil && !s.touched {
			undo()
		}
	}()
	if err := s.train(); err != nil {
		return err
	}
	s.touched = true // from here on samples enter the memory, which cannot be undone
	return guarded(byMethod(s.method), func() error {
		for _, t := range s.tasks.running.present() {
			t.observe()
		}
		if err := s.store(); err != nil {
			return err
		}
		return s.advance()
	})
}

// train does the computing of a step while the streams' next batches are fetched in another
// goroutine. A panic in the method's code is returned as an error.
func (s *step) train() (err error) {
	fetched := s.lookAhead()
	defer func() { err = errors.Join(err, <-fetched) }()
	defer s.free()
	return guarded(byMethod(s.method), func() error {
		var err error
		if s.rows, err = s.taskRows(); err != nil {
			return err
		}
		if len(s.rows) == 0 { // every stream has ended without another batch
			return nil
		}
		if err := s.compute(); err != nil {
			return err
		}
		for _, t := range s.tasks.running.present() {
			t.leftOut = s.report.Rejected || slices.Contains(s.report.Skipped, t.id)
		}
		return s.trace()
	})
}

// compute changes the parameters θ and, where memory editing is on, the pixels of the samples in
// the memory.
func (s *step) compute() error {
	if err := s.setTargets(s.rows); err != nil {
		return err
	}
	if s.idle() {
		return nil
	}
	if err := s.differentiate(); err != nil {
		return err
	}
	if len(s.kept) == 0 {
		return nil
	}
	if err := s.weigh(); err != nil { // weights.go
		return err
	}
	if err := s.prepareEdit(); err != nil { // edit.go
		return err
	}
	if err := s.update(); err != nil || s.report.Rejected { // update.go
		return err
	}
	if err := s.moved(); err != nil { // penalty.go
		return err
	}
	if err := s.updateAgain(); err != nil {
		return err
	}
	if err := s.editAfter(); err != nil {
		return err
	}
	moved := s.moveSamples()
	defer moved()
	return s.follow()
}

// trace passes what went into the step to [Options.Trace], if it is set.
func (s *step) trace() (err error) {
	if s.options.Trace == nil {
		return nil
	}
	t := &Trace{StepReport: s.report, Theta: s.network.parameters, Shared: s.network.programs.Shared}
	like := s.rows[len(s.rows)-1].Batch // that of a task
	for _, i := range s.kept {
		b := s.rows[i].Batch
		if b == nil { // the row of a penalty
			x, targets := make([]float32, len(like.X)), make([]int32, len(like.Targets))
			b = &device.Batch{Batch: data.Batch{X: x}, Targets: targets}
		}
		t.X, t.Targets = append(t.X, b.X), append(t.Targets, b.Targets)
		t.Loss, t.Reference = append(t.Loss, s.rows[i].Loss), append(t.Reference, b.Reference)
	}
	defer recovered(&err, "Options.Trace panicked")
	return s.options.Trace(t)
}

// awaitStreams gives each running task a batch to train on, if its stream has another one. The
// error of a stream that failed during the previous step is returned now, before anything is
// computed; the next step asks that stream again. Tasks that are paused, and those whose streams
// are not ready, take no part; if none is left, the error is ErrIdle.
func (s *step) awaitStreams() error {
	for _, t := range s.tasks.running {
		t.leftOut, t.bad, t.absent = false, nil, t.paused.Load()
	}
	for _, t := range s.tasks.running.present() {
		if err := t.err; err != nil {
			t.err = nil
			return t.failed(err)
		}
		if t.ready || t.exhausted {
			continue
		}
		switch err := t.fetch(t.current); err {
		case nil:
			t.ready = true
		case data.ErrNotReady:
			t.absent = true
		case io.EOF:
		default:
			return t.failed(err)
		}
	}
	if len(s.tasks.running.present()) == 0 {
		return ErrIdle
	}
	return nil
}

// lookAhead starts to fetch the next batch of each stream, unless an earlier step that failed has
// fetched it already. The channel receives the result when all batches are there.
func (s *step) lookAhead() (fetched chan error) {
	fetched = make(chan error, 1)
	go func() {
		defer close(fetched) // also where a stream ends its goroutine
		fetched <- guarded("fetching the next batches", s.fetchAhead)
	}()
	return fetched
}

func (s *step) fetchAhead() error {
	for _, t := range s.tasks.running.present() {
		if !t.ready || t.fetched {
			continue
		}
		switch err := t.fetch(t.spare); err {
		case nil:
			t.fetched = true
			if s.options.Augment != nil {
				continue // the device gets a changed copy
			}
			// It saves time to send the batch now. Where there is no room for it beside this step's
			// gradients, the next step sends it.
			_ = t.spare.Send(s.options.Backend)
		case io.EOF, data.ErrNotReady:
		default:
			t.err = err
		}
	}
	return nil
}

// idle reports whether the method skips this step and leaves the parameters as they are.
func (s *step) idle() bool {
	i := s.method.Idler
	return i != nil && i.Idle()
}

// free releases the buffers that the step holds on the device.
func (s *step) free() {
	s.forget()
	s.toward.free()
	s.rows = nil
}

// store shows the step's batches to a method that fills the memory itself, or that watches.
func (s *step) store() error {
	if m := s.method.Storer; m != nil {
		if err := m.Store(s.context(), s.tasks.firstSeen()); err != nil {
			return err
		}
	}
	if m := s.method.Observer; m != nil {
		return m.Observe(s.context(), s.tasks.firstSeen())
	}
	return nil
}

// advance makes the fetched batches the current ones, and ends the tasks whose streams have no more
// batches.
func (s *step) advance() error {
	for _, t := range s.tasks.running.present() {
		t.ready = t.fetched
		if t.fetched {
			t.current, t.spare, t.fetched = t.spare, t.current, false
		}
		if t.ready || !t.exhausted || t.err != nil { // the error of its last batch is returned first
			continue
		}
		if err := retire(s.context(), t, true); err != nil {
			return err
		}
		s.report.Ended = append(s.report.Ended, t.id)
	}
	return nil
}

// mark returns what takes back whatever the step has changed before it touches what cannot be
// undone.
func (s *step) mark() (undo func()) {
	draws, rewind, statistics := s.rng.Mark(), s.memory.Snapshot(), slices.Clone(s.network.statistics)
	return func() {
		copy(s.network.statistics, statistics)
		s.rng.Return(draws)
		rewind()
	}
}

// differentiate puts the memory's rows, and that of a penalty, in front of the tasks' rows and
// computes the gradient of each row and, where the method asks for it, their Gram matrix. If the
// method chooses what is replayed, the tasks' gradients are computed before it chooses, because it
// may want to use them.
func (s *step) differentiate() error {
	chooses := s.method.Replayer != nil
	if chooses {
		norms, err := s.gradientsOfGood(device.Products{Norms: true})
		if err != nil {
			return err
		}
		s.keepFinite(norms)
	}
	var replayed []row
	if chooses || s.memory.Len() > 0 {
		var err error
		if replayed, err = s.memoryRows(); err != nil {
			return err
		}
		if err := s.setTargets(replayed); err != nil {
			return err
		}
	}
	penalty, err := s.penaltyRow()
	if err != nil {
		return err
	}
	s.rows = slices.Concat(replayed, penalty, s.rows)
	gram, err := s.gradientsOfGood(products(s.options, s.method))
	if err != nil {
		return err
	}
	s.keepFinite(gram)
	s.reportKept(gram)
	return nil
}
