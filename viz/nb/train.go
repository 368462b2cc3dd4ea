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

// Training is a learner that is trained in the background; see [Train]. Its methods may be called from any goroutine.
type Training struct {
	learner *pcl.Learner
	hooks   pcl.Hooks
	line    string // the id of the line that says where it stands

	mu    sync.Mutex
	state state
	err   error              // why it failed
	stop  context.CancelFunc // ends the call of Run in progress
	over  chan struct{}      // closed when that call has returned
	diary diary
	lives []*Live // what Watch shows
	shown string  // the line as it is
}

type state string

const (
	trains  state = "trains"
	paused  state = "paused"
	stopped state = "stopped"
	failed  state = "failed"
)

// Train trains a learner in the background, whatever cells run meanwhile, and shows a line that says where it stands: step,
// rate, loss, and the weight of each task.
//
//	training := nb.Train(learner)
//
// The cell ends at once, and later ones go on with the learner: they attach and detach tasks, predict, save, and change
// what the training calls. When no stream is left it waits for the next task. An error ends the training, appears in the
// newest cell, and is returned by [Training.Wait]; [Training.Resume] tries again. The hooks are those of [pcl.Learner.Run];
// accuracies are measured every 10 steps unless they say otherwise. A learner has one training: another call stops the first.
//
// In stock GoNB a cell is a program, and the training ends with it: let the cell wait ([Training.Wait]).
func Train(l *pcl.Learner, hooks ...pcl.Hooks) *Training {
	t := &Training{learner: l, line: gonbui.UniqueId(), state: paused, over: make(chan struct{}), diary: newDiary(l)}
	close(t.over)
	t.hooks = t.wrap(append(hooks, pcl.Hooks{})[0])
	t.Resume()
	t.refresh() // in this cell, before it ends
	return t
}

// trainings has the training of each learner that is trained now.
var trainings sync.Map

// wrap has the hooks keep what happens.
func (t *Training) wrap(h pcl.Hooks) pcl.Hooks {
	step, evaluate := h.OnStep, h.Evaluate
	h.Stay, h.EvaluateEvery = true, cmp.Or(h.EvaluateEvery, 10)
	h.OnStep = func(r *pcl.StepReport) error {
		t.mu.Lock()
		t.diary.step(t.learner, r)
		t.mu.Unlock()
		if step == nil {
			return nil
		}
		return step(r)
	}
	h.Evaluate = func(steps int, score map[int]float64) error {
		if loss := t.learner.Options().Loss; loss == nil || loss.Targets() == 0 { // else the scores are no accuracies
			t.mu.Lock()
			t.diary.evaluated(steps-1, score)
			t.mu.Unlock()
		}
		if evaluate == nil {
			return nil
		}
		return evaluate(steps, score)
	}
	return h
}

// Pause ends the training after the step in progress, until [Training.Resume]. To leave out a single task, pause that
// ([pcl.Learner.Pause]).
func (t *Training) Pause() { t.end(paused) }

// Stop is [Training.Pause] for good: the figures of [Training.Watch] remain as they then are, to be saved.
func (t *Training) Stop() { t.end(stopped) }

func (t *Training) end(as state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != trains {
		background(t.refresh)
	} else {
		t.stop()
	}
	t.state = as
}

// Resume goes on after a pause, a stop or an error.
func (t *Training) Resume() {
	before := func() {}
	if other, ok := trainings.Swap(t.learner, t); ok && other != t {
		other.(*Training).Stop()
		before = other.(*Training).wait
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == trains {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	last, over := t.over, make(chan struct{})
	t.state, t.err, t.stop, t.over = trains, nil, stop, over
	background(func() {
		before()
		<-last
		t.ended(t.run(ctx), over)
	})
	background(func() { t.show(over) })
}

// wait returns when the call of Run in progress has returned.
func (t *Training) wait() {
	t.mu.Lock()
	over := t.over
	t.mu.Unlock()
	<-over
}

// background runs f in a goroutine that belongs to no cell, and so outlives the one that it is called from: kernels know
// goroutines by their labels.
func background(f func()) {
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		f()
	}()
}

// run trains until ctx ends. Hooks are the user's code.
func (t *Training) run(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	err = t.learner.Run(ctx, t.hooks)
	if joined, ok := err.(interface{ Unwrap() []error }); ok && ctx.Err() != nil { // it was asked to end; a failed save counts
		err = errors.Join(slices.DeleteFunc(slices.Clone(joined.Unwrap()), func(e error) bool { return errors.Is(e, ctx.Err()) })...)
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
	case err != nil:
		t.state, t.err = failed, fmt.Errorf("nb: the training of %s failed at step %d: %w", t.diary.run.MethodTitle, t.learner.Steps(), err)
		report(t.err)
	}
	if t.over == over { // else it has been resumed meanwhile
		trainings.CompareAndDelete(t.learner, t)
	}
}

// Wait waits until so many steps have been made in all, or, with 0, until all streams have ended. It returns sooner if
// nothing is trained any more, with the error if there was one, and with that of ctx when that ends.
func (t *Training) Wait(ctx context.Context, steps int) error {
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		t.mu.Lock()
		state, err := t.state, t.err
		t.mu.Unlock()
		if state != trains || len(t.learner.Running()) == 0 || steps > 0 && t.learner.Steps() >= steps {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return ctx.Err()
		}
	}
}
