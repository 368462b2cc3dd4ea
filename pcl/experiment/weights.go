package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/features"
	"github.com/parallelcl/parallelcl/pcl/onnx"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// errNoWeights says that a folder has neither the network of a finished run nor a checkpoint of an
// unfinished one.
var errNoWeights = errors.New("no weights")

// LoadNetwork returns the network at a path: a run's folder, a safetensors file, or a checkpoint. A
// folder has the network that the finished run left, or else that of its newest checkpoint.
// LoadNetwork opens a checkpoint on the run's data set.
func LoadNetwork(ctx context.Context, path string, o datasets.Options) (n *pcl.Network, err error) {
	about, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if about.IsDir() {
		if path, err = findWeights(path); err != nil {
			return nil, err
		}
	}
	if filepath.Ext(path) == ".safetensors" {
		return pcl.LoadNetwork(path)
	}
	f, err := pcl.LoadState(path)
	if err != nil {
		return nil, err
	}
	m := &Machine{DataDir: o.Dir, Open: func(ctx context.Context) (*backend.Backend, error) {
		return backend.Open(ctx, backend.Options{Name: backend.Go})
	}}
	defer m.Close()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	return m.savedNetwork(ctx, f)
}

// LoadBackbone returns the backbone on whose features the run in a folder was made, for an ONNX
// file that takes pictures of the run's data set. It tells progress of a download.
func LoadBackbone(ctx context.Context, folder string, o datasets.Options, progress io.Writer) (*onnx.Backbone, error) {
	c, err := configOf(folder)
	if err != nil {
		return nil, err
	}
	if c.Features == "" {
		return nil, fmt.Errorf("%s: the run is not on features, so that its network takes samples without a backbone", folder)
	}
	m := &Machine{DataDir: o.Dir}
	defer m.Close()
	set, err := m.pictures(ctx, c)
	if err != nil {
		return nil, err
	}
	s := c.spec()
	if sum, err := onWeights(set.SHA256, s); err != nil || c.DataSHA256 != "" && sum != c.DataSHA256 {
		return nil, fmt.Errorf("%w: %s: the pictures or the backbone's weights are not those of the run",
			cmp.Or(err, ErrData), folder)
	}
	return features.ForONNX(ctx, s, "", progress, set.Height, set.Width, set.Channels)
}

// configOf returns the configuration of the run in a folder, which need not have finished.
func configOf(folder string) (c Config, err error) {
	about, err := os.Stat(folder)
	if err != nil {
		return c, err
	}
	if !about.IsDir() {
		return c, fmt.Errorf("%s: a file does not say on which pictures its network was trained; want the run's folder",
			folder)
	}
	if exists(folder, results.ResultFile) {
		r, err := results.Load(filepath.Join(folder, results.ResultFile))
		if err != nil {
			return c, err
		}
		return c, json.Unmarshal(r.Config, &c)
	}
	path, err := findWeights(folder)
	if err != nil {
		return c, err
	}
	f, err := pcl.LoadState(path)
	if err != nil {
		return c, err
	}
	s, err := savedRun(f)
	return s.Config, err
}

// findWeights returns the file in a run's folder from which the run's network can be had.
func findWeights(dir string) (string, error) {
	if exists(dir, weightsFile) {
		return filepath.Join(dir, weightsFile), nil
	}
	// a checkpoint beside a result was left by a process that was killed, and is of an earlier step
	if exists(dir, results.ResultFile) {
		return "", fmt.Errorf(
			"%w in %s: a finished run keeps its network only if it is asked for; pcl run … --weights --replace "+
				"(Store.Weights and Replace) makes it again, with the same network", errNoWeights, dir)
	}
	saved, err := series{dir: dir}.list()
	if err != nil {
		return "", err
	}
	if len(saved) > 0 {
		return saved[len(saved)-1], nil
	}
	if run := runIn(dir); run != "" {
		return "", fmt.Errorf("%w in %s: it has folders of runs; name one of them, such as %s", errNoWeights, dir, run)
	}
	return "", fmt.Errorf("%w in %s: it is not a run's folder", errNoWeights, dir)
}

// runIn returns the folder of a run in dir, one with weights if there is any; "" if there is no
// run.
func runIn(dir string) (run string) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		sub := filepath.Join(dir, e.Name())
		switch {
		case exists(sub, weightsFile):
			return sub
		case run == "" && exists(sub, results.ResultFile):
			run = sub
		}
	}
	return run
}

// savedNetwork returns the network as it was when a checkpoint was written.
func (m *Machine) savedNetwork(ctx context.Context, f pcl.State) (*pcl.Network, error) {
	s, err := savedRun(f)
	if err != nil {
		return nil, err
	}
	s.Config.Init, s.Config.InitFile = "", "" // what the run began with does not count any more
	checked, err := s.Config.Check()
	if err != nil {
		return nil, err
	}
	p, err := m.newCourse(ctx, checked, pcl.Options{})
	if err != nil {
		return nil, err
	}
	defer p.learner.Close()
	if err := p.learner.Restore(pcl.State{JSON: s.Learner, Arrays: f.Arrays}, p.task); err != nil {
		return nil, err
	}
	return p.learner.Network()
}
