package experiment

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/results"
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
	_, err := LoadNetwork(t.Context(), p.dir(), datasets.Options{})
	expect.Refusal(t, "LoadNetwork", err, errNoWeights, "--weights")
	r := p.end(func(w *work) { weighted(w); w.Replace = true })
	if r.ModelSHA256 != plain.ModelSHA256 || p.files()[scenarioFile] != before[scenarioFile] {
		t.Error("leaving the network has changed the run")
	}
	n, sum := flatOf(t, p.dir())
	switch {
	case sum != r.ModelSHA256:
		t.Errorf("sum is %q; want %q", sum, r.ModelSHA256)
	case n.Steps != r.Steps:
		t.Errorf("n.Steps is %d; want %d", n.Steps, r.Steps)
	case n.Method != "avggrad":
		t.Errorf("n.Method is %q; want %q", n.Method, "avggrad")
	case len(n.Tasks) != 3:
		t.Errorf("len(n.Tasks) is %d; want 3", len(n.Tasks))
	}
	if class := n.Tasks[0].Classes[0]; n.Names[class] != p.w.Machine.set.Classes[class] {
		t.Errorf("class %d is called %q", class, n.Names[class])
	}
	above := filepath.Dir(p.dir())
	must.Do(t, os.MkdirAll(filepath.Join(above, "a"), 0o755))   // without a run
	write(t, filepath.Join(above, "b", results.ResultFile), "") // without weights
	_, err = LoadNetwork(t.Context(), above, datasets.Options{})
	expect.Refusal(t, "LoadNetwork of the folder above", err, errNoWeights, "such as "+p.dir())
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
		switch {
		case !slices.Equal(all, f.Arrays["theta"]):
			t.Errorf("%s: all is %v; want %v", name, all, f.Arrays["theta"])
		case n.Steps != 7:
			t.Errorf("%s: n.Steps is %d; want 7", name, n.Steps)
		case (n.Means != nil) != (name == "icarl"):
			t.Errorf("%s: (n.Means != nil) is %t; want %t", name, (n.Means != nil), (name == "icarl"))
		}
	}
	for path, want := range map[string]error{t.TempDir(): errNoWeights,
		filepath.Join(t.TempDir(), "none"): os.ErrNotExist} {
		t.Run(path, func(t *testing.T) {
			_, err := LoadNetwork(t.Context(), path, datasets.Options{})
			expect.Refusal(t, "LoadNetwork", err, want)
		})
	}
}
