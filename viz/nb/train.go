package nb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/parallelcl/parallelcl/pcl"
)

// Training is a learner that trains in the background; see [Train]. Its methods may be called
// concurrently.
type Training struct {
	learner *pcl.Learner
	hooks   pcl.Hooks
	line    string // the id of the line that says where it stands

	mu      sync.Mutex
	state   state
	err     error              // why it failed
	due     bool               // whether an evaluation follows the step that was made
	stop    context.CancelFunc // ends the call of Run in progress
	over    chan struct{}      // closed when that call has returned
	history history
	lives   []*Live // what Watch shows
	shown   string  // the line as it is
}

type state string

const (
	trains  state = "trains"
	paused  state = "paused"
	stopped state = "stopped"
	failed  state = "failed"
)

// Train trains a learner in the background while other cells run, and shows a line with its
// progress: the step, the rate, the loss, and the weight of each task.
//
//	training := nb.Train(learner)
//
// The cell ends at once. Later cells use the learner: they attach and detach tasks, predict, save,
// and replace functions that the training calls. Without streams it waits for the next task. An
// error stops the training, appears in the newest cell, and is returned by [Training.Wait];
// [Training.Resume] tries again. The hooks are those of [pcl.Learner.Run]; accuracies are measured
// every 10 steps unless the hooks say otherwise. A learner has one training: a second call
// continues it with other hooks.
//
// In stock GoNB a cell is a program, and the training ends with it: let the cell wait
// ([Training.Wait]).
func Train(l *pcl.Learner, hooks ...pcl.Hooks) *Training {
	t := &Training{learner: l, state: paused, over: make(chan struct{}), history: newHistory(l)}
	close(t.over)
	if other, ok := trainings.LoadOrStore(l, t); ok {
		t = other.(*Training)
		t.Pause()
	}
	t.mu.Lock()
	t.hooks, t.line, t.shown = t.wrap(append(hooks, pcl.Hooks{})[0]), gonbui.UniqueId(), ""
	t.mu.Unlock()
	t.Resume()
	t.refresh() // in this cell, before it ends
	return t
}

// trainings has the training of each learner that has one.
var trainings sync.Map

// wrap has the hooks keep what happens.
func (t *Training) wrap(h pcl.Hooks) pcl.Hooks {
	step, evaluate := h.OnStep, h.Evaluate
	h.WaitForTasks, h.EvaluateEvery = true, cmp.Or(h.EvaluateEvery, 10)
	h.OnStep = func(r *pcl.StepReport) error {
		t.mu.Lock()
		t.history.step(t.learner, r)
		t.due = len(r.Ended) > 0 || h.EvaluateEvery > 0 && (r.Step+1)%h.EvaluateEvery == 0
		t.mu.Unlock()
		if step == nil {
			return nil
		}
		return step(r)
	}
	h.Evaluate = func(steps int, score map[int]float64) error {
		t.mu.Lock()
		if loss := t.learner.Options().Loss; loss == nil || loss.Targets() == 0 { // else the scores are no accuracies
			t.history.evaluated(steps-1, score)
		}
		t.due = false
		t.mu.Unlock()
		if evaluate == nil {
			return nil
		}
		return evaluate(steps, score)
	}
	return h
}

// Pause stops the training after the step in progress, until [Training.Resume]. To leave out a
// single task, call [pcl.Learner.Pause].
func (t *Training) Pause() { t.end(paused) }

// Stop pauses the training for good: the figures of [Training.Watch] keep their last state, which
// the notebook saves.
func (t *Training) Stop() {
	trainings.CompareAndDelete(t.learner, t)
	t.end(stopped)
}

func (t *Training) end(as state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == trains {
		t.stop()
	} else {
		background(t.refresh)
	}
	t.state = as
}

// Resume continues after a pause or an error.
func (t *Training) Resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == trains || t.state == stopped {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	last, over, hooks := t.over, make(chan struct{}), t.hooks
	t.state, t.err, t.stop, t.over = trains, nil, stop, over
	background(func() {
		<-last
		t.ended(t.run(ctx, hooks), over)
	})
	background(func() { t.show(over) })
}

// background runs f in a goroutine that belongs to no cell, and so outlives the one that it is
// called from: kernels know goroutines by their labels.
func background(f func()) {
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		f()
	}()
}

// run trains until ctx ends. Hooks are the user's code.
func (t *Training) run(ctx context.Context, hooks pcl.Hooks) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	err = t.learner.Run(ctx, hooks)
	// it was asked to end; a failed save counts
	if joined, ok := err.(interface{ Unwrap() []error }); ok && ctx.Err() != nil {
		err = errors.Join(slices.DeleteFunc(slices.Clone(joined.Unwrap()), func(e error) bool {
			return errors.Is(e, ctx.Err())
		})...)
	}
	return err
}

// panicked is a panic of a user's code as an error; must and check in cells panic with one.
func panicked(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return fmt.Errorf("panic: %v", p)
}

func (t *Training) ended(err error, over chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer close(over)
	switch {
	case errors.Is(err, pcl.ErrClosed):
		t.state = stopped
		trainings.CompareAndDelete(t.learner, t)
	case err != nil:
		t.state, t.err = failed, fmt.Errorf("nb: the training of %s failed at step %d: %w", t.history.run.MethodTitle,
			t.learner.Steps(), err)
		report(t.err)
	}
}

// Wait waits until a number of steps have been made in all or, if steps is 0, until all streams
// have ended. It returns earlier if the training stops, with its error if there was one, and with
// the error of ctx when that ends.
func (t *Training) Wait(ctx context.Context, steps int) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for idle := time.Now(); ; {
		runs := len(t.learner.Running()) > 0
		if runs {
			idle = time.Now()
		}
		t.mu.Lock()
		state, err := t.state, t.err
		// The history lacks steps that were made by another call than this training's, so that
		// after an idle second Wait does not wait for them.
		noted := !t.due && t.history.run.Steps >= t.learner.Steps() || time.Since(idle) > time.Second
		t.mu.Unlock()
		if state != trains || !runs && noted || steps > 0 && t.learner.Steps() >= steps {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
