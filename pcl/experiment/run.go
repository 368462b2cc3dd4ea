package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// ErrInterrupted is what [Each] yields for a run if its context was cancelled. The run has then
// been saved, if it has a folder and had made a step.
var ErrInterrupted = errors.New("pcl: the run was interrupted")

// weightsFile and scenarioFile are names of files that a run leaves in its folder, beside
// [results.ResultFile] and [results.RecordsFile].
const (
	weightsFile  = "weights.safetensors" // with the trained network
	scenarioFile = "scenario.json"
)

// runner is a run in progress.
type runner struct {
	course
	ctx      context.Context // until when it may go on
	work     *work
	dir      string // empty if the run leaves no files
	lock     *lock
	program  string // which this is
	records  *recorder
	state    runState
	begun    time.Time // when this process began the run,
	stepped  time.Time // and when it was done with the last step
	progress func(Progress)
	prepared func(done, total int) // see Schedule.OnPrepare
}

// one returns the result of a run, the i-th: the one in its folder, or else the one that it makes
// there.
func (w *work) one(ctx context.Context, m *Machine, i int, c Checked) (*results.Run, error) {
	if i < len(w.Found) && w.Found[i] != nil {
		return w.Found[i], nil
	}
	if run, err := w.Finished(c); err != nil || run != nil {
		return run, err // also in a folder that cannot be written to
	}
	r := &runner{course: course{Checked: c, machine: m}, ctx: ctx, work: w, dir: w.folder(c.config), begun: time.Now()}
	if w.Attempts > 0 {
		if h, held := heldBy(r.dir); held {
			return nil, h.failure(r.dir)
		}
		if _, err := w.before(r.dir); err != nil {
			return nil, err
		}
	}
	if err := r.mayGoOn(); err != nil {
		return nil, err
	}
	if w.OnBegin != nil {
		w.tell(func() { w.OnBegin(i, c.Config()) })
	}
	if w.OnProgress != nil {
		r.progress = func(p Progress) { w.tell(func() { w.OnProgress(i, p) }) }
	}
	if w.OnPrepare != nil {
		r.prepared = func(done, total int) { w.tell(func() { w.OnPrepare(i, done, total) }) }
	}
	return r.run()
}

func (r *runner) mayGoOn() error {
	if r.ctx.Err() != nil {
		return ErrInterrupted
	}
	return nil
}

// run makes the run. In its folder, if it has one, no other process works then. From the data set
// on, its configuration says on which files it is made, and so is that of the result.
func (r *runner) run() (out *results.Run, err error) {
	if r.set, err = r.machine.ready(r.ctx, r.config); err != nil {
		return nil, err
	}
	if r.config, err = r.config.on(r.set.SHA256); err != nil {
		return nil, err
	}
	if r.program, err = r.config.program(); err != nil {
		return nil, err
	}
	if r.dir == "" {
		return r.make()
	}
	if r.lock, err = takeLock(r.dir); err != nil {
		return nil, err
	}
	defer r.lock.release()
	if run, err := r.work.finished(r.config); err != nil || run != nil {
		return run, err // by another process, in the meantime
	}
	if r.work.Attempts == 0 {
		return r.make()
	}
	n, err := r.arrive()
	if err != nil {
		return nil, err
	}
	out, err = r.make()
	if err := r.leave(n, err); err != nil {
		return nil, err
	}
	return out, nil
}

// make trains from the run's beginning, or from its newest checkpoint, to its last step.
func (r *runner) make() (*results.Run, error) {
	defer r.close()
	for _, prepare := range []func() error{r.beginLearner, r.goOn, r.openRecords, r.beginArrays, r.warm, r.catchUp} {
		if err := r.mayGoOn(); err != nil {
			return nil, err
		}
		if err := prepare(); err != nil {
			return nil, err
		}
	}
	r.stepped = time.Now()
	ended, err := r.play(r.ctx, r.step)
	if err != nil && !errors.Is(err, ErrInterrupted) {
		return nil, err
	}
	if !ended {
		if r.dir != "" && r.learner.Steps() > 0 {
			if err := r.save(); err != nil {
				return nil, err
			}
		}
		return nil, ErrInterrupted
	}
	return r.finish()
}

