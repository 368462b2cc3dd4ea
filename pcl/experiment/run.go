package experiment

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// ErrInterrupted is what [Each] yields for a run if its context was cancelled. The run has then been saved, if it has a
// folder and had made a step.
var ErrInterrupted = errors.New("pcl: the run was interrupted")

// weightsFile and scenarioFile are names of files that a run leaves in its folder, beside [results.ResultFile] and
// [results.RecordsFile].
const (
	weightsFile  = "weights.safetensors" // with the trained network
	scenarioFile = "scenario.json"
)

// runner is a run in progress.
type runner struct {
	course
	where    *Where
	dir      string // empty if the run leaves no files
	lock     *lock
	program  string // which this is
	records  *recorder
	state    runState
	begun    time.Time // when this process began the run,
	stepped  time.Time // and when it was done with the last step
	progress func(Progress)
}

// one returns the result of a run, the i-th: the one in its folder, or else the one that it makes there.
func (w *Where) one(ctx context.Context, m *Machine, i int, c Checked) *results.Run {
	if i < len(w.Found) && w.Found[i] != nil {
		return w.Found[i]
	}
	if run := fail.Or(w.Finished(c)); run != nil {
		return run // also in a folder that cannot be written to
	}
	r := &runner{course: course{config: c, machine: m}, where: w, dir: w.folder(c), begun: time.Now()}
	if w.Attempts > 0 {
		if h, held := heldBy(r.dir); held {
			fail.If(h.failure(r.dir))
		}
		w.before(r.dir)
	}
	r.mayGoOn(ctx)
	if w.Begin != nil {
		w.tell(func() { w.Begin(i, c.Config) })
	}
	if w.Progress != nil {
		r.progress = func(p Progress) { w.tell(func() { w.Progress(i, p) }) }
	}
	return r.run(ctx)
}

func (r *runner) mayGoOn(ctx context.Context) {
	if ctx.Err() != nil {
		fail.If(ErrInterrupted)
	}
}

// run makes the run. In its folder, if it has one, no other process works then. From the data set on, its configuration says
// on which files it is made, and so is that of the result.
func (r *runner) run(ctx context.Context) (out *results.Run) {
	r.set = r.machine.ready(ctx, r.config.Dataset)
	r.config.Config = fail.Or(r.config.on(r.set.SHA256))
	r.program = fail.Or(r.config.program())
	if r.dir == "" {
		return r.make(ctx)
	}
	r.lock = fail.Or(takeLock(r.dir))
	defer r.lock.release()
	if run := fail.Or(r.where.Finished(r.config)); run != nil {
		return run // by another process, in the meantime
	}
	if r.where.Attempts == 0 {
		return r.make(ctx)
	}
	n := r.arrive()
	err := fail.Tried(func() { out = r.make(ctx) })
	r.leave(ctx, n, err)
	return out
}

// make trains from the run's beginning, or from its newest checkpoint, to its last step.
func (r *runner) make(ctx context.Context) *results.Run {
	defer r.close()
	for _, prepare := range []func(){r.beginLearner, r.goOn, r.openRecords, r.beginArrays, r.warm} {
		r.mayGoOn(ctx)
		prepare()
	}
	r.stepped = time.Now()
	if !r.play(ctx, r.step) {
		if r.dir != "" && r.learner.Steps() > 0 {
			r.save()
		}
		fail.If(ErrInterrupted)
	}
	return r.finish()
}

func (r *runner) beginLearner() {
	look := pcl.Options{}
	if r.where.RecordArrays > 0 {
		look.Trace = r.trace
	}
	r.begin(look)
	r.state.Tasks = r.config.begun(r.set, r.scenario)
	r.state.Measured.Started = r.begun
}

// goOn takes the run up where its newest checkpoint has left it. If there is none, or it cannot be gone on from, the run
// begins without what is left in its folder.
func (r *runner) goOn() {
	if r.dir == "" {
		return
	}
	fail.If(sweep(r.dir))
	f, path, damaged, err := r.saves().latest()
	fail.If(err)
	switch {
	case damaged != nil && path == "":
		r.where.say("%v: the run begins again.", damaged)
	case damaged != nil:
		r.where.say("%v: the run goes on from what it saved before.", damaged)
	}
	switch {
	case exists(r.dir, results.ResultFile):
		r.where.say("The run in %s is made again.", r.dir)
		path = ""
	case path != "":
		if err = r.restore(f, stepOf(path)); r.where.replaces(err) {
			r.where.say("The run in %s begins again: %v.", r.dir, err)
			path, err = "", nil
		}
		fail.When(err != nil, "pcl: %s: %w", path, err)
	}
	if path == "" {
		fail.If(empty(r.dir))
	}
}

// warm compiles what the steps need.
func (r *runner) warm() {
	r.beginPart()
	fail.If(r.learner.Warm(r.scenario.MaxStreams()))
}

// step takes note of a step, and saves a checkpoint if one is due.
func (r *runner) step(report *pcl.StepReport) {
	m, took := &r.state.Measured, time.Since(r.stepped)
	if m.FirstStepSeconds == 0 {
		m.FirstStepSeconds = time.Since(r.begun).Seconds()
	}
	m.TrainSeconds += took.Seconds()
	r.state.Steady.add(took, report.Compilations)
	r.state.observe(report)
	r.records.write(report)
	if every := r.config.EvalEvery; len(report.Ended) > 0 || every > 0 && (report.Step+1)%every == 0 {
		r.evaluate(report)
	}
	if every := r.where.CheckpointEvery; r.dir != "" && every > 0 && r.learner.Steps()%every == 0 {
		r.save()
	}
	if r.progress != nil {
		r.progress(r.report(report))
	}
	r.stepped = time.Now()
}

// finish computes the result of the run and writes it to the run's folder.
func (r *runner) finish() *results.Run {
	out := r.result()
	if r.dir == "" {
		return out
	}
	r.records.flush()
	fail.If(r.lock.check())
	fail.If(r.scenario.Save(filepath.Join(r.dir, scenarioFile)))
	if r.where.Weights {
		fail.If(fail.Or(r.learner.Trained()).Save(filepath.Join(r.dir, weightsFile)))
	}
	fail.If(out.Save(filepath.Join(r.dir, results.ResultFile)))
	if err := r.saves().clear(); err != nil {
		r.where.say("The run in %s is finished, but: %v.", r.dir, err)
	}
	return out
}

func (r *runner) close() {
	if r.records != nil {
		r.records.file.Close()
	}
	if r.learner != nil {
		r.learner.Close()
	}
}
