package pcl

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// trainedLearner has learnt two tasks of three classes each; the second still runs.
func trainedLearner(t *testing.T, b *backend.Backend, name string, o Options) (*Learner, *datasets.Dataset) {
	t.Helper()
	d := pcltest.Blobs(6, 40, 10)
	l := smallLearner(t, b, name, o)
	attach(t, l, blobTask(t, d, 1, 4, 0, 2))
	playOut(t, l)
	attach(t, l, blobTask(t, d, 2, 3, 1, 5))
	steps(t, l, 3)
	return l, d
}

// TestTrainedRoundTrip: a saved network comes back with every bit, into another learner, which has
// the same tasks and predicts the same, and into a predictor, which predicts what a snapshot does.
func TestTrainedRoundTrip(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, c := range []struct {
		method    string
		increment string
		model     model.Model
	}{
		{"emgd-gmc", "task", nil}, {"emgd-gmc", "class", tinyResNet(t)},
		{"emgd", "class", nil}, {"icarl", "task", nil},
		{"mdmtr", "class", nil}, {"gdumb", "class", nil},
	} {
		t.Run(c.method+"-"+c.increment, func(t *testing.T) {
			l, d := trainedLearner(t, b, c.method, Options{Increment: c.increment, Model: c.model})
			saved := must.Get(l.Network())(t)
			saved.Names = map[int]string{3: "three", 4: "Vier"}
			path := filepath.Join(t.TempDir(), "net.safetensors")
			must.Do(t, saved.Save(path))
			loaded := must.Get(LoadNetwork(path))(t)
			for i := range saved.Tasks {
				saved.Tasks[i].Ended, saved.Tasks[i].Paused, saved.Tasks[i].Samples = true, false, 0
				saved.Tasks[i].ClassNames = saved.namesOf(saved.Tasks[i].Classes)
			}
			if diff := cmp.Diff(saved, loaded); diff != "" {
				t.Error(diff)
			}

			snapshot, p := must.Get(l.Snapshot())(t), must.Get(LoadPredictor(b, path))(t)
			defer snapshot.Close()
			defer p.Close()
			x, _ := flat(d.Select(&d.Test, 0, 4, 0, 2), 64)
			want := must.Get(snapshot.PredictTask(1, x))(t)
			got := must.Get(p.PredictTask(1, x))(t)
			for i := range want {
				for k := range want[i].Probabilities {
					switch {
					case got[i].Class != want[i].Class:
						t.Fatalf("got[i].Class is %d; want %d", got[i].Class, want[i].Class)
					case math.Abs(got[i].Probabilities[k]-want[i].Probabilities[k]) > 1e-6:
						t.Fatalf("sample %d is predicted as %+v, want %+v", i, got[i], want[i])
					}
				}
			}

			if c.method == "gdumb" {
				return // it predicts with another network than the one that it trains
			}
			other := smallLearner(t, b, c.method, Options{Increment: c.increment, Model: c.model, Seed: 99})
			must.Do(t, other.SetNetwork(loaded))
			if !slices.Equal(must.Get(other.Parameters())(t), must.Get(l.Parameters())(t)) ||
				!slices.Equal(must.Get(other.Statistics())(t), must.Get(l.Statistics())(t)) {
				t.Error("parameters or statistics have other bits")
			}
			if !slices.Equal(other.Classes(), l.Classes()) || len(other.Running()) != 0 {
				t.Errorf("it has classes %v, tasks %v run", other.Classes(), other.Running())
			}
			must.Do(t, other.Reattach(1, blobTask(t, d, 3, 4, 0, 2)))
			must.Get(other.Step())(t)
		})
	}
}

