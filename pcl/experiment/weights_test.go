package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

func weighted(w *work) { w.Weights = true }

// flatOf joins the tensors of a file that a run has left.
func flatOf(t *testing.T, path string) (*pcl.Network, string) {
	t.Helper()
	n := must.Get(LoadNetwork(t.Context(), path, datasets.Options{}))(t)
	var all []float32
	for _, x := range n.Tensors {
		all = append(all, x.Values...)
	}
	return n, sum(all)
}

// TestWeights: a run leaves its network if it is asked to, with the bits of its result, and no
// other file changes.
func TestWeights(t *testing.T) {
	p := newPlayed(t)
	plain := p.end(nil)
	before := p.files()
	write(t, filepath.Join(p.dir(), "checkpoint-000000005.pcl"), "") // that a kill left has not the run's network
	if _, err := LoadNetwork(t.Context(), p.dir(), datasets.Options{}); !errors.Is(err, errNoWeights) ||
		!strings.Contains(err.Error(), "--weights") {
		t.Error(err)
	}
	r := p.end(func(w *work) { weighted(w); w.Replace = true })
	if r.ModelSHA256 != plain.ModelSHA256 || p.files()[scenarioFile] != before[scenarioFile] {
		t.Error("leaving the network has changed the run")
	}
	n, sum := flatOf(t, p.dir())
	if sum != r.ModelSHA256 || n.Steps != r.Steps || n.Method != "avggrad" || len(n.Tasks) != 3 {
		t.Errorf("the network has the sum %s, the result %s; %d steps of %s, %d tasks", sum, r.ModelSHA256, n.Steps, n.Method,
			len(n.Tasks))
	}
	if class := n.Tasks[0].Classes[0]; n.Names[class] != p.w.Machine.set.Classes[class] {
		t.Errorf("class %d is called %q", class, n.Names[class])
	}
	p.end(weighted) // finished
	if p.steps != 0 {
		t.Error("made again though it has its network")
	}
}

// TestSavedNetwork: the network of an unfinished run comes from its checkpoint.
func TestSavedNetwork(t *testing.T) {
	p := newPlayed(t)
	for _, name := range []string{"avggrad", "icarl"} {
		p.c.Method = name
		p.stop(7, weighted)
		f := must.Get(pcl.LoadState(must.Get(findWeights(p.dir()))(t)))(t)
		n := must.Get(p.w.Machine.savedNetwork(t.Context(), f))(t)
		var all []float32
		for _, x := range n.Tensors {
			all = append(all, x.Values...)
		}
		if !slices.Equal(all, f.Arrays["theta"]) || n.Steps != 7 || (n.Means != nil) != (name == "icarl") {
			t.Errorf("%s: not the network of the checkpoint, after %d steps", name, n.Steps)
		}
	}
	for path, want := range map[string]error{t.TempDir(): errNoWeights,
		filepath.Join(t.TempDir(), "none"): os.ErrNotExist} {
		if _, err := LoadNetwork(t.Context(), path, datasets.Options{}); !errors.Is(err, want) {
			t.Error(err)
		}
	}
}
