package grid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parallelcl/parallelcl/internal/disk"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// make makes a cell, if it is still free. An error ends the worker.
func (w *worker) make(ctx context.Context, c Cell) (err error) {
	l, err := w.leases.take(c.ID)
	if err != nil {
		return w.cannotWork(err)
	}
	if l == nil {
		return nil // another worker was faster
	}
	defer func() {
		if e := l.release(); err == nil && e != nil {
			err = w.cannotWork(e)
		}
	}()
	// Only now is it certain that nobody else writes about the cell.
	if err := w.index.Refresh(); err != nil {
		return err
	}
	if !w.wanted(c) {
		return nil
	}
	j := &job{worker: w, cell: c, lease: l, attempt: w.index.attempts(c.ID) + 1, dir: w.folder.work(c.ID), from: savedStep(w.folder.work(c.ID))}
	l.holder.From = j.from
	if n := w.index.deaths(c.ID); n >= w.options.Attempts {
		return j.fail(fmt.Errorf("%d workers in a row ended at it without a word, as if they had been killed or had run out of memory", n))
	}
	if err := w.journal.append(j.record(started)); err != nil {
		return err
	}
	run, err := j.run(ctx)
	return j.settle(ctx, run, err)
}

// cannotWork adds to an error of the file system how much room is left, if that is what it is about.
func (w *worker) cannotWork(err error) error {
	return fmt.Errorf("grid: %w", disk.Explain(err, w.folder.Dir))
}

// savedStep returns the step of the newest checkpoint in a cell's folder, or 0.
func savedStep(dir string) int {
	saved, err := checkpoint.Series{Dir: dir}.List()
	if err != nil || len(saved) == 0 {
		return 0
	}
	return checkpoint.Step(saved[len(saved)-1])
}

// job is a cell that a worker is at.
type job struct {
	*worker
	cell    Cell
	lease   *lease
	attempt int
	dir     string
	from    int // the step that it starts at
	cause   error
	took    time.Duration
	steps   atomic.Int64 // made, and of the whole run
	of      atomic.Int64
}

// record returns a record about the cell.
func (j *job) record(e event) record {
	return record{Event: e, Cell: j.cell.ID, Attempt: j.attempt, Step: j.from}
}

// run makes the cell's run. It ends early when ctx is cancelled, when the time is up, or when the lease is lost.
func (j *job) run(ctx context.Context) (*results.Run, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var beats sync.WaitGroup
	beats.Go(func() { j.beat(within, cancel) })
	defer beats.Wait()
	defer cancel(nil)
	j.budget.last = 0
	defer j.budget.watch(cancel)()
	began := j.leases.clock()
	run, err := j.maker.Make(within, j.cell.ready(), j.dir, func(p experiment.Progress) {
		j.steps.Store(int64(p.Step))
		j.of.Store(int64(p.Steps))
		if j.budget.step(); j.budget.over() {
			cancel(ErrTimeUp)
		}
		j.options.Progress(j.cell, p)
	})
	j.took = j.leases.clock() - began
	j.cause = context.Cause(within)
	return run, err
}

// beat gives signs of life until the run ends.
func (j *job) beat(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(j.leases.expiry / 8)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := j.lease.beat(int(j.steps.Load()), int(j.of.Load())); errors.Is(err, errLost) {
			cancel(err)
			return
		} // after other errors the lease may run out, which the next beat finds out
	}
}

