// Package results defines what a training run leaves behind: one JSON file per run
// (docs/protocol.md §4) and, on request, one line of JSON per step. It depends neither on the
// engine that writes them nor on the figures that read them.
package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/regular"
)

// schema is the version of the run file; files of another version are refused.
const schema = 1

// Run is the outcome of one training run.
type Run struct {
	Schema int `json:"schema"` // which Save writes
	// ID is the hash of the configuration: runs of equal ID are the same experiment.
	ID string `json:"id"`

	Method      string         `json:"method"`       // e.g. "emgd-gmc"
	MethodTitle string         `json:"method_title"` // e.g. "EMGD (GMC)"
	Params      map[string]any `json:"params,omitempty"`
	// Variant says what the run did in addition to the method, e.g. "edit η=0.003 drift≤0.05";
	// empty for nothing.
	Variant   string `json:"variant,omitempty"`
	Dataset   string `json:"dataset"`   // e.g. "emnist-byclass-test80"
	Increment string `json:"increment"` // "task" or "class"
	LabelSet  uint64 `json:"labelset_seed"`
	Timeline  uint64 `json:"timeline_seed"`
	Seed      uint64 `json:"seed"`
	// Config is the whole configuration, as `pcl run --config` reads it back.
	Config json.RawMessage `json:"config"`

	Steps int    `json:"steps"` // optimiser steps made; ē+1 unless the timeline has gaps, in which none are made
	Tasks []Task `json:"tasks"`
	// Accuracies are fractions in [0,1]; A and F in percent, as in the paper's tables.
	A      float64 `json:"A"`       // A_ē, mean final accuracy over the tasks, %
	F      float64 `json:"F"`       // F_ē, mean of final − at own end, %; higher is better
	AFirst float64 `json:"A_first"` // A − F, mean accuracy of a task at its own end, %
	// Curve has one point per evaluation: at each task's end, and in between if that was asked for.
	Curve []Point `json:"curve"`
	// PerK has one entry for each number of rows that a step had.
	PerK []KStat `json:"per_k"`
	// Drift is how far memory editing has moved the stored pixels; nil without it.
	Drift *Drift `json:"drift,omitempty"`
	// Skipped counts rows left out because a loss or gradient was not finite, those of rejected
	// steps too.
	Skipped int `json:"skipped_rows"`
	// SkippedSamples counts samples that were left out of rows which would otherwise have been left
	// out themselves.
	SkippedSamples int `json:"skipped_samples,omitempty"`
	// Rejected counts steps that changed nothing because their direction was not finite.
	Rejected int `json:"rejected_steps,omitempty"`
	// DivergedAt is the step from which on no row took part any more, up to the end of the run: the
	// network had stopped learning. It is nil for a run that learnt until its end.
	DivergedAt *int `json:"diverged_at,omitempty"`

	// ModelSHA256 is of the final parameters and statistics, or of the sums of a method that learns
	// from these.
	ModelSHA256  string `json:"model_sha256"`
	MemorySHA256 string `json:"memory_sha256"` // of the final rehearsal store, pixels included

	// Measured holds everything that may differ between two runs of one configuration.
	Measured Measured `json:"measured"`
}

// Drift is ‖x − x_original‖∞ of the edited samples that are in the memory at the end.
type Drift struct {
	Samples int     `json:"samples"`
	Mean    float64 `json:"mean"`
	Max     float64 `json:"max"`
}

// Task is one stream of a run.
type Task struct {
	ID      int    `json:"id"`             // from 1, by arrival
	Name    string `json:"name,omitempty"` // empty in a scenario, which only counts its tasks
	Classes []int  `json:"classes"`
	// Names has the classes' names in the data set. Runs of older programs have none.
	Names     []string `json:"names,omitempty"`
	Start     int      `json:"start"` // first step s_t
	End       int      `json:"end"`   // last step e_t
	Train     int      `json:"train"` // training samples
	Test      int      `json:"test"`
	AccEnd    float64  `json:"acc_end"`    // accuracy after its own last step
	AccFinal  float64  `json:"acc_final"`  // accuracy after the run's last step
	LossFirst float64  `json:"loss_first"` // training loss of its first batch
	LossLast  float64  `json:"loss_last"`  // and of its last
	// ByClass has the accuracies of each class, in the order of Classes. Runs of older programs
	// have none.
	ByClass []Class `json:"by_class,omitempty"`
}

// Span returns the number of steps of the run's timeline, which is Steps unless there were some at
// which no stream ran.
func (r *Run) Span() int {
	span := r.Steps
	for _, t := range r.Tasks {
		span = max(span, t.End+1)
	}
	return span
}

// TaskNames returns what figures and pages call each task: its name, and its number where it has
// none or shares it with another.
func (r *Run) TaskNames() []string {
	names, times := make([]string, len(r.Tasks)), map[string]int{}
	for i, t := range r.Tasks {
		number := fmt.Sprint("task ", t.ID)
		names[i] = cmp.Or(strings.Join(strings.Fields(t.Name), " "), number)
		times[names[i]]++
	}
	for i, t := range r.Tasks {
		if times[names[i]] > 1 {
			names[i] = fmt.Sprintf("%s (task %d)", names[i], t.ID)
		}
	}
	return names
}

