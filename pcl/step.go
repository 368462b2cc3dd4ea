package pcl

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// ErrNoStream is what [Learner.Step] returns where no task is attached or all have ended.
var ErrNoStream = errors.New("pcl: no active stream: attach a task first")

// Step makes one update from one batch of every active stream (docs/method.md §1.2): a gradient each, the
// method's weights, one optimiser step. While the device computes, the streams' next batches are fetched.
// Tasks that end go into the memory.
//
// A step is made or not made. After an error nothing has changed and every stream keeps the batch that it
// delivered, so that Step may be called again: a [StreamError] says which stream is at fault. The one
// exception is a failure of the device or the method after the parameters were touched; from then on the
// learner says that it has stopped.
func (l *Learner) Step() (*StepReport, error) {
	if err := l.enter(false); err != nil {
		return nil, err
	}
	defer l.leave()
	if len(l.running()) == 0 {
		return nil, ErrNoStream
	}
	s := &step{Learner: l, report: &StepReport{Step: l.step}}
	if err := s.make(); err != nil {
		return nil, fmt.Errorf("pcl: step %d: %w", l.step, err)
	}
	l.step++
	return s.report, nil
}

// step is one step being made.
type step struct {
	*Learner
	rows    []row // the memory's first, then the tasks' by arrival
	kept    []int // indices of the rows that are finite
	report  *StepReport
	touched bool // something has changed that cannot be taken back
}

// make makes the step. Its phases stand in their order, each in the file of its name.
func (s *step) make() (err error) {
	if err := s.awaitStreams(); err != nil {
		return err
	}
	before, err := s.mark()
	if err != nil {
		return err
	}
	defer func() { err = s.settle(err, before) }()
	if err := s.train(); err != nil {
		return err
	}
	s.touched = true // samples are about to enter the memory
	for _, t := range s.running() {
		t.observe()
	}
	if err := s.store(); err != nil {
		return err
	}
	return s.advance()
}

// train does what a step computes, while the streams' next batches are fetched. A panic in the method's code
// is an error.
func (s *step) train() (err error) {
	fetched := s.lookAhead()
	defer func() { err = errors.Join(err, <-fetched) }()
	defer s.free()
	defer recovered(&err, s.byMethod())
	if s.rows = s.taskRows(); len(s.rows) == 0 { // streams that ended without another batch
		return nil
	}
	if err := s.compute(); err != nil {
		return err
	}
	for _, t := range s.running() {
		t.leftOut = s.report.Rejected || slices.Contains(s.report.Skipped, t.id)
	}
	return s.trace()
}

// compute changes θ, and the memory's pixels where they are edited.
func (s *step) compute() error {
	if err := s.aimAll(); err != nil || s.idle() {
		return err
	}
	if err := s.differentiate(); err != nil { // gradients.go
		return err
	}
	if err := s.weigh(); err != nil || len(s.kept) == 0 { // weights.go
		return err
	}
	d, err := s.prepareEdit() // edit.go
	if err != nil {
		return err
	}
	defer d.free()
	if err := s.update(); err != nil || s.report.Rejected { // update.go
		return err
	}
	if err := s.updateAgain(); err != nil {
		return err
	}
	if err := s.editAfter(d); err != nil {
		return err
	}
	moved := s.moveSamples()
	defer moved()
	return s.follow()
}

// awaitStreams gives each running task a batch to train on, where its stream has one more. A stream that
// failed during the step before is named now, before anything is computed, and asked anew by the next step.
func (s *step) awaitStreams() error {
	for _, t := range s.running() {
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

// lookAhead fetches the next batch of each stream, unless a step that was not made has fetched it. The
// channel says when it has.
func (s *step) lookAhead() (fetched chan error) {
	fetched = make(chan error, 1)
	go func() { fetched <- s.fetchAhead() }()
	return fetched
}

func (s *step) fetchAhead() error {
	for _, t := range s.running() {
		if !t.ready || t.fetched {
			continue
		}
		switch err := t.fetch(t.spare); err {
		case nil:
			t.fetched = true
			if err := s.tables.Send(t.spare); err != nil {
				return fmt.Errorf("%s: sending its batch to the device: %w", label(t.id, t.Name), err)
			}
		case io.EOF:
		default:
			t.err = err
		}
	}
	return nil
}

// idle says whether the method sits the step out.
func (s *step) idle() bool {
	i, ok := method.As[method.Idler](s.options.Method)
	return ok && i.Idle()
}

// free gives back what the step has on the device.
func (s *step) free() {
	s.readout.Wait()
	for i := range s.rows {
		s.rows[i].free()
	}
	s.rows = nil
}

// trace shows what went into the step to whoever asked for it.
func (s *step) trace() error {
	if s.options.Trace == nil {
		return nil
	}
	t := &Trace{StepReport: s.report, Theta: s.parameters}
	for _, i := range s.kept {
		b := s.rows[i].batch
		t.N, t.X, t.Targets = append(t.N, b.N), append(t.X, b.X), append(t.Targets, b.Targets)
	}
	return s.options.Trace(t)
}

// store lets a method that fills the memory by itself look at the step's batches.
func (s *step) store() (err error) {
	m, ok := method.As[method.Storer](s.options.Method)
	if !ok {
		return nil
	}
	defer recovered(&err, s.byMethod())
	return m.Store(storing{lab{s.Learner}})
}

// advance makes the fetched batches current and retires the tasks whose streams have no more.
func (s *step) advance() error {
	for _, t := range s.running() {
		t.ready = t.fetched
		if t.fetched {
			t.current, t.spare, t.fetched = t.spare, t.current, false
		}
		if t.ready || !t.over {
			continue
		}
		if err := s.retire(t, true); err != nil {
			return err
		}
		s.report.Ended = append(s.report.Ended, t.id)
	}
	return nil
}

// beginning is what a step that is not made goes back to.
type beginning struct {
	method     []byte // the state of the method's random draws
	memory     memory.Draws
	statistics []float32
}

func (s *step) mark() (b beginning, err error) {
	if b.method, err = s.rng.MarshalBinary(); err != nil {
		return b, err
	}
	b.statistics = slices.Clone(s.network.statistics)
	b.memory, err = s.memory.Draws()
	return b, err
}

// settle takes back what a step that failed has changed; where that cannot be, the learner stops.
func (s *step) settle(err error, b beginning) error {
	switch {
	case err == nil:
		return nil
	case s.touched:
		s.failure = err
		return err
	}
	copy(s.network.statistics, b.statistics)
	return errors.Join(err, s.rng.UnmarshalBinary(b.method), s.memory.Rewind(b.memory))
}
