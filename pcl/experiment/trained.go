package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
)

// WeightsFile is the name of the file with the trained network that a run leaves in its folder if
// [RunOptions].Weights is set.
const WeightsFile = "weights.safetensors"

// ErrNoWeights says that a folder has neither the network of a finished run nor a checkpoint of an unfinished one.
var ErrNoWeights = errors.New("no weights")

// FindWeights returns the file in a run's folder from which the run's network can be had: the one that the finished run
// left, or else the newest checkpoint.
func FindWeights(dir string) (path string, finished bool, err error) {
	if exists(dir, WeightsFile) {
		return filepath.Join(dir, WeightsFile), true, nil
	}
	if exists(dir, ResultFile) { // a checkpoint beside it was left by a process that was killed, and is of an earlier step
		return "", false, fmt.Errorf("pcl: %w in %s: a finished run keeps its network only if it was made with RunOptions.Weights; repeat it with that and Replace, which gives the same network", ErrNoWeights, dir)
	}
	saved, err := checkpoint.Series{Dir: dir}.List()
	switch {
	case err != nil:
		return "", false, fmt.Errorf("pcl: %w", err)
	case len(saved) == 0:
		return "", false, fmt.Errorf("pcl: %w in %s: it is not a run's folder", ErrNoWeights, dir)
	}
	return saved[len(saved)-1], false, nil
}

// SavedConfig returns the configuration of the run that a checkpoint is of.
func SavedConfig(path string) (Config, error) {
	_, s, err := loadSaved(path)
	return s.Config, err
}

// SavedNetwork returns the network of an unfinished run as it was when the checkpoint was written. The data set is that
// of the run; programs are compiled on the backend if predictions are not made by logits alone.
func SavedNetwork(path string, b *backend.Backend, set *datasets.Dataset) (*pcl.Trained, error) {
	f, s, err := loadSaved(path)
	if err != nil {
		return nil, err
	}
	s.Config.Init, s.Config.InitFile = "", "" // what a run began with does not count any more
	c, err := s.Config.Check()
	if err != nil {
		return nil, err
	}
	played, err := c.NewScenario(set)
	if err != nil {
		return nil, err
	}
	l, err := c.newLearner(b, nil, set, played, watch{})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := l.Restore(pcl.State{JSON: s.Learner, Arrays: f.Arrays}, c.tasks(set, played)); err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return l.Trained()
}

func loadSaved(path string) (f checkpoint.File, s saved, err error) {
	if f, err = checkpoint.Load(path); err != nil {
		return f, s, fmt.Errorf("pcl: %w", err)
	}
	if s, err = savedRun(f); err != nil {
		err = fmt.Errorf("pcl: %s: %w", path, err)
	}
	return f, s, err
}

// saveWeights writes the run's network, or removes what an earlier run has left.
func (r *runner) saveWeights() error {
	path := filepath.Join(r.folder.work, WeightsFile)
	if !r.options.Weights {
		return ignoreMissing(os.Remove(path))
	}
	t, err := r.learner.Trained()
	if err != nil {
		return err
	}
	return t.Save(path)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
