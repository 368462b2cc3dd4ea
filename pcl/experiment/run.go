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
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// ErrInterrupted is what [Run] returns when its context was cancelled. The run has then been saved, if it has a
// folder and had made a step. If saving failed, the error is an [UnsavedError] instead.
var ErrInterrupted = errors.New("pcl: the run was interrupted")

// RunOptions say where and how a run is made. What is computed depends on the [Config] alone, except for rounding,
// which differs from backend to backend.
type RunOptions struct {
	Backend *backend.Backend
	Dataset *datasets.Dataset
	// Programs, if set, shares compiled programs with other runs on the same Backend.
	Programs *pcl.Programs
	// Dir is the folder for the run's result, checkpoints and records. If it is empty, no files are written. Only one
	// process at a time may work in the folder. If the run is already finished there, it is not repeated: Run returns
	// its result. If it was saved there unfinished, Run returns [ErrUnfinished], unless Resume, Checkpoint or Replace
	// says what to do.
	Dir string
	// Resume continues from the newest checkpoint in Dir, or starts the run if there is none. Checkpoint continues
	// from the file that it names.
	Resume     bool
	Checkpoint string
	// Replace repeats a run that is finished or saved already: what it left in Dir is removed first. With Resume, it does so only
	// if another program made or began the run, or on other data, or without the records that are asked for.
	Replace bool
	// CheckpointEvery is the number of steps between checkpoints; 0 saves only when the run is interrupted. The last
	// Keep checkpoints are kept; 0 stands for 3.
	CheckpointEvery int
	Keep            int
	// Record writes one line per step to records.jsonl in Dir.
	Record bool
	// Weights leaves the trained network in [WeightsFile] in Dir.
	Weights bool
	// RecordArrays is the number of steps, counted from the first, whose batches and parameters are written to
	// arrays in Dir, so that other implementations can compute the same steps.
	RecordArrays int
	// Progress, if set, is called after each step.
	Progress func(Progress)
	// OnStep, if set, is called after each step with the learner and the step's report, which is valid only during the
	// call. It may look at the learner (evaluate it, take a snapshot, read the memory), but should not change it: the
	// result is stored under the configuration, which does not know of it. If it returns an error, Run returns that,
	// and the run can be resumed from its last checkpoint.
	OnStep func(*pcl.Learner, *pcl.StepReport) error

	shared *Where // if other processes share the folder
}

// Progress says how far a run has come.
type Progress struct {
	Step, Steps int           // steps made so far, and steps of the whole run
	K           int           // number of rows of the last step
	Loss        float64       // mean loss of these rows; NaN if there was none
	Skipped     int           // number of rows left out so far, because something was not finite
	PerSecond   float64       // steps per second, without the first of each number of rows, for which programs are compiled
	ETA         time.Duration // time that the remaining steps will take, estimated from PerSecond
}

// ResultFile, RecordFile and scenarioFile are the names of the files that a run leaves in its folder.
const (
	ResultFile   = "result.json"
	RecordFile   = "records.jsonl"
	scenarioFile = "scenario.json"
)

// Run trains on the scenario of a configuration, from its first step or from a checkpoint to its last step, and
// returns the result, which it also writes to Dir. When ctx is cancelled, Run finishes the current step, saves the
// run, and returns [ErrInterrupted]. If something in Dir prevents the run, Run returns the error before anything is
// computed; [Ready] returns it too.
func Run(ctx context.Context, c Config, o RunOptions) (*results.Run, error) {
	checked, err := c.Check()
	if err != nil {
		return nil, err
	}
	return run(ctx, checked, o)
}

