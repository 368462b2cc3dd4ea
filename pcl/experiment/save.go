package experiment

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
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

// keptCheckpoints is how many checkpoints a run keeps: the older one is for when the newer one is
// damaged.
const keptCheckpoints = 2

func (r *runner) saves() series {
	return series{dir: r.dir, keep: keptCheckpoints}
}

// errUnsaved marks the error of a run that could not be saved, when it was interrupted or at a step
// at which a checkpoint was due. Such an error is not [ErrInterrupted]. Earlier checkpoints are
// still there.
var errUnsaved = errors.New("was not saved")

func (r *runner) save() error {
	if err := r.checkpoint(); err != nil {
		return fmt.Errorf("pcl: the run in %s %w: %w", r.dir, errUnsaved, err)
	}
	return nil
}

func (r *runner) checkpoint() error {
	learner, err := r.learner.State()
	if err != nil {
		return err
	}
	if err := r.lock.check(); err != nil {
		return err
	}
	if r.state.Records, err = r.records.flush(); err != nil {
		return err
	}
	r.state.Measured.PeakRSS = max(r.state.Measured.PeakRSS, PeakRSS())
	state, err := json.Marshal(saved{Schema: savedSchema, Config: r.config, Learner: learner.JSON, Run: r.state})
	if err != nil {
		return err
	}
	return r.saves().save(r.learner.Steps(), pcl.State{JSON: state, Arrays: learner.Arrays})
}

func savedRun(f pcl.State) (s saved, err error) {
	if err := json.Unmarshal(f.JSON, &s); err != nil {
		return saved{}, err
	}
	if s.Schema != savedSchema {
		return saved{}, fmt.Errorf("it has schema %d; this program reads schema %d of a run's checkpoint",
			s.Schema, savedSchema)
	}
	return s, nil
}

// errLacks says that a run, finished or not, has not left all that is asked for.
var errLacks = errors.New("it has not left the records, arrays or network that are asked for: replace it to have them")

// restore takes the run up after so many steps, as a checkpoint has it.
func (r *runner) restore(f pcl.State, steps int) (err error) {
	s, err := savedRun(f)
	if err != nil {
		return err
	}
	if s.Config.DataSHA256 != r.config.DataSHA256 {
		return dataError{fmt.Errorf("%w: the files of the data set have changed since it was saved", ErrForeign)}
	}
	if s.Config.ID() != r.config.ID() {
		return fmt.Errorf("%w: it belongs to another configuration (%s, not %s)",
			ErrForeign, s.Config.ID(), r.config.ID())
	}
	other := cmp.Or(s.Run.Measured.MadeBy(r.program), goesOnHere(s.Run.Measured.Maker, r.maker()))
	if other != nil {
		return fmt.Errorf("%w: %w", ErrForeign, other)
	}
	if r.work.lacks(r.dir, steps) {
		return errLacks
	}
	r.state = s.Run
	r.state.Measured.Resumed++
	return r.learner.Restore(pcl.State{JSON: s.Learner, Arrays: f.Arrays}, r.task)
}

// goesOnHere returns an error if a run that XLA began on one processor would go on with other bits
// on another: two kinds of processor can only be told to compute alike with AVX2.
func goesOnHere(then, now results.Maker) error {
	why := backend.OtherProcessor(then.Device, now.Device)
	if why == "" || then.Backend != backend.XLACPU || now.Backend != backend.XLACPU ||
		backend.VectorsOf(then.Device) == backend.AVX2 && backend.VectorsOf(now.Device) == backend.AVX2 {
		return nil
	}
	return fmt.Errorf("it was begun on %s, and this is %s, which would go on otherwise (%s): go on there, or make the "+
		"whole run with vectors %s on both",
		then.Device, now.Device, why, backend.AVX2)
}
