package pcl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parallelcl/parallelcl/internal/nice"
)

// Hooks say what [Learner.Run] does beside training. The zero value only trains. Hooks are called
// between steps, one at a time, and may call the learner. An error of a hook ends Run.
type Hooks struct {
	// OnStep is called after each step.
	OnStep func(*StepReport) error
	// Evaluate is called when a task has ended and, above 0, every EvaluateEvery steps. score has
	// the accuracy of each task with test samples, by its id; with a loss of target values, its
	// mean loss.
	Evaluate      func(steps int, score map[int]float64) error
	EvaluateEvery int
	// Save is called before Run returns, whatever the reason. With SaveEvery above 0 it is also
	// called at that interval, if something has changed since the last time. It calls
	// [Learner.Save], for example. An error of such a save goes to SaveFailed, if that is set: Run
	// goes on, and Save is called again SaveEvery later. Otherwise the error ends Run.
	Save       func() error
	SaveEvery  time.Duration
	SaveFailed func(error)
	// Snapshot is given a predictor at the beginning, and then whenever the learner has changed, at
	// most every SnapshotEvery while it is training; 0 stands for a tenth of a second. Snapshots
	// take at most a twenty-fifth of the time of training, so they may come less often. While it is
	// training they are those of [Learner.Preview], at other times those of [Learner.Snapshot].
	// [sync/atomic.Pointer.Store] will do. Close predictors that nobody uses any more, so that the
	// next one finds its memory.
	Snapshot      func(*Predictor)
	SnapshotEvery time.Duration
	// WaitForTasks makes Run wait for another task when all have ended.
	WaitForTasks bool
}

// Run trains until all streams have ended, and returns nil, or until ctx ends, and returns its
// error. While no stream is ready, it waits. Other goroutines may attach and detach tasks, predict
// and save meanwhile: they take turns with the steps.
//
// Run ends at the first error, of a step ([StreamError], for example) or of a hook. If the learner
// can go on, a further call continues where it ended. With [backend.Options].Nice, it trains, and
// calls the hooks, on a thread of low priority.
func (l *Learner) Run(ctx context.Context, h Hooks) (err error) {
	by := l.options.Backend.Nice()
	if by == 0 {
		return l.run(ctx, h)
	}
	nice.Do(by, func() { err = l.run(ctx, h) })
	return err
}

func (l *Learner) run(ctx context.Context, h Hooks) (err error) {
	r := &loop{learner: l, hooks: h, saved: l.saveMark(), savedAt: time.Now(), given: -1}
	if h.SnapshotEvery == 0 {
		r.hooks.SnapshotEvery = time.Second / 10
	}
	defer func() { err = errors.Join(err, r.renew(l.Snapshot), r.save()) }() // what is left
	if err := r.renew(l.Preview); err != nil {
		return err
	}
	for {
		report, err := l.stepOn(ctx)
		switch idle := errors.Is(err, ErrNoStream); {
		case err == nil:
			if err := r.after(report); err != nil {
				return err
			}
		case idle && h.WaitForTasks, errors.Is(err, ErrIdle):
			if err := r.wait(ctx); err != nil {
				return err
			}
		case idle:
			return nil
		default:
			return err
		}
	}
}

// loop is a call of Run.
type loop struct {
	learner *Learner
	hooks   Hooks
	saved   saveMark // at the last save
	savedAt time.Time
	given   int       // the version of the last snapshot; -1 if there is none, or if a newer rule was being made
	preview bool      // whether it was a preview
	next    time.Time // when the next preview is due
	full    time.Time // when the next snapshot is due that is not a preview
}

// snapshotShare bounds the time that snapshots take: after one that took t, the next is due 25·t
// later at the earliest.
const snapshotShare = 25

// saveMark tells whether there may be something new to save: steps and tasks change the version,
// and streams notify.
type saveMark struct {
	version int
	events  uint64
}

func (l *Learner) saveMark() saveMark { return saveMark{l.status.Load().version, l.ready.count()} }

