package pcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
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
	f, err := r.learner.snapshot()
	if err != nil {
		return fmt.Errorf("pcl: checkpoint: %w", err)
	}
	if r.state.Records, err = r.records.flush(); err != nil {
		return err
	}
	r.state.Measured.PeakRSS = max(r.state.Measured.PeakRSS, peakRSS())
	f.State, err = json.Marshal(saved{Schema: savedSchema, Config: r.config, Learner: f.State, Run: r.state})
	if err != nil {
		return fmt.Errorf("pcl: checkpoint: %w", err)
	}
	return r.saves.Save(r.learner.Steps(), f)
}

// interrupted saves, if there is a folder to save to.
func (r *runner) interrupted() error {
	if r.options.Dir == "" || r.learner.Steps() == 0 {
		return ErrInterrupted
	}
	if err := r.save(); err != nil {
		return errors.Join(ErrInterrupted, err)
	}
	return ErrInterrupted
}

// resume takes up the checkpoint that was asked for; without one in the folder the run begins.
func (r *runner) resume() error {
	f, path, err := r.find()
	if errors.Is(err, os.ErrNotExist) && r.options.Checkpoint == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pcl: resume: %w", err)
	}
	if err := r.take(f); err != nil {
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

func (r *runner) take(f checkpoint.File) error {
	var s saved
	if err := json.Unmarshal(f.State, &s); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if s.Schema != savedSchema {
		return fmt.Errorf("it has schema %d; this program reads schema %d", s.Schema, savedSchema)
	}
	if got, want := s.Config.ID(), r.config.ID(); got != want {
		return fmt.Errorf("it belongs to another configuration (%s, not %s)", got, want)
	}
	if len(s.Run.Tasks) != len(r.scenario.Tasks) {
		return fmt.Errorf("it has %d tasks, the scenario %d", len(s.Run.Tasks), len(r.scenario.Tasks))
	}
	if s.Run.Recorded != r.options.Record {
		return fmt.Errorf("it was made with Record = %t, and records cannot begin or end in the middle: resume with the same", s.Run.Recorded)
	}
	f.State = s.Learner
	if err := r.learner.restore(f, r.task); err != nil {
		return err
	}
	r.state = s.Run
	r.state.Measured.Resumed++
	return nil
}
