package pcl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// ErrNoStream is what [Learner.Step] returns when no task is attached, or when all attached tasks have ended.
var ErrNoStream = errors.New("pcl: no running stream: attach a task first")

// Step makes one update from one batch of every running stream (docs/method.md §1.2). It computes one gradient
// for each stream, asks the method for the weight of each gradient, and makes one optimiser step along their
// weighted sum. While the device computes, the streams' next batches are fetched. When a task's stream has
// ended, the samples collected from it enter the memory.
//
// A task whose stream is not ready ([data.ErrNotReady]) and a task that is paused take no part in the step. If that
// leaves none, Step returns [ErrIdle]; [Learner.Run] waits.
//
// A step happens completely or not at all. After an error nothing has changed, and every stream keeps the
// batch that it delivered, so Step may be called again. If a stream is at fault, the error is a [StreamError],
// which says which one. The only exception is a failure of the device or of the method after the parameters
// have been touched: the learner then stops, and every later call returns an error that says so. And what a
// method remembers is not taken back: one that had been asked for weights before the failure has seen the gradients of
// that step.
func (l *Learner) Step() (*StepReport, error) { return l.stepOn(context.Background()) }

// stepOn makes a step unless ctx ends before its turn.
func (l *Learner) stepOn(ctx context.Context) (*StepReport, error) {
	if err := l.enter(ctx, false); err != nil {
		return nil, err
	}
	defer l.leave()
	if len(l.tasks) == 0 {
		l.idleSince.Store(l.bell.count())
		return nil, ErrNoStream
	}
	s := &step{Learner: l, report: &StepReport{Step: l.steps}}
	if err := s.make(); err == ErrIdle {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("pcl: step %d: %w", l.steps, err)
	}
	l.steps++
	l.version++
	s.report.Compilations = l.programs.Compilations()
	return s.report, nil
}

// make makes the whole step: the functions that it and [step.compute] call are the phases, in order.
func (s *step) make() (err error) {
	if err := s.awaitStreams(); err != nil {
		return err
	}
	undo := s.mark()
	defer func() {
		if err != nil && !s.touched {
			undo()
		} else if err != nil {
			s.failure = err // the learner stops for good
		}
	}()
	if err := s.train(); err != nil {
		return err
	}
	s.touched = true // from here on samples enter the memory, which cannot be undone
	return guarded(s.byMethod(), func() error {
		for _, t := range s.tasks.present() {
			t.observe()
		}
		if err := s.store(); err != nil {
			return err
		}
		return s.advance()
	})
}

// train does the computing of a step while the streams' next batches are fetched in another goroutine. A panic
// in the method's code is returned as an error.
func (s *step) train() (err error) {
	fetched := s.lookAhead()
	defer func() { err = errors.Join(err, <-fetched) }()
	defer s.free()
	return guarded(s.byMethod(), func() error {
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
		for _, t := range s.tasks.present() {
			t.leftOut = s.report.Rejected || slices.Contains(s.report.Skipped, t.id)
		}
		return s.trace()
	})
}

