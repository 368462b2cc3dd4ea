package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// ErrInterrupted is what [Run] returns when its context was cancelled; the run has been saved if it has a
// folder and had made a step. Where saving failed, the error is another.
var ErrInterrupted = errors.New("pcl: the run was interrupted")

// RunOptions say where and how a run is made; its result does not depend on them.
type RunOptions struct {
	Backend *backend.Backend
	Dataset *datasets.Dataset
	// Programs, if set, shares compiled programs with other runs on the same Backend.
	Programs *pcl.Programs
	// Dir is the run's folder, for its result, checkpoints and records. Empty writes no files. One process works
	// in it at a time. A run that is finished there is not made again: Run returns its result. One that was saved
	// there unfinished is refused with [ErrUnfinished] unless Resume, Checkpoint or Replace says what to do.
	Dir string
	// Resume takes up the newest checkpoint in Dir, or begins where there is none. Checkpoint
	// names a particular file instead.
	Resume     bool
	Checkpoint string
	// Replace makes the run anew, in [ReplacementDir] within Dir, where it is finished or saved already. The old
	// files stay until the new result is complete. With Resume it goes on with a replacement that was begun.
	Replace bool
	// CheckpointEvery is in steps; 0 saves only when interrupted. The last Keep (0: 3) stay.
	CheckpointEvery int
	Keep            int
	// Record writes one line per step to records.jsonl in Dir.
	Record bool
	// RecordArrays writes the batches and parameters of the first so many steps to [ArraysDir] in Dir, for
	// other implementations to compute them again.
	RecordArrays int
	// Progress, if set, is called after each step.
	Progress func(Progress)
}

// Progress is where a run stands.
type Progress struct {
	Step, Steps int           // steps made, and in all
	K           int           // rows of the last step
	Loss        float64       // their mean; NaN where there was none
	Skipped     int           // rows left out so far, because something was not finite
	PerSecond   float64       // steps, over the last seconds
	ETA         time.Duration // from PerSecond
}

// ResultFile, RecordFile and ScenarioFile are what a run leaves in its folder.
const (
	ResultFile   = "result.json"
	RecordFile   = "records.jsonl"
	ScenarioFile = "scenario.json"
)

// Run plays the scenario of a configuration from its first step, or from a checkpoint, to its
// last, and returns the result, which it also writes to Dir. When ctx is cancelled it finishes the
// step, saves, and returns an error that is [ErrInterrupted]. What stands against the run in its folder is said
// before anything is computed ([Ready]).
func Run(ctx context.Context, c Config, o RunOptions) (out *results.Run, err error) {
	if err := errors.Join(c.Validate(), o.validate()); err != nil {
		return nil, err
	}
	f, finished, err := takeFolder(c, o)
	if err != nil || finished != nil {
		return finished, err
	}
	defer func() {
		if failed := f.release(); err == nil {
			err = failed
		}
	}()
	r, err := newRunner(c, o, f)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.run(ctx)
}

func (r *runner) run(ctx context.Context) (*results.Run, error) {
	if err := r.folder.begin(r.options); err != nil {
		return nil, err
	}
	if r.options.Resume || r.options.Checkpoint != "" {
		if err := r.resume(); err != nil {
			return nil, err
		}
	}
	r.beginPart()
	if err := r.openRecords(); err != nil {
		return nil, err
	}
	if err := r.beginArrays(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, r.interrupted()
	}
	if err := r.learner.Warm(r.scenario.MaxStreams()); err != nil {
		return nil, err
	}
	began := time.Now()
	for report, err := range play(ctx, r.scenario, r.learner, r.task) {
		if err != nil && errors.Is(err, ctx.Err()) {
			return nil, r.interrupted()
		}
		if err != nil {
			return nil, err
		}
		if err := r.step(report, time.Since(began)); err != nil {
			return nil, err
		}
		began = time.Now()
	}
	return r.finish()
}