func run(ctx context.Context, c Checked, o RunOptions) (out *results.Run, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Dataset != nil && o.Dataset.Name == c.Dataset {
		if c.Config, err = c.on(o.Dataset.SHA256); err != nil {
			return nil, err
		}
	}
	f, finished, err := takeFolder(c.Config, o)
	if err != nil || finished != nil {
		return finished, err
	}
	defer func() {
		if failed := f.release(); err == nil {
			err = failed
		}
	}()
	if o.shared != nil {
		if err := f.arrive(o.shared); err != nil {
			return nil, err
		}
		defer func() { err = f.leave(ctx, out, err) }()
	}
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
	for report, err := range play(ctx, r.scenario, r.learner, r.config.tasks(r.options.Dataset, r.scenario)) {
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

// validate returns an error if an option is missing or if options contradict each other.
func (o RunOptions) validate() error {
	switch {
	case o.Dir == "" && (o.Resume || o.Replace || o.Record || o.Weights || o.RecordArrays > 0 || o.CheckpointEvery > 0):
		return errors.New("pcl: resuming, replacing, recording, weights and checkpoints need RunOptions.Dir")
	case o.CheckpointEvery < 0 || o.Keep < 0 || o.RecordArrays < 0:
		return fmt.Errorf("pcl: RunOptions has CheckpointEvery %d, Keep %d, RecordArrays %d; want none negative", o.CheckpointEvery, o.Keep, o.RecordArrays)
	case o.Checkpoint != "" && o.Replace:
		return errors.New("pcl: RunOptions.Checkpoint continues the run, Replace repeats it: set only one of them")
	}
	return nil
}

// runner is a run in progress.
type runner struct {
	config   Checked
	options  RunOptions
	scenario *scenario.Scenario
	learner  *pcl.Learner
	folder   *runFolder
	saves    checkpoint.Series
	records  *recorder
	state    runState
	begun    time.Time
}

// runState is what has been measured of the run so far. It is saved with each checkpoint.
type runState struct {
	Tasks []results.Task  `json:"tasks"`
	Curve []results.Point `json:"curve"`
	PerK  []results.KStat `json:"per_k"`
	trouble
	Recorded bool             `json:"recorded"`
	Arrays   int              `json:"arrays,omitempty"` // RunOptions.RecordArrays
	Records  int64            `json:"records"`          // length of the record file
	Measured results.Measured `json:"measured"`
	Steady   steadySteps      `json:"steady"`
}

// steadySteps counts the steps for which nothing was compiled, and their time.
type steadySteps struct {
	Steps    int     `json:"steps"`
	Seconds  float64 `json:"seconds"`
	compiled int     // how many programs the learner had after the last step
}

// add takes note of a step after which the learner had the given number of compiled programs.
func (s *steadySteps) add(took time.Duration, compiled int) {
	if compiled == s.compiled {
		s.Steps++
		s.Seconds += took.Seconds()
	}
	s.compiled = compiled
}

// millis is the mean time of those steps; ok is false if there was none.
func (s *steadySteps) millis() (ms float64, ok bool) {
	return 1000 * s.Seconds / float64(max(1, s.Steps)), s.Steps > 0
}

func newRunner(c Checked, o RunOptions, f *runFolder) (*runner, error) {
	if o.Backend == nil || o.Dataset == nil {
		return nil, errors.New("pcl: RunOptions needs a Backend and a Dataset")
	}
	if err := c.isFor(o.Dataset); err != nil {
		return nil, err
	}
	if o.Keep == 0 {
		o.Keep = 3
	}
	s, err := c.NewScenario(o.Dataset)
	if err != nil {
		return nil, err
	}
	r := &runner{
		config: c, options: o, scenario: s, folder: f, begun: time.Now(),
		saves: checkpoint.Series{Dir: f.dir, Keep: o.Keep},
	}
	r.state.Tasks = c.begun(o.Dataset, s)
	r.state.Measured.Started, r.state.Recorded, r.state.Arrays = r.begun, o.Record, o.RecordArrays
	var w watch
	if o.RecordArrays > 0 {
		w.trace = r.trace
	}
	r.learner, err = c.newLearner(o, s, w)
	return r, err
}

// step takes note of a step that took the given time, and saves a checkpoint if one is due.
func (r *runner) step(report *pcl.StepReport, took time.Duration) error {
	if r.state.Measured.FirstStepSeconds == 0 {
		r.state.Measured.FirstStepSeconds = time.Since(r.begun).Seconds()
	}
	r.state.Measured.TrainSeconds += took.Seconds()
	r.state.Steady.add(took, r.learner.Compilations())
	if err := r.observe(report); err != nil {
		return err
	}
	if r.options.OnStep != nil {
		if err := r.options.OnStep(r.learner, report); err != nil {
			return fmt.Errorf("pcl: RunOptions.OnStep after step %d: %w", report.Step, err)
		}
	}
	if every := r.options.CheckpointEvery; every > 0 && r.learner.Steps()%every == 0 {
		if err := r.save(); err != nil {
			return &UnsavedError{r.options.Dir, err}
		}
	}
	r.progress(report)
	return nil
}

// observe adds a step's report to the run's state and its records, and evaluates the learner if that is due.
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

// countStreams counts the rows that the rule saw and adds up the weights that it gave them.
func (r *runner) countStreams(s *pcl.StepReport) {
	k, weights := len(s.IDs), s.Weights
	if j := s.Outcome.Joined; j != nil {
		k, weights = len(j.IDs), j.Weights
	}
	if k == 0 || s.Rejected {
		return
	}
	for len(r.state.PerK) < k {
		r.state.PerK = append(r.state.PerK, results.KStat{K: len(r.state.PerK) + 1})
	}
	stat := &r.state.PerK[k-1]
	stat.Steps++
	total := 0.0
	for _, w := range weights {
		total += w
	}
	stat.SumW.Add(total)
	stat.NormD.Add(s.NormD)
}

// evaluate measures the accuracy on every task that has started.
func (r *runner) evaluate(s *pcl.StepReport) error {
	began := time.Now()
	point := results.Point{Step: s.Step, Ended: s.Ended, Acc: make([]*float64, len(r.state.Tasks))}
	arrived := r.learner.Arrived()
	for i := range arrived {
		counts, err := r.learner.EvaluateByClass(i + 1)
		if err != nil {
			return err
		}
		acc := noteAccuracies(&r.state.Tasks[i], counts, s.Step)
		point.Acc[i] = &acc
		point.Mean += acc / float64(arrived)
	}
	r.state.Curve = append(r.state.Curve, point)
	r.state.Measured.EvalSeconds += time.Since(began).Seconds()
	return nil
}

// noteAccuracies keeps the accuracies of a task and of its classes after a step, and returns the task's.
func noteAccuracies(t *results.Task, counts []pcl.ClassCount, step int) float64 {
	right, n := 0, 0
	for _, c := range counts {
		right, n = right+c.Right, n+c.Test
	}
	t.AccFinal = float64(right) / float64(n)
	if step == t.End {
		t.AccEnd = t.AccFinal
	}
	if len(t.ByClass) == 0 && step <= t.End { // a run that an older program began has none of the tasks that have ended
		t.ByClass = make([]results.Class, len(counts))
	}
	for i := range t.ByClass {
		c, class := counts[i], &t.ByClass[i]
		class.Class, class.Test, class.AccFinal = c.Class, c.Test, float64(c.Right)/float64(max(1, c.Test))
		if step == t.End {
			class.AccEnd = class.AccFinal
		}
	}
	return t.AccFinal
}

func (r *runner) close() {
	r.records.close()
	r.learner.Close()
}

// finish computes the result of the run and writes it to the run's folder.
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
	if err := r.scenario.Save(filepath.Join(r.folder.dir, scenarioFile)); err != nil {
		return nil, err
	}
	if err := r.saveWeights(); err != nil {
		return nil, err
	}
	if err := out.Save(filepath.Join(r.folder.dir, ResultFile)); err != nil {
		return nil, err
	}
	return out, r.saves.Clear()
}
