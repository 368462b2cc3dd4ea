package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// errNoWeights says that a folder has neither the network of a finished run nor a checkpoint of an unfinished one.
var errNoWeights = errors.New("no weights")

// LoadNetwork returns the network at a path: a run's folder, a safetensors file, or a checkpoint. Of a folder it is the one
// that the finished run left, or else that of the newest checkpoint. What a checkpoint has is opened on the run's data set.
func LoadNetwork(ctx context.Context, path string, o datasets.Options) (n *pcl.Trained, err error) {
	defer fail.Caught(&err)
	if fail.Or(os.Stat(path)).IsDir() {
		path = findWeights(path)
	}
	if filepath.Ext(path) == ".safetensors" {
		return pcl.LoadTrained(path)
	}
	f := fail.Or(pcl.LoadState(path))
	m := &Machine{DataDir: o.Dir, Open: func(ctx context.Context) (*backend.Backend, error) {
		return backend.Open(ctx, backend.Options{Name: backend.Go})
	}}
	defer m.Close()
	defer fail.At(path)
	return m.savedNetwork(ctx, f), nil
}

// findWeights returns the file in a run's folder from which the run's network can be had.
func findWeights(dir string) string {
	if exists(dir, weightsFile) {
		return filepath.Join(dir, weightsFile)
	}
	// a checkpoint beside a result was left by a process that was killed, and is of an earlier step
	fail.When(exists(dir, results.ResultFile), "%w in %s: a finished run keeps its network only if it is asked for; pcl run … --weights --replace (Where.Weights and Replace) makes it again, with the same network", errNoWeights, dir)
	saved := fail.Or(series{dir: dir}.list())
	fail.When(len(saved) == 0, "%w in %s: it is not a run's folder", errNoWeights, dir)
	return saved[len(saved)-1]
}

// savedNetwork returns the network as it was when a checkpoint was written.
func (m *Machine) savedNetwork(ctx context.Context, f pcl.State) *pcl.Trained {
	s := savedRun(f)
	s.Config.Init, s.Config.InitFile = "", "" // what the run began with does not count any more
	p := m.newCourse(ctx, fail.Or(s.Config.Check()), pcl.Options{})
	defer p.learner.Close()
	fail.If(p.learner.Restore(pcl.State{JSON: s.Learner, Arrays: f.Arrays}, p.task))
	return fail.Or(p.learner.Trained())
}