// after calls the hooks that are due after a step.
func (r *loop) after(s *StepReport) error {
	if h := r.hooks.OnStep; h != nil {
		if err := h(s); err != nil {
			return fmt.Errorf("pcl: Hooks.OnStep after step %d: %w", s.Step, err)
		}
	}
	every := r.hooks.EvaluateEvery
	if r.hooks.Evaluate != nil && (len(s.Ended) > 0 || every > 0 && (s.Step+1)%every == 0) {
		if err := r.evaluate(s.Step + 1); err != nil {
			return err
		}
	}
	if !time.Now().Before(r.next) {
		if err := r.renew(r.learner.Preview); err != nil {
			return err
		}
	}
	return r.saveIfDue()
}

// evaluate measures all tasks that have test samples.
func (r *loop) evaluate(steps int) error {
	measure := r.learner.Evaluate
	if r.learner.options.compared() != nil {
		measure = r.learner.EvaluateLoss
	}
	score := map[int]float64{}
	for i, t := range r.learner.status.Load().registry.tasks {
		if t != nil && t.Test != nil {
			var err error
			if score[i+1], err = measure(i + 1); err != nil {
				return err
			}
		}
	}
	if err := r.hooks.Evaluate(steps, score); err != nil {
		return fmt.Errorf("pcl: Hooks.Evaluate after step %d: %w", steps-1, err)
	}
	return nil
}

// renew passes a new snapshot to the hook, if the learner has changed since the last one or that
// was a preview.
func (r *loop) renew(take func() (*Predictor, error)) error {
	if r.hooks.Snapshot == nil || r.given == r.learner.status.Load().version && !r.preview {
		return nil
	}
	began := time.Now()
	p, err := take()
	if err != nil {
		return err
	}
	due := time.Now().Add(max(r.hooks.SnapshotEvery, snapshotShare*time.Since(began)))
	if r.next = due; !p.preview {
		r.full = due
	}
	if r.given, r.preview = p.version, p.preview; p.behind {
		r.given = -1
	}
	r.hooks.Snapshot(p)
	return nil
}

// renewIdle is renew while no stream is ready. It takes a full snapshot only when one is due, since
// samples may arrive while it is taken; until then it takes a preview. more says that a full
// snapshot is still to be taken.
func (r *loop) renewIdle() (more bool, err error) {
	if !time.Now().Before(r.full) {
		return false, r.renew(r.learner.Snapshot)
	}
	if r.given != r.learner.status.Load().version {
		err = r.renew(r.learner.Preview)
	}
	return r.hooks.Snapshot != nil && r.preview, err
}

// saveIfDue saves if something has changed and the last save was long enough ago.
func (r *loop) saveIfDue() error {
	if r.hooks.SaveEvery <= 0 || time.Since(r.savedAt) < r.hooks.SaveEvery {
		return nil
	}
	now := r.learner.saveMark()
	r.savedAt = time.Now()
	if now == r.saved {
		return nil
	}
	switch err := r.save(); {
	case err == nil:
		r.saved = now
	case r.hooks.SaveFailed != nil:
		r.hooks.SaveFailed(err)
	default:
		return err
	}
	return nil
}

func (r *loop) save() error {
	if r.hooks.Save != nil {
		if err := r.hooks.Save(); err != nil {
			return fmt.Errorf("pcl: Hooks.Save: %w", err)
		}
	}
	return nil
}

// wait waits until there may be something to train on, or to save.
func (r *loop) wait(ctx context.Context) error {
	more, err := r.renewIdle()
	if err != nil {
		return err
	}
	if r.hooks.Save != nil && r.hooks.SaveEvery > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, r.savedAt.Add(r.hooks.SaveEvery))
		defer cancel()
	}
	if more {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, r.full)
		defer cancel()
	}
	_ = r.learner.Wait(ctx) // the next step returns the error
	return r.saveIfDue()
}
