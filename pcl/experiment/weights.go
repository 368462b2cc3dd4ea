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

// errNoWeights says that a folder has neither the network of a finished run nor a checkpoint of an unfinished one.
var errNoWeights = errors.New("no weights")

// LoadNetwork returns the network at a path: a run's folder, a safetensors file, or a checkpoint. Of a folder it is the one
// that the finished run left, or else that of the newest checkpoint. What a checkpoint has is opened on the run's data set.
func LoadNetwork(ctx context.Context, path string, o datasets.Options) (*pcl.Trained, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path, err = findWeights(path)
	}
	if err == nil && filepath.Ext(path) == ".safetensors" {
		return pcl.LoadTrained(path)
	}
	var f checkpoint.File
	if err == nil {
		f, err = checkpoint.Load(path)
	}
	if err != nil {
		return nil, fmt.Errorf("pcl: %w", err)
	}
	m := &Machine{DataDir: o.Dir, Open: func(ctx context.Context) (*backend.Backend, error) {
		return backend.Open(ctx, backend.Options{Name: backend.Go})
	}}
	defer m.Close()
	n, err := savedNetwork(ctx, m, f)
	if err != nil {
		err = fmt.Errorf("pcl: %s: %w", path, err)
	}
	return n, err
}

// findWeights returns the file in a run's folder from which the run's network can be had.
func findWeights(dir string) (string, error) {
	saved, err := checkpoint.Series{Dir: dir}.List()
	switch {
	case exists(dir, WeightsFile):
		return filepath.Join(dir, WeightsFile), nil
	case exists(dir, ResultFile): // a checkpoint beside it was left by a process that was killed, and is of an earlier step
		return "", fmt.Errorf("%w in %s: a finished run keeps its network only if it is asked for; pcl run … --weights --replace (Where.Weights and Replace) makes it again, with the same network", errNoWeights, dir)
	case err == nil && len(saved) == 0:
		return "", fmt.Errorf("%w in %s: it is not a run's folder", errNoWeights, dir)
	case err != nil:
		return "", err
	}
	return saved[len(saved)-1], nil
}

// savedNetwork returns the network as it was when a checkpoint was written.
func savedNetwork(ctx context.Context, m *Machine, f checkpoint.File) (*pcl.Trained, error) {
	s, err := savedRun(f)
	if err != nil {
		return nil, err
	}
	s.Config.Init, s.Config.InitFile = "", "" // what the run began with does not count any more
	c, err := s.Config.Check()
	if err != nil {
		return nil, err
	}
	set, err := m.ready(ctx, c.Dataset)
	if err != nil {
		return nil, err
	}
	played, err := c.newScenario(set)
	if err != nil {
		return nil, err
	}
	l, err := c.newLearner(m, set, played, pcl.Options{})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := l.Restore(pcl.State{JSON: s.Learner, Arrays: f.Arrays}, c.tasks(set, played)); err != nil {
		return nil, err
	}
	return l.Trained()
}

// saveWeights writes the run's network, if it is asked for.
func (r *runner) saveWeights() error {
	if !r.where.Weights {
		return nil
	}
	t, err := r.learner.Trained()
	if err != nil {
		return err
	}
	return t.Save(filepath.Join(r.dir, WeightsFile))
}