// compute changes the parameters θ and, where memory editing is on, the pixels of the samples in the memory.
func (s *step) compute() error {
	if err := s.aimAll(s.rows); err != nil {
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
	t := &Trace{StepReport: s.report, Theta: s.parameters, Shared: s.programs.Shared}
	like := s.rows[len(s.rows)-1].Batch // that of a task
	for _, i := range s.kept {
		b := s.rows[i].Batch
		if b == nil { // the row of a penalty
			b = &device.Batch{Batch: data.Batch{X: make([]float32, len(like.X))}, Targets: make([]int32, len(like.Targets))}
		}
		t.X, t.Targets = append(t.X, b.X), append(t.Targets, b.Targets)
		t.Loss, t.Reference = append(t.Loss, s.rows[i].Loss), append(t.Reference, b.Reference)
	}
	defer recovered(&err, "Options.Trace panicked")
	return s.options.Trace(t)
}

// awaitStreams gives each running task a batch to train on, if its stream has another one. The error of a
// stream that failed during the previous step is returned now, before anything is computed; the next step asks
// that stream again. Tasks that are paused, and those whose streams are not ready, take no part; if none is left, the
// error is ErrIdle.
func (s *step) awaitStreams() error {
	rung := s.bell.count()
	s.idleSince.Store(0)
	for _, t := range s.tasks {
		t.leftOut, t.bad, t.absent = false, nil, t.paused.Load()
	}
	for _, t := range s.tasks.present() {
		if err := t.err; err != nil {
			t.err = nil
			return t.failed(err)
		}
		if t.ready || t.over {
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
	if len(s.tasks.present()) == 0 {
		s.idleSince.Store(rung)
		return ErrIdle
	}
	return nil
}

// lookAhead starts to fetch the next batch of each stream, unless an earlier step that failed has fetched it
// already. The channel receives the result when all batches are there.
func (s *step) lookAhead() (fetched chan error) {
	fetched = make(chan error, 1)
	go func() {
		defer close(fetched) // also where a stream ends its goroutine
		fetched <- guarded("fetching the next batches", s.fetchAhead)
	}()
	return fetched
}

func (s *step) fetchAhead() error {
	for _, t := range s.tasks.present() {
		if !t.ready || t.fetched {
			continue
		}
		switch err := t.fetch(t.spare); err {
		case nil:
			t.fetched = true
			if s.options.Augment != nil {
				continue // the device gets a changed copy
			}
			// It saves time to send the batch now. Where there is no room for it beside this step's gradients, the next
			// step sends it.
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

// store shows the step's batches to a method that fills the memory itself.
func (s *step) store() error {
	if m := s.method.Storer; m != nil {
		return m.Store(methodContext{s.Learner, s}, s.firstSeen())
	}
	return nil
}

// advance makes the fetched batches the current ones, and ends the tasks whose streams have no more batches.
func (s *step) advance() error {
	for _, t := range s.tasks.present() {
		t.ready = t.fetched
		if t.fetched {
			t.current, t.spare, t.fetched = t.spare, t.current, false
		}
		if t.ready || !t.over || t.err != nil { // the error of its last batch is returned first
			continue
		}
		if err := s.retire(t, true); err != nil {
			return err
		}
		s.report.Ended = append(s.report.Ended, t.id)
	}
	return nil
}

// mark returns what takes back whatever the step has changed before it touches what cannot be undone.
func (s *step) mark() (undo func()) {
	draws, rewind, statistics := s.rng.Mark(), s.memory.Snapshot(), slices.Clone(s.network.statistics)
	return func() {
		copy(s.network.statistics, statistics)
		s.rng.Return(draws)
		rewind()
	}
}

// differentiate puts the memory's rows, and that of a penalty, in front of the tasks' rows and computes the gradient
// of each row and, where the method asks for it, their Gram matrix. If the method chooses what is replayed, the tasks' gradients
// are computed before it chooses, because it may want to use them.
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
		if err := s.aimAll(replayed); err != nil {
			return err
		}
	}
	penalty, err := s.penaltyRow()
	if err != nil {
		return err
	}
	s.rows = slices.Concat(replayed, penalty, s.rows)
	gram, err := s.gradientsOfGood(s.products())
	if err != nil {
		return err
	}
	s.keepFinite(gram)
	s.reportKept(gram)
	return nil
}

// Wait returns when there may be something to do after [Learner.Step] has returned [ErrIdle] or [ErrNoStream]: a
// stream may be ready, or a task has arrived, was resumed or has ended. It returns at once if the last step was made.
// If ctx is cancelled, it returns the error of ctx. It may be called from any goroutine, and other calls may be made
// while it waits.
func (l *Learner) Wait(ctx context.Context) error {
	rung, heard := l.bell.listen()
	if l.closed.Load() {
		return ErrClosed
	}
	if l.idleSince.Load() != rung {
		return ctx.Err()
	}
	var again <-chan time.Time
	if l.status.Load().tasks.asks() {
		timer := time.NewTimer(askAgain)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-heard:
	case <-again:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// askAgain is the time after which a stream is asked again that was not ready and cannot say when it is.
const askAgain = 10 * time.Millisecond