// validate says what the options lack or cannot have together.
func (o RunOptions) validate() error {
	switch {
	case o.Dir == "" && (o.Resume || o.Replace || o.Record || o.RecordArrays > 0 || o.CheckpointEvery > 0):
		return errors.New("pcl: resuming, replacing, recording and checkpoints need RunOptions.Dir")
	case o.CheckpointEvery < 0 || o.Keep < 0 || o.RecordArrays < 0:
		return fmt.Errorf("pcl: RunOptions has CheckpointEvery %d, Keep %d, RecordArrays %d; want none negative", o.CheckpointEvery, o.Keep, o.RecordArrays)
	case o.Checkpoint != "" && o.Replace:
		return errors.New("pcl: RunOptions.Checkpoint takes the run up, Replace makes it anew: give one of them")
	}
	return nil
}

// runner is a run in progress.
type runner struct {
	config   Config
	options  RunOptions
	scenario *scenario.Scenario
	learner  *pcl.Learner
	folder   *runFolder
	saves    checkpoint.Series
	records  *recorder
	state    runState
	clock    stepClock
	begun    time.Time
}

// runState is what the run has found out so far; it is saved with the checkpoint.
type runState struct {
	Tasks []results.Task  `json:"tasks"`
	Curve []results.Point `json:"curve"`
	PerK  []results.KStat `json:"per_k"`
	trouble
	Recorded bool             `json:"recorded"`
	Records  int64            `json:"records"` // length of the record file
	Measured results.Measured `json:"measured"`
}

func newRunner(c Config, o RunOptions, f *runFolder) (*runner, error) {
	if o.Backend == nil || o.Dataset == nil {
		return nil, errors.New("pcl: RunOptions needs a Backend and a Dataset")
	}
	if o.Dataset.Name != c.Dataset {
		return nil, fmt.Errorf("pcl: the configuration asks for data set %q, given %q", c.Dataset, o.Dataset.Name)
	}
	if o.Keep == 0 {
		o.Keep = 3
	}
	s, err := NewScenario(c, o.Dataset)
	if err != nil {
		return nil, err
	}
	if err := holds(c.Memory, s); err != nil {
		return nil, err
	}
	r := &runner{
		config: c, options: o, scenario: s, folder: f, begun: time.Now(),
		saves: checkpoint.Series{Dir: f.work, Keep: o.Keep},
	}
	r.state.Measured.Started, r.state.Recorded = r.begun, o.Record
	for i, t := range s.Tasks {
		r.state.Tasks = append(r.state.Tasks, results.Task{
			ID: i + 1, Classes: t.Classes, Start: t.Start, End: t.End(), Train: t.Train,
			Test: o.Dataset.Select(&o.Dataset.Test, 0, t.Classes...).Len(),
		})
	}
	var trace func(*pcl.Trace) error
	if o.RecordArrays > 0 {
		trace = r.trace
	}
	r.learner, err = c.newLearner(o.Backend, o.Programs, o.Dataset, Outputs(s, o.Dataset), trace)
	return r, err
}

// holds says so now if the memory will have no place for some of the scenario's classes.
func holds(c memory.Config, s *scenario.Scenario) error {
	classes := map[int]bool{}
	for _, t := range s.Tasks {
		for _, class := range t.Classes {
			classes[class] = true
		}
	}
	if c.Policy == memory.FixedTotal && c.Budget > 0 && c.Budget < len(classes) {
		return fmt.Errorf("pcl: a memory of %d samples in total cannot hold the %d classes of the scenario's tasks; raise the budget, or use %q", c.Budget, len(classes), memory.PerClass)
	}
	return nil
}

// task builds what the learner attaches as task id.
func (r *runner) task(id int) (pcl.Task, error) {
	if id < 1 || id > len(r.scenario.Tasks) {
		return pcl.Task{}, fmt.Errorf("the scenario has %d tasks", len(r.scenario.Tasks))
	}
	return r.config.NewTask(r.options.Dataset, id, r.scenario.Tasks[id-1].Classes...)
}

