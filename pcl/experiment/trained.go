package experiment

import (
	"context"
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

// LoadNetwork returns the network at a path: a run's folder, a safetensors file, or a checkpoint. Of a folder it is the one
// that the finished run left, or else that of the newest checkpoint. What a checkpoint has is opened on the run's data set.
func LoadNetwork(ctx context.Context, path string, o datasets.Options) (*pcl.Trained, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path, err = findWeights(path)
	}
	if err != nil {
		return nil, fmt.Errorf("pcl: %w", err)
	}
	if filepath.Ext(path) == ".safetensors" {
		return pcl.LoadTrained(path)
	}
	f, err := checkpoint.Load(path)
	if err != nil {
		return nil, fmt.Errorf("pcl: %w", err)
	}
	s, err := savedRun(f)
	if err != nil {
		return nil, fmt.Errorf("pcl: %s: %w", path, err)
	}
	set, err := datasets.Open(ctx, s.Config.Dataset, o)
	if err != nil {
		return nil, err
	}
	b, err := backend.Open(ctx, backend.Options{Name: backend.Go})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	n, err := s.network(f, b, set)
	if err != nil {
		err = fmt.Errorf("%w (%s)", err, path)
	}
	return n, err
}

// findWeights returns the file in a run's folder from which the run's network can be had.
func findWeights(dir string) (string, error) {
	if exists(dir, WeightsFile) {
		return filepath.Join(dir, WeightsFile), nil
	}
	if exists(dir, ResultFile) { // a checkpoint beside it was left by a process that was killed, and is of an earlier step
		return "", fmt.Errorf("%w in %s: a finished run keeps its network only if it was made with RunOptions.Weights; repeat it with that and Replace, which gives the same network", ErrNoWeights, dir)
	}
	saved, err := checkpoint.Series{Dir: dir}.List()
	if err == nil && len(saved) == 0 {
		err = fmt.Errorf("%w in %s: it is not a run's folder", ErrNoWeights, dir)
	}
	if err != nil {
		return "", err
	}
	return saved[len(saved)-1], nil
}

// network returns the network as it was when the checkpoint f was written. What a run began with does not count any more.
func (s saved) network(f checkpoint.File, b *backend.Backend, set *datasets.Dataset) (*pcl.Trained, error) {
	s.Config.Init, s.Config.InitFile = "", ""
	c, err := s.Config.Check()
	if err != nil {
		return nil, err
	}
	played, err := c.NewScenario(set)
	if err != nil {
		return nil, err
	}
	l, err := c.newLearner(RunOptions{Backend: b, Dataset: set}, played, watch{})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := l.Restore(pcl.State{JSON: s.Learner, Arrays: f.Arrays}, c.tasks(set, played)); err != nil {
		return nil, err
	}
	return l.Trained()
}

// saveWeights writes the run's network, or removes what an earlier run has left.
func (r *runner) saveWeights() error {
	path := filepath.Join(r.folder.dir, WeightsFile)
	if !r.options.Weights {
		return os.RemoveAll(path)
	}
	t, err := r.learner.Trained()
	if err != nil {
		return err
	}
	return t.Save(path)
}
