package pcl

import (
	"errors"
	"fmt"
	"io"
	"slices"

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
	l.readout.wait()
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
			if t.err = t.fetch(t.spare); t.err == nil {
				t.err = l.send(t.spare)
			}
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