// TestSetNetworkBackbone: a learner with other outputs refuses the network, but takes its backbone.
func TestSetNetworkBackbone(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	old, _ := trainedLearner(t, b, "emgd-gmc", Options{Increment: "class"})
	n := must.Get(old.Network())(t)
	few := smallLearner(t, b, "emgd-gmc",
		Options{Increment: "class", Model: must.Get(model.NewMLP(64, []int{16, 8}, 2))(t)})
	before := must.Get(few.Parameters())(t)
	refused(t, few.SetNetwork(n), "has the shape [8 6]; the model wants [8 2]")
	must.Do(t, few.SetBackbone(n))
	backbone, after := few.Options().Model.Layout().Backbone, must.Get(few.Parameters())(t)
	if !slices.Equal(after[backbone:], before[backbone:]) ||
		!slices.Equal(after[:backbone], must.Get(old.Parameters())(t)[:backbone]) {
		t.Error("the backbone was not taken, or more than that")
	}
	if few.LastID() != 0 {
		t.Error("tasks were taken with the backbone")
	}
}

// TestSetNetworkRefuses: what does not fit a learner, or no predictor, is an error, and nothing
// changes.
func TestSetNetworkRefuses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l, _ := trainedLearner(t, b, "emgd-gmc", Options{Increment: "class", Model: normalised(t)})
	theta := must.Get(l.Parameters())(t)
	for what, c := range map[string]struct {
		spoil func(n *Network)
		want  string
	}{
		"the first is missing": {func(n *Network) { n.Tensors = n.Tensors[1:] }, "of the model is missing"},
		"the last is missing": {func(n *Network) {
			n.Tensors = n.Tensors[:len(n.Tensors)-1]
		}, "of the model is missing"},
		"too many tensors": {func(n *Network) {
			n.Tensors = append(n.Tensors, safetensors.Tensor{Name: "b"})
		}, `the model has no tensors ["b"]`},
		"another shape": {func(n *Network) { n.Tensors[1].Dims = []int{1} }, "has the shape [1]"},
		"not finite": {func(n *Network) {
			n.Tensors[1].Values[1] = float32(math.NaN())
		}, "has a value that is not finite"},
		"another mode": {func(n *Network) { n.Increment = "task" }, "the network is task-incremental"},
		"fewer tasks": {func(n *Network) {
			n.Tasks = n.Tasks[:1]
		}, "the network has tasks of the classes [[4 0 2]]"},
		"another order": {func(n *Network) {
			n.Tasks[1].Classes = []int{3, 5, 1}
		}, "the network has tasks of the classes"},
		"predictor: no tasks":      {func(n *Network) { n.Tasks = nil }, "the network has no tasks"},
		"predictor: another rule":  {func(n *Network) { n.OtherScorer = true }, "predicts by a rule of its own"},
		"predictor: a class twice": {func(n *Network) { n.Tasks[0].Classes = []int{4, 4} }, "it lists class 4 twice"},
	} {
		t.Run(what, func(t *testing.T) {
			n := must.Get(l.Network())(t)
			c.spoil(n)
			_, err := NewPredictor(b, l.Options().Model, n, 8)
			if !strings.HasPrefix(what, "predictor") {
				err = l.SetNetwork(n)
			}
			refused(t, err, c.want)
		})
	}
	if !slices.Equal(theta, must.Get(l.Parameters())(t)) {
		t.Error("parameters have changed")
	}
	steps(t, l, 1)
}

