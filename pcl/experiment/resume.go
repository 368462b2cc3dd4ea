package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// saved is the JSON part of a run's checkpoint.
type saved struct {
	Schema  int             `json:"schema"`
	Config  Config          `json:"config"`
	Learner json.RawMessage `json:"learner"`
	Run     runState        `json:"run"`
}

const savedSchema = 1

// save writes a checkpoint of the run.
func (r *runner) save() error {
	if err := r.folder.check(); err != nil {
		return err
	}
	learner, err := r.learner.State()
	if err != nil {
		return fmt.Errorf("pcl: checkpoint: %w", err)
	}
	if r.state.Records, err = r.records.flush(); err != nil {
		return err
	}
	r.state.Measured.PeakRSS = max(r.state.Measured.PeakRSS, PeakRSS())
	state, err := json.Marshal(saved{Schema: savedSchema, Config: r.config.Config, Learner: learner.JSON, Run: r.state})
	if err != nil {
		return fmt.Errorf("pcl: checkpoint: %w", err)
	}
	return r.saves.Save(r.learner.Steps(), checkpoint.File{State: state, Arrays: learner.Arrays})
}

// interrupted saves the run if it has a folder and has made a step, and returns the error of an interrupted run.
func (r *runner) interrupted() error {
	if r.options.Dir == "" || r.learner.Steps() == 0 {
		return ErrInterrupted
	}
	if err := r.save(); err != nil {
		return &UnsavedError{r.options.Dir, err}
	}
	return ErrInterrupted
}

// UnsavedError is what [Run] returns if it could not save the run, either when it was interrupted or at a step at
// which a checkpoint was due. It does not match [ErrInterrupted]. Earlier checkpoints are still there.
type UnsavedError struct {
	Dir string
	Err error
}

func (e *UnsavedError) Error() string {
	return fmt.Sprintf("pcl: the run in %s was not saved: %v", e.Dir, e.Err)
}
func (e *UnsavedError) Unwrap() error { return e.Err }

// DamagedError says that the newest checkpoint of a run is damaged. Its field Whole is the newest one that is not, for
// RunOptions.Checkpoint, or empty if there is none.
type DamagedError = checkpoint.LatestError

// resume restores the checkpoint that was asked for. If none was named and the folder has none, the run starts from
// its beginning, without what a run that was killed before its first checkpoint has left.
func (r *runner) resume() error {
	f, path, err := r.find()
	if errors.Is(err, os.ErrNotExist) && r.options.Checkpoint == "" {
		return r.folder.clean()
	}
	if err != nil {
		return fmt.Errorf("pcl: resume: %w", err)
	}
	err = r.take(f)
	if r.options.Replace && (errors.Is(err, ErrForeign) || errors.Is(err, ErrData)) {
		return r.folder.empty()
	}
	if err != nil {
		return fmt.Errorf("pcl: resume from %s: %w", path, err)
	}
	return nil
}

func (r *runner) find() (checkpoint.File, string, error) {
	if path := r.options.Checkpoint; path != "" {
		f, err := checkpoint.Load(path)
		return f, path, err
	}
	return r.saves.Latest()
}

func savedRun(f checkpoint.File) (s saved, err error) {
	if err := json.Unmarshal(f.State, &s); err != nil {
		return s, fmt.Errorf("state: %w", err)
	}
	if s.Schema != savedSchema {
		return s, fmt.Errorf("it has schema %d; this program reads schema %d of a run's checkpoint", s.Schema, savedSchema)
	}
	return s, nil
}

func (r *runner) take(f checkpoint.File) error {
	s, err := savedRun(f)
	if err != nil {
		return err
	}
	if s.Config.DataSHA256 != r.config.DataSHA256 {
		return fmt.Errorf("%w since it was saved", ErrData)
	}
	if got, want := s.Config.ID(), r.config.ID(); got != want {
		return fmt.Errorf("it belongs to another configuration (%s, not %s)", got, want)
	}
	if err := s.Run.Measured.MadeBy(r.folder.program); err != nil {
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	if err := goesOnHere(s.Run.Measured.Maker, r.maker()); err != nil {
		return err
	}
	if len(s.Run.Tasks) != len(r.scenario.Tasks) {
		return fmt.Errorf("it has %d tasks, the scenario %d", len(s.Run.Tasks), len(r.scenario.Tasks))
	}
	if s.Run.Recorded != r.options.Record {
		return fmt.Errorf("it was made with Record = %t, which cannot change in the middle of a run: resume with the same value", s.Run.Recorded)
	}
	if err := r.learner.Restore(pcl.State{JSON: s.Learner, Arrays: f.Arrays}, r.config.tasks(r.options.Dataset, r.scenario)); err != nil {
		return err
	}
	if steps, arrays := r.learner.Steps(), r.options.RecordArrays; arrays != s.Run.Arrays && max(arrays, s.Run.Arrays) > steps {
		return fmt.Errorf("it was made with RecordArrays = %d and has %d steps, of which some are to be recorded and others not: resume with the same value", s.Run.Arrays, steps)
	}
	r.state = s.Run
	r.state.Arrays = r.options.RecordArrays
	r.state.Measured.Resumed++
	return nil
}

// goesOnHere returns an error if a run that XLA began on one processor would go on with other bits on another: two kinds of
// processor can only be told to compute alike with AVX2.
func goesOnHere(then, now results.Maker) error {
	why := backend.OtherProcessor(then.Device, now.Device)
	if why == "" || then.Backend != backend.XLACPU || now.Backend != backend.XLACPU ||
		backend.VectorsOf(then.Device) == backend.AVX2 && backend.VectorsOf(now.Device) == backend.AVX2 {
		return nil
	}
	return fmt.Errorf("%w: it was begun on %s, and this is %s, which would go on otherwise (%s): go on there, or make the whole run with vectors %s on both",
		ErrForeign, then.Device, now.Device, why, backend.AVX2)
}