func (r *runner) beginLearner() error {
	look := pcl.Options{Preparing: r.preparing}
	if r.work.RecordArrays > 0 {
		look.Trace = r.trace
	}
	if err := r.begin(look); err != nil {
		return err
	}
	r.state.Tasks = r.config.begun(r.set, r.judged, r.scenario.LastStep())
	r.state.Measured.Started = r.begun
	return nil
}

// preparing is told how far the network is that the method trains for an evaluation.
func (r *runner) preparing(done, total int) error {
	if r.prepared != nil {
		r.prepared(done, total)
	}
	return r.mayGoOn()
}

// goOn takes the run up where its newest checkpoint has left it. If there is none, or it cannot be
// gone on from, the run begins without what is left in its folder.
func (r *runner) goOn() error {
	if r.dir == "" {
		return nil
	}
	if err := sweep(r.dir); err != nil {
		return err
	}
	f, path, damaged, err := r.saves().latest()
	if err != nil {
		return err
	}
	switch {
	case damaged != nil && path == "":
		r.work.say("%v: the run begins again.", damaged)
	case damaged != nil:
		r.work.say("%v: the run goes on from what it saved before.", damaged)
	}
	switch {
	case exists(r.dir, results.ResultFile):
		r.work.say("The run in %s is made again.", r.dir)
		path = ""
	case path != "":
		if err = r.restore(f, stepOf(path)); r.work.replaces(err) {
			r.work.say("The run in %s begins again: %v.", r.dir, err)
			path, err = "", nil
		}
		if err != nil {
			return fmt.Errorf("pcl: %s: %w", path, err)
		}
	}
	if path == "" {
		if err := empty(r.dir); err != nil {
			return err
		}
	}
	return nil
}

// warm compiles what the steps need.
func (r *runner) warm() error {
	r.beginPart()
	return r.learner.Precompile(r.scenario.MaxStreams())
}

// catchUp makes the evaluation during which the run was interrupted.
func (r *runner) catchUp() error {
	if r.state.Due == nil {
		return nil
	}
	return r.evaluate(r.state.Due)
}

// step takes note of a step, and saves a checkpoint if one is due.
func (r *runner) step(report *pcl.StepReport) error {
	m, took := &r.state.Measured, time.Since(r.stepped)
	if m.FirstStepSeconds == 0 {
		m.FirstStepSeconds = time.Since(r.begun).Seconds()
	}
	m.TrainSeconds += took.Seconds()
	r.state.Steady.add(took, report.Compilations)
	r.state.observe(report)
	if err := r.records.write(report); err != nil {
		return err
	}
	if every := r.config.EvalEvery; len(report.Ended) > 0 || every > 0 && (report.Step+1)%every == 0 {
		if err := r.evaluate(&evaluation{report.Step, report.Ended}); err != nil {
			return err
		}
	}
	if every := r.work.CheckpointEvery; r.dir != "" && every > 0 && r.learner.Steps()%every == 0 {
		if err := r.save(); err != nil {
			return err
		}
	}
	if r.progress != nil {
		r.progress(r.report(report))
	}
	r.stepped = time.Now()
	return nil
}

// finish computes the result of the run and writes it to the run's folder.
func (r *runner) finish() (*results.Run, error) {
	out, err := r.result()
	if err != nil {
		return nil, err
	}
	if r.dir == "" {
		return out, nil
	}
	if _, err := r.records.flush(); err != nil {
		return nil, err
	}
	if err := r.lock.check(); err != nil {
		return nil, err
	}
	if err := r.scenario.Save(filepath.Join(r.dir, scenarioFile)); err != nil {
		return nil, err
	}
	if r.work.Weights {
		trained, err := r.learner.Network()
		if err != nil {
			return nil, err
		}
		if err := trained.Save(filepath.Join(r.dir, weightsFile)); err != nil {
			return nil, err
		}
	}
	if err := out.Save(filepath.Join(r.dir, results.ResultFile)); err != nil {
		return nil, err
	}
	if err := r.saves().clear(); err != nil {
		r.work.say("The run in %s is finished, but: %v.", r.dir, err)
	}
	return out, nil
}

func (r *runner) close() {
	if r.records != nil {
		r.records.file.Close()
	}
	if r.learner != nil {
		r.learner.Close()
	}
}
