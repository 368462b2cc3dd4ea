package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/folder"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// ErrInterrupted is what [Each] yields for a run if its context was cancelled. The run has then been saved, if it has a
// folder and had made a step.
var ErrInterrupted = errors.New("pcl: the run was interrupted")

// ResultFile, recordFile, WeightsFile and scenarioFile are the names of the files that a run leaves in its folder.
const (
	ResultFile   = "result.json"
	recordFile   = "records.jsonl"
	WeightsFile  = "weights.safetensors" // with the trained network
	scenarioFile = "scenario.json"
)

// runner is a run in progress.
type runner struct {
	config   Checked
	where    *Where
	machine  *Machine
	set      *datasets.Dataset
	dir      string // empty if the run leaves no files
	lock     *folder.Lock
	program  string // which this is
	scenario *scenario.Scenario
	learner  *pcl.Learner
	records  *recorder
	state    runState
	begun    time.Time
	progress func(Progress)
}

// one returns the result of a run, the i-th: the one in its folder, or else the one that it makes there.
func (w *Where) one(ctx context.Context, m *Machine, i int, c Checked) (*results.Run, error) {
	if run, err := w.Finished(c); run != nil || err != nil {
		return run, err // also in a folder that cannot be written to
	}
	r := &runner{config: c, where: w, machine: m, dir: w.folder(c), begun: time.Now()}
	if w.Attempts > 0 {
		if h, held := folder.Held(r.dir); held {
			return nil, &folder.HeldError{Dir: r.dir, Holder: h}
		}
		if _, err := w.before(r.dir); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ErrInterrupted
	}
	if w.Begin != nil {
		w.tell(func() { w.Begin(i, c.Config) })
	}
	if w.Progress != nil {
		r.progress = func(p Progress) { w.tell(func() { w.Progress(i, p) }) }
	}
	return r.run(ctx)
}

// run makes the run. In its folder, if it has one, no other process works then.
func (r *runner) run(ctx context.Context) (*results.Run, error) {
	err := r.open(ctx)
	if err == nil && r.dir != "" {
		r.lock, err = folder.Take(r.dir)
	}
	if err != nil {
		return nil, err
	}
	if r.lock == nil {
		return r.make(ctx)
	}
	defer r.lock.Release()
	if run, err := r.where.Finished(r.config); run != nil || err != nil {
		return run, err // by another process, in the meantime
	}
	if r.where.Attempts == 0 {
		return r.make(ctx)
	}
	n, err := r.arrive()
	if err != nil {
		return nil, err
	}
	out, err := r.make(ctx)
	return out, r.leave(ctx, n, err)
}

// open opens what the run needs. Its configuration then says on which files it is made, and so is that of the result.
func (r *runner) open(ctx context.Context) (err error) {
	if r.set, err = r.machine.ready(ctx, r.config.Dataset); err == nil {
		r.config.Config, err = r.config.on(r.set.SHA256)
	}
	if err == nil {
		r.program, err = r.config.program()
	}
	return err
}

// make trains from the run's beginning, or from its newest checkpoint, to its last step.
func (r *runner) make(ctx context.Context) (*results.Run, error) {
	defer r.close()
	for _, prepare := range []func() error{r.newLearner, r.goOn, r.openRecords, r.beginArrays, r.warm} {
		if ctx.Err() != nil {
			return nil, ErrInterrupted
		}
		if err := prepare(); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	for report, err := range play(ctx, r.scenario, r.learner, r.config.tasks(r.set, r.scenario)) {
		if err != nil && errors.Is(err, ctx.Err()) {
			return nil, r.interrupted()
		}
		if err == nil {
			err = r.step(report, time.Since(began))
		}
		if err != nil {
			return nil, err
		}
		began = time.Now()
	}
	return r.finish()
}

func (r *runner) newLearner() (err error) {
	if r.scenario, err = r.config.newScenario(r.set); err != nil {
		return err
	}
	r.state.Tasks = r.config.begun(r.set, r.scenario)
	r.state.Measured.Started = r.begun
	look := pcl.Options{}
	if r.where.RecordArrays > 0 {
		look.Trace = r.trace
	}
	r.learner, err = r.config.newLearner(r.machine, r.set, r.scenario, look)
	return err
}

// goOn takes the run up where its newest checkpoint has left it. If there is none, or it cannot be gone on from, the run
// begins without what is left in its folder.
func (r *runner) goOn() error {
	if r.dir == "" {
		return nil
	}
	if err := sweep(r.dir); err != nil {
		return err
	}
	f, path, damaged, err := r.saves().Latest()
	switch {
	case err != nil:
		return fmt.Errorf("pcl: %w", err)
	case damaged != nil && path == "":
		r.where.say(fmt.Sprintf("%v: the run begins again.", damaged))
	case damaged != nil:
		r.where.say(fmt.Sprintf("%v: the run goes on from what it saved before.", damaged))
	}
	if exists(r.dir, ResultFile) {
		r.where.say(fmt.Sprintf("The run in %s is made again.", r.dir))
		return empty(r.dir)
	}
	if path == "" {
		return empty(r.dir)
	}
	err = r.restore(f, checkpoint.Step(path))
	if r.where.replaces(err) {
		r.where.say(fmt.Sprintf("The run in %s begins again: %v.", r.dir, err))
		return empty(r.dir)
	}
	if err != nil {
		err = fmt.Errorf("pcl: %s: %w", path, err)
	}
	return err
}

// warm compiles what the steps need.
func (r *runner) warm() error {
	r.beginPart()
	return r.learner.Warm(r.scenario.MaxStreams())
}

// step takes note of a step that took the given time, and saves a checkpoint if one is due.
func (r *runner) step(report *pcl.StepReport, took time.Duration) error {
	m := &r.state.Measured
	if m.FirstStepSeconds == 0 {
		m.FirstStepSeconds = time.Since(r.begun).Seconds()
	}
	m.TrainSeconds += took.Seconds()
	r.state.Steady.add(took, r.learner.Compilations())
	r.state.observe(report)
	err := r.records.write(report)
	due := r.config.EvalEvery > 0 && (report.Step+1)%r.config.EvalEvery == 0
	if err == nil && (due || len(report.Ended) > 0) {
		err = r.evaluate(report)
	}
	if every := r.where.CheckpointEvery; err == nil && r.dir != "" && every > 0 && r.learner.Steps()%every == 0 {
		err = r.save()
	}
	if err == nil && r.progress != nil {
		r.progress(r.report(report))
	}
	return err
}

// interrupted saves the run if it has a folder and has made a step, and returns the error of an interrupted run.
func (r *runner) interrupted() error {
	if r.dir == "" || r.learner.Steps() == 0 {
		return ErrInterrupted
	}
	if err := r.save(); err != nil {
		return err
	}
	return ErrInterrupted
}

// finish computes the result of the run and writes it to the run's folder.
func (r *runner) finish() (*results.Run, error) {
	out, err := r.result()
	if err != nil || r.dir == "" {
		return out, err
	}
	for _, write := range []func() error{
		func() error { _, err := r.records.flush(); return err },
		r.lock.Check,
		func() error { return r.scenario.Save(filepath.Join(r.dir, scenarioFile)) },
		r.saveWeights,
		func() error { return out.Save(filepath.Join(r.dir, ResultFile)) },
	} {
		if err := write(); err != nil {
			return nil, err
		}
	}
	if err := r.saves().Clear(); err != nil {
		r.where.say(fmt.Sprintf("The run in %s is finished, but: %v.", r.dir, err))
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