// settle records how a run ended. An error ends the worker.
func (j *job) settle(ctx context.Context, run *results.Run, err error) error {
	missing := new(surroundingsError)
	if !errors.As(err, &missing) && (errors.Is(err, experiment.ErrData) || errors.Is(err, ErrNoData)) {
		err = &surroundingsError{err, j.cell.Config.Dataset}
	}
	switch {
	case err == nil && run == nil:
		return j.fail(errors.New("what makes the runs returned neither a run nor an error"))
	case err == nil:
		return j.finish(run)
	case errors.Is(j.cause, errLost):
		j.options.Say(fmt.Sprintf("Cell %s: %v.", j.cell.ID, errLost))
		j.skipped[j.cell.ID] = true
		return j.stopped()
	case run != nil: // its result was written, and only what is no longer needed could not be removed
		j.options.Say(fmt.Sprintf("Cell %s is finished, but: %v.", j.cell.ID, err))
		return j.finish(run)
	case errors.Is(err, experiment.ErrInterrupted), errors.Is(err, context.Canceled) && j.cause != nil:
		return j.stop(ctx)
	case errors.As(err, &missing) && missing.dataset != "":
		j.leave(missing)
		return j.stopped()
	case errors.As(err, &missing), errors.As(err, new(*experiment.UnsavedError)), errors.Is(disk.Explain(err, j.folder.Dir), disk.ErrFull):
		return errors.Join(j.cannotWork(err), j.stopped())
	case errors.Is(err, experiment.ErrInUse):
		j.skipped[j.cell.ID] = true
		j.barred = append(j.barred, fmt.Errorf("cell %s: %w", j.cell.ID, err))
		return j.stopped()
	}
	return j.fail(err)
}

// finish records the result of the cell.
func (j *job) finish(run *results.Run) error {
	text, err := json.Marshal(run)
	if err != nil {
		return j.fail(err)
	}
	r := j.record(done)
	r.Run, r.Diverged = text, run.DivergedAt != nil
	if _, err := r.result(j.cell); err != nil {
		return j.fail(err)
	}
	if r.Kind, r.Wider, err = kinds(j.cell.Config, j.manifest.Compute); err != nil {
		return err
	}
	r.Seconds = j.took.Seconds()
	if m := run.Measured; m.Resumed > 0 || j.from > 0 {
		r.Seconds = m.TrainSeconds + m.EvalSeconds // of all parts
	}
	if err := j.lease.check(); err != nil {
		j.options.Say(fmt.Sprintf("Cell %s: its result is dropped: %v.", j.cell.ID, err))
		j.skipped[j.cell.ID] = true
		return j.stopped()
	}
	if err := j.journal.append(r); err != nil {
		return err // the result is in the cell's folder, where the next worker finds it
	}
	j.summary.Done++
	j.learn(r.Kind, r.Seconds)
	if err := os.RemoveAll(j.dir); err != nil {
		j.options.Say(fmt.Sprintf("Cell %s is finished, but its folder could not be removed: %v.", j.cell.ID, err))
	}
	return nil
}

// stop records that the cell was left, and returns why.
func (j *job) stop(ctx context.Context) error {
	if err := j.stopped(); err != nil {
		return err
	}
	if ctx.Err() == nil && errors.Is(j.cause, ErrTimeUp) {
		return ErrTimeUp
	}
	return experiment.ErrInterrupted
}

// stopped records that the cell was left to be continued.
func (j *job) stopped() error {
	r := j.record(stopped)
	r.Step, r.Steps = savedStep(j.dir), int(j.of.Load())
	return j.journal.append(r)
}

// fail records that the cell cannot be made.
func (j *job) fail(reason error) error {
	r := j.record(failed)
	r.Reason = reason.Error()
	if err := j.journal.append(r); err != nil {
		return err
	}
	j.summary.Failed++
	j.options.Say(fmt.Sprintf("Cell %s (%s) failed: %s.", j.cell.ID, j.cell.name(), short(r.Reason)))
	return nil
}

// leave leaves the cells alone that need a data set which is not here.
func (j *job) leave(missing *surroundingsError) {
	j.missing = append(j.missing, missing)
	for _, c := range j.cells {
		if c.Config.Dataset == missing.dataset {
			j.skipped[c.ID] = true
		}
	}
	j.options.Say(missing.Error())
}

// name says in a few words which run a cell is.
func (c Cell) name() string {
	k := c.Config
	return runName(k.Method, k.Dataset, k.Increment, k.LabelSet, k.Timeline, k.Seed)
}

func runName(method, dataset string, increment scenario.Increment, labelSet, timeline, seed uint64) string {
	return fmt.Sprintf("%s, %s, %s-incremental, label set %d, timeline %d, seed %d", method, dataset, increment, labelSet, timeline, seed)
}