// step measures a step that took the given time, and saves.
func (r *runner) step(report *pcl.StepReport, took time.Duration) error {
	if r.state.Measured.FirstStepSeconds == 0 {
		r.state.Measured.FirstStepSeconds = time.Since(r.begun).Seconds()
	}
	r.clock.tick()
	r.state.Measured.TrainSeconds += took.Seconds()
	if err := r.observe(report); err != nil {
		return err
	}
	if every := r.options.CheckpointEvery; every > 0 && r.learner.Steps()%every == 0 {
		if err := r.save(); err != nil {
			return &UnsavedError{r.options.Dir, err}
		}
	}
	r.progress(report)
	return nil
}

// observe takes a step's report into the run's state, and evaluates where it is due.
func (r *runner) observe(s *pcl.StepReport) error {
	r.state.trouble.observe(s)
	for i, id := range s.IDs {
		if id <= method.Memory {
			continue
		}
		t := &r.state.Tasks[id-1]
		if s.Step == t.Start {
			t.LossFirst = s.Losses[i]
		}
		t.LossLast = s.Losses[i]
	}
	for _, id := range s.Ended {
		if t := r.state.Tasks[id-1]; t.End != s.Step {
			return fmt.Errorf("pcl: task %d ended at step %d, its scenario says %d", id, s.Step, t.End)
		}
	}
	r.countStreams(s)
	if r.records != nil {
		if err := r.records.write(s); err != nil {
			return err
		}
	}
	due := r.config.EvalEvery > 0 && (s.Step+1)%r.config.EvalEvery == 0
	if due || len(s.Ended) > 0 {
		return r.evaluate(s)
	}
	return nil
}

func (r *runner) countStreams(s *pcl.StepReport) {
	k := len(s.IDs)
	if k == 0 || s.Rejected {
		return
	}
	for len(r.state.PerK) < k {
		r.state.PerK = append(r.state.PerK, results.KStat{K: len(r.state.PerK) + 1})
	}
	stat := &r.state.PerK[k-1]
	stat.Steps++
	total := 0.0
	for _, w := range s.Weights {
		total += w
	}
	stat.SumW.Add(total)
	stat.NormD.Add(s.NormD)
}

// evaluate measures every task that has started.
func (r *runner) evaluate(s *pcl.StepReport) error {
	began := time.Now()
	point := results.Point{Step: s.Step, Ended: s.Ended, Acc: make([]*float64, len(r.state.Tasks))}
	arrived := r.learner.Arrived()
	for i := range arrived {
		acc, err := r.learner.Evaluate(i + 1)
		if err != nil {
			return err
		}
		point.Acc[i] = &acc
		point.Mean += acc / float64(arrived)
		r.state.Tasks[i].AccFinal = acc
	}
	for _, id := range s.Ended {
		r.state.Tasks[id-1].AccEnd = *point.Acc[id-1]
	}
	r.state.Curve = append(r.state.Curve, point)
	r.state.Measured.EvalSeconds += time.Since(began).Seconds()
	return nil
}

func (r *runner) close() {
	r.records.close()
	r.learner.Close()
}

// finish computes the run's figures and writes its result.
func (r *runner) finish() (*results.Run, error) {
	out, err := r.result()
	if err != nil {
		return nil, err
	}
	if _, err := r.records.flush(); err != nil {
		return nil, err
	}
	if err := r.records.close(); err != nil {
		return nil, err
	}
	if r.options.Dir == "" {
		return out, nil
	}
	if err := r.folder.check(); err != nil {
		return nil, err
	}
	if err := r.scenario.Save(filepath.Join(r.folder.work, ScenarioFile)); err != nil {
		return nil, err
	}
	if err := out.Save(filepath.Join(r.folder.work, ResultFile)); err != nil {
		return nil, err
	}
	return out, r.folder.complete()
}