// TestLoadTrainedRefuses: a description that contradicts itself or the tensors is refused.
func TestLoadTrainedRefuses(t *testing.T) {
	good := `{"version":1,"model":"m","steps":3,"increment":"class","image":[1,2,1],"tasks":[{"id":1,"classes":[7,5]}],` +
		`"outputs":[{"class":7},{"class":5}],"rule":"logits"}`
	means := strings.Replace(good, `"rule":"logits"`, `"rule":"nearest-mean","means":{"classes":[5],"tasks":[[1]]}`, 1)
	two := []safetensors.Tensor{{Name: "a", Dims: []int{1}, Values: []float32{1}},
		{Name: meansTensor, Dims: []int{1, 2}, Values: []float32{3, 4}}}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	load := func(text string, tensors ...safetensors.Tensor) (*Network, error) {
		must.Do(t, atomicfile.Write(path,
			(&safetensors.File{Tensors: tensors, Metadata: map[string]string{trainedKey: text}}).Write))
		return LoadNetwork(path)
	}
	if n := must.Get(load(good, two[0]))(t); n.Model != "m" || len(n.Tensors) != 1 {
		t.Error(n)
	}
	if n := must.Get(load(means, two...))(t); len(n.Tensors) != 1 || !slices.Equal(n.Means.Values[0], []float32{3, 4}) {
		t.Error(n)
	}
	for _, c := range []struct{ old, new, want string }{
		{good, "{", "its description is not readable"},
		{`"version":1`, `"version":2`, "its description has version 2"},
		{"[1,2,1]", "[1,2]", "want height, width and channels"},
		{`"class",`, `"x",`, `increment "x" of a network with tasks`},
		{`"logits"`, `"x"`, `its rule of prediction "x" is not known`},
		{`"logits"`, `"nearest-mean"`, "does not fit whether there are means"},
		{`"id":1`, `"id":-1`, "want numbers that count up from 1"},
		{"[7,5]", "[7,7]", "it lists class 7 twice"},
		{`{"class":5}`, `{"class":6}`, "its outputs are not those that its tasks have"},
		{`"rule"`, `"names":{"x":"y"},"rule"`, "its description is not readable"},
	} {
		t.Run(c.new, func(t *testing.T) {
			refused(t, second(load(strings.Replace(good, c.old, c.new, 1), two[0])), c.want)
		})
	}
	refused(t, second(load(means)), "values of 0; want as many of each")
	refused(t, second(load(strings.Replace(means, "[[1]]", "[]", 1), two...)), "tasks of 0 and values of 1")
	twice := strings.Replace(means, `"classes":[5],"tasks":[[1]]`, `"classes":[5,5],"tasks":[[1],[1]]`, 1)
	refused(t,
		second(load(twice, two[0], safetensors.Tensor{Name: meansTensor, Dims: []int{2, 1}, Values: []float32{3, 4}})),
		"want each class once")
	refused(t, second(LoadPredictor(pcltest.Backend(t, backend.Go), path)), "want each class once")
}

// TestTrainedEarly: before the first task, and before there are means, a network can be saved, too.
func TestTrainedEarly(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := smallLearner(t, b, "emgd", Options{Increment: "class"})
	dir := t.TempDir()
	check := func(name string) *Network {
		t.Helper()
		n := must.Get(l.Network())(t)
		for _, err := range []error{n.Save(filepath.Join(dir, name)), n.SaveONNX(filepath.Join(dir, name+".onnx"), nil)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return must.Get(LoadNetwork(filepath.Join(dir, name)))(t)
	}
	n := check("none")
	pcltest.Equal(t, "tasks before the first", len(n.Tasks), 0)
	pcltest.Equal(t, "there are means before the first task", n.Means != nil, false)
	pcltest.Equal(t, "increment", n.Increment, "class")
	refused(t, second(LoadPredictor(b, filepath.Join(dir, "none"))), "the network has no tasks")
	d := pcltest.Blobs(6, 40, 10)
	attach(t, l, blobTask(t, d, 1, 4, 0, 2))
	check("begun")
	p := must.Get(LoadPredictor(b, filepath.Join(dir, "begun")))(t)
	defer p.Close()
	x, _ := flat(d.Select(&d.Test, 0, 4), 64)
	snapshot := must.Get(l.Snapshot())(t)
	defer snapshot.Close()
	if diff := cmp.Diff(must.Get(snapshot.Predict(x))(t), must.Get(p.Predict(x))(t),
		cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Error(diff) // the means were rounded
	}
	task := smallLearner(t, b, "emgd", Options{Increment: "task"})
	attach(t, task, blobTask(t, d, 1, 4, 0, 2))
	if must.Get(task.Network())(t).Means != nil {
		t.Error("means are never compared within a task, but the network has some")
	}
}

// TestMeansThatAreNotFinite: a network that has diverged can be saved and loaded, and predicts
// nothing.
func TestMeansThatAreNotFinite(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l, _ := trainedLearner(t, b, "emgd", Options{Increment: "class"})
	n := must.Get(l.Network())(t)
	n.Means.Values[0][0] = float32(math.NaN())
	path := filepath.Join(t.TempDir(), "net.safetensors")
	must.Do(t, n.Save(path))
	must.Get(LoadNetwork(path))(t)
	refused(t, second(LoadPredictor(b, path)), "or one that is not finite")
}