// Class is one class of a task.
type Class struct {
	Class    int     `json:"class"`
	Test     int     `json:"test"`      // test samples
	AccEnd   float64 `json:"acc_end"`   // accuracy on them after the task's last step
	AccFinal float64 `json:"acc_final"` // accuracy after the run's last step
}

// Point is one evaluation.
type Point struct {
	Step int `json:"step"` // evaluated after this step's update
	// Ended lists the tasks whose last step this is; empty between task ends.
	Ended []int `json:"ended,omitempty"`
	// Acc has each task's accuracy by index (task id − 1), null for tasks that have not started.
	Acc []*float64 `json:"acc"`
	// Mean is the average over the tasks started so far (Fig. 7).
	Mean float64 `json:"mean"`
}

// KStat gathers the steps that had K streams.
type KStat struct {
	K     int    `json:"k"` // the rows that the method's rule saw
	Steps int    `json:"steps"`
	SumW  Moment `json:"sum_w"`  // Σwᵢ of the applied weights
	NormD Moment `json:"norm_d"` // ‖d‖ over the shared parameters
}

// Measured holds times, sizes and circumstances.
type Measured struct {
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Seconds of training and of evaluation, summed over a run's parts when it was resumed.
	TrainSeconds float64 `json:"train_seconds"`
	EvalSeconds  float64 `json:"eval_seconds"`
	// FirstStepSeconds is the time from the start of the process to its first finished step.
	FirstStepSeconds float64 `json:"first_step_seconds"`
	// StepMillis leaves out the steps for which programs were compiled, unless there are no others.
	StepMillis   float64 `json:"step_ms_mean"`
	PeakRSS      int64   `json:"peak_rss_bytes"`
	Compilations int     `json:"compilations"` // until the last step of this process
	Resumed      int     `json:"resumed"`      // how often the run was resumed
	// StoredBytes is how large the stored samples are at the end, StatisticsBytes how large the
	// sums that a method learns from (docs/method.md §12.1). Runs of older programs have neither.
	StoredBytes     int `json:"stored_bytes,omitempty"`
	StatisticsBytes int `json:"statistics_bytes,omitempty"`
	// Maker is what made the run's last part. If there were several parts, Parts has all of them,
	// in order.
	Maker
	Parts []Part `json:"parts,omitempty"`
}

// Seconds returns the time of training and evaluation together.
func (m *Measured) Seconds() float64 { return m.TrainSeconds + m.EvalSeconds }

// Maker names the backend, device and program that made a run or a part of it.
type Maker struct {
	Backend   string `json:"backend"` // e.g. "xla-cpu"
	Device    string `json:"device"`
	Threads   int    `json:"threads"`
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	GoVersion string `json:"go_version"`
	// Program tells the program and the parts that it has registered from others that may compute
	// something else. Runs of older programs have none.
	Program string `json:"program,omitempty"`
}

// Part is a stretch of a run's steps, from where the run was begun or resumed to where it was
// interrupted.
type Part struct {
	From  int       `json:"from_step"`
	Begun time.Time `json:"begun"`
	Maker
}

// makers returns the makers of the run's parts, each once, in order of first appearance.
func (m Measured) makers() []Maker {
	out := []Maker{}
	for _, p := range append(slices.Clone(m.Parts), Part{Maker: m.Maker}) {
		if !slices.Contains(out, p.Maker) {
			out = append(out, p.Maker)
		}
	}
	return out
}

// MadeBy returns an error that names both programs if another one than this has made the run or a
// part of it.
func (m Measured) MadeBy(program string) error {
	for _, maker := range m.makers() {
		if maker.Program != program {
			unnamed := fmt.Sprintf("of version %s, commit %s, which did not say more of itself", maker.Version, maker.Commit)
			return fmt.Errorf("it was made by the program %s, and this is %s, which may compute something else",
				cmp.Or(maker.Program, unnamed), program)
		}
	}
	return nil
}

// Save writes the run to path, if its numbers pass [Run.Check].
func (r *Run) Save(path string) error {
	r.Schema = schema
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", r.ID, err)
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

// Load reads a run that [Run.Save] wrote.
func Load(path string) (*Run, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// parse reads a run from its JSON, and checks its numbers.
func parse(data []byte) (*Run, error) {
	r := new(Run)
	if err := jsonin.UnmarshalNewer(data, r); err != nil {
		return nil, fmt.Errorf("not a run: %w", err)
	}
	switch {
	case r.Schema != schema:
		return nil, fmt.Errorf("it has schema %d; this program reads schema %d", r.Schema, schema)
	case len(r.Tasks) == 0:
		return nil, errors.New("no tasks")
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	return r, r.checkDerived()
}
