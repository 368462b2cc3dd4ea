package pcl

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

func smallResNet(t testing.TB, outputs int) model.Model {
	t.Helper()
	net, err := model.NewResNet18(model.ResNetConfig{Height: 8, Width: 8, Channels: 1, Base: 2, Outputs: outputs})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// trainedLearner has learnt two tasks of three classes each; the second still runs.
func trainedLearner(t *testing.T, b *backend.Backend, name string, o Options) (*Learner, *datasets.Dataset) {
	t.Helper()
	d := pcltest.Blobs(6, 40, 10)
	l := smallLearner(t, b, name, o)
	attach(t, l, blobTask(t, d, 1, 4, 0, 2))
	playOut(t, l)
	attach(t, l, blobTask(t, d, 2, 3, 1, 5))
	for range 3 {
		must[*StepReport](t)(l.Step())
	}
	return l, d
}

// TestTrainedRoundTrip: what is saved of a learner comes back with every bit, into another learner, which has the same
// tasks and predicts the same, and into a predictor, which predicts what a snapshot does.
func TestTrainedRoundTrip(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, c := range []struct {
		method    string
		increment scenario.Increment
		model     model.Model
	}{
		{"emgd-gmc", scenario.TaskIncremental, nil}, {"emgd-gmc", scenario.ClassIncremental, smallResNet(t, 6)},
		{"emgd", scenario.ClassIncremental, nil}, {"icarl", scenario.TaskIncremental, nil},
		{"mdmtr", scenario.ClassIncremental, nil}, {"gdumb", scenario.ClassIncremental, nil},
	} {
		t.Run(c.method+"-"+string(c.increment), func(t *testing.T) {
			l, d := trainedLearner(t, b, c.method, Options{Increment: c.increment, Model: c.model})
			saved := must[*Trained](t)(l.Trained())
			saved.Names = map[int]string{3: "three", 4: "Vier"}
			path := filepath.Join(t.TempDir(), "net.safetensors")
			if err := saved.Save(path); err != nil {
				t.Fatal(err)
			}
			loaded := must[*Trained](t)(LoadTrained(path))
			for i := range saved.Tasks {
				saved.Tasks[i].Ended, saved.Tasks[i].Paused, saved.Tasks[i].Taken = true, false, 0
				saved.Tasks[i].ClassNames = saved.namesOf(saved.Tasks[i].Classes)
			}
			if diff := cmp.Diff(saved, loaded); diff != "" {
				t.Error(diff)
			}

			snapshot, p := must[*Predictor](t)(l.Snapshot()), must[*Predictor](t)(LoadPredictor(b, path))
			defer snapshot.Close()
			defer p.Close()
			again := must[*Trained](t)(snapshot.Trained())
			again.Names = saved.Names
			for i := range again.Tasks {
				again.Tasks[i].Ended, again.Tasks[i].ClassNames, again.Tasks[i].Taken = true, saved.Tasks[i].ClassNames, 0
			}
			if diff := cmp.Diff(saved, again); diff != "" {
				t.Errorf("of a snapshot: %s", diff)
			}
			x, _ := flat(d.Select(&d.Test, 0, 4, 0, 2), 64)
			want := must[[]Prediction](t)(snapshot.PredictTask(1, x))
			got := must[[]Prediction](t)(p.PredictTask(1, x))
			for i := range want {
				for k := range want[i].Probabilities {
					if got[i].Class != want[i].Class || math.Abs(got[i].Probabilities[k]-want[i].Probabilities[k]) > 1e-6 {
						t.Fatalf("sample %d is predicted as %+v, want %+v", i, got[i], want[i])
					}
				}
			}

			if c.method == "gdumb" {
				return // it predicts with another network than the one that it trains
			}
			other := smallLearner(t, b, c.method, Options{Increment: c.increment, Model: c.model, Seed: 99})
			if err := other.SetTrained(loaded, Take{}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(must[[]float32](t)(other.Parameters()), must[[]float32](t)(l.Parameters())) ||
				!slices.Equal(must[[]float32](t)(other.Statistics()), must[[]float32](t)(l.Statistics())) {
				t.Error("parameters or statistics have other bits")
			}
			if !slices.Equal(other.Classes(), l.Classes()) || len(other.Running()) != 0 {
				t.Errorf("it has classes %v, tasks %v run", other.Classes(), other.Running())
			}
			if err := other.Reattach(1, blobTask(t, d, 3, 4, 0, 2)); err != nil {
				t.Fatal(err)
			}
			must[*StepReport](t)(other.Step())
		})
	}
}

// TestSetTrainedOutputs: a network with fewer outputs fills its own, one with more makes the learner grow, if it may.
func TestSetTrainedOutputs(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l, d := trainedLearner(t, b, "emgd-gmc", Options{Increment: scenario.ClassIncremental})
	n := must[*Trained](t)(l.Trained())
	mlp := func(outputs int) model.Model {
		m, err := model.NewMLP(64, []int{16, 8}, outputs)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	check := func(l *Learner) {
		t.Helper()
		p, q := must[*Trained](t)(l.Trained()), n
		for i, want := range q.Tensors {
			got := p.Tensors[i]
			rows, wide := 1, got.Dims[len(got.Dims)-1]
			if len(got.Dims) == 2 {
				rows = got.Dims[0]
			}
			narrow := want.Dims[len(want.Dims)-1]
			for r := range rows {
				if !slices.Equal(got.Values[r*wide:r*wide+narrow], want.Values[r*narrow:(r+1)*narrow]) {
					t.Errorf("row %d of %s differs", r, want.Name)
				}
			}
		}
		if c := l.Classes(); !slices.Equal(c, n.classes()) {
			t.Errorf("classes %v", c)
		}
	}
	more := smallLearner(t, b, "emgd-gmc", Options{Increment: scenario.ClassIncremental, Model: mlp(9)})
	if err := more.SetTrained(n, Take{}); err != nil {
		t.Fatal(err)
	}
	check(more)
	attach(t, more, blobTask(t, d, 3, 0, 1))
	must[*StepReport](t)(more.Step())

	grown := smallLearner(t, b, "emgd-gmc", Options{Increment: scenario.ClassIncremental, Model: mlp(2), Grow: true})
	if err := grown.SetTrained(n, Take{}); err != nil {
		t.Fatal(err)
	}
	check(grown)
	if grown.Options().Model.Outputs() != 6 {
		t.Errorf("%d outputs", grown.Options().Model.Outputs())
	}

	few := smallLearner(t, b, "emgd-gmc", Options{Increment: scenario.ClassIncremental, Model: mlp(2)})
	before := must[[]float32](t)(few.Parameters())
	if err := few.SetTrained(n, Take{}); err == nil {
		t.Error(err)
	}
	if err := few.SetTrained(n, Take{Backbone: true}); err != nil {
		t.Fatal(err)
	}
	backbone, after := few.Options().Model.Layout().Backbone, must[[]float32](t)(few.Parameters())
	if !slices.Equal(after[backbone:], before[backbone:]) || !slices.Equal(after[:backbone], must[[]float32](t)(l.Parameters())[:backbone]) {
		t.Error("the backbone was not taken, or more than that")
	}
	if few.Arrived() != 0 {
		t.Error("tasks were taken with the backbone")
	}
}

func (t *Trained) classes() []int {
	var r roll
	for _, task := range t.Tasks {
		r.add(Task{Classes: task.Classes}, new(atomic.Int64))
	}
	return r.classes
}

// TestSetTrainedRefuses: an error says exactly what does not fit, and nothing changes.
func TestSetTrainedRefuses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l, d := trainedLearner(t, b, "emgd-gmc", Options{Increment: scenario.ClassIncremental, Model: smallResNet(t, 6)})
	theta := must[[]float32](t)(l.Parameters())
	for want, spoil := range map[string]func(n *Trained){
		"missing: stem/conv/weights": func(n *Trained) { n.Tensors = n.Tensors[1:] },
		"not in the model: a, b": func(n *Trained) {
			n.Tensors = append(n.Tensors, safetensors.Tensor{Name: "b"}, safetensors.Tensor{Name: "a"})
		},
		"of another shape: stem/norm/scale is [1], want [2]": func(n *Trained) { n.Tensors[1].Dims = []int{1} },
		"not finite: stem/norm/scale has NaN at entry 1":     func(n *Trained) { n.Tensors[1].Values[1] = float32(math.NaN()) },
		"and 96 more":                                   func(n *Trained) { n.Tensors = nil },
		"missing: layer4/1/norm2/variance":              func(n *Trained) { n.Tensors = n.Tensors[:len(n.Tensors)-1] },
		"network is task-incremental":                   func(n *Trained) { n.Increment = scenario.TaskIncremental },
		"tasks of the classes [[4 0 2]], the learner":   func(n *Trained) { n.Tasks = n.Tasks[:1] },
		"tasks of the classes [[4 0 2] [3 5 1]], the l": func(n *Trained) { n.Tasks[1].Classes = []int{3, 5, 1} },
	} {
		n := must[*Trained](t)(l.Trained())
		spoil(n)
		if err := l.SetTrained(n, Take{}); err == nil {
			t.Errorf("want %q: %v", want, err)
		}
	}
	if !slices.Equal(theta, must[[]float32](t)(l.Parameters())) {
		t.Error("parameters have changed")
	}
	must[*StepReport](t)(l.Step())
	x, _ := flat(d.Select(&d.Test, 0, 4), 64)
	for want, spoil := range map[string]func(n *Trained){
		"no tasks":           func(n *Trained) { n.Tasks = nil },
		"rule of its own":    func(n *Trained) { n.OtherRule = true },
		"missing: stem":      func(n *Trained) { n.Tensors = n.Tensors[1:] },
		"increment \"both\"": func(n *Trained) { n.Increment = "both" },
		"class 4 twice":      func(n *Trained) { n.Tasks[0].Classes = []int{4, 4} },
	} {
		n := must[*Trained](t)(l.Trained())
		spoil(n)
		if _, err := NewPredictor(b, l.Options().Model, n, 8); err == nil {
			t.Errorf("want %q: %v", want, err)
		}
	}
	p := must[*Predictor](t)(NewPredictor(b, l.Options().Model, must[*Trained](t)(l.Trained()), 8))
	p.Close()
	if _, err := p.Predict(x); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := p.Trained(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestLoadTrainedRefuses: a description that contradicts itself or the tensors is refused.
func TestLoadTrainedRefuses(t *testing.T) {
	good := `{"version":1,"model":"m","steps":3,"increment":"class","image":[1,2,1],"tasks":[{"id":1,"classes":[7,5]}],` +
		`"outputs":[{"class":7},{"class":5}],"rule":"logits"}`
	means := strings.Replace(good, `"rule":"logits"`, `"rule":"nearest-mean","means":{"classes":[5],"tasks":[[1]]}`, 1)
	two := []safetensors.Tensor{{Name: "a", Dims: []int{1}, Values: []float32{1}}, {Name: meansTensor, Dims: []int{1, 2}, Values: []float32{3, 4}}}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	load := func(text string, tensors ...safetensors.Tensor) (*Trained, error) {
		f := &safetensors.File{Tensors: tensors, Metadata: map[string]string{trainedKey: text}}
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		return LoadTrained(path)
	}
	if n, err := load(good, two[0]); err != nil || n.Model != "m" || len(n.Tensors) != 1 {
		t.Error(n, err)
	}
	if n, err := load(means, two...); err != nil || len(n.Tensors) != 1 || !slices.Equal(n.Means.Values[0], []float32{3, 4}) {
		t.Error(n, err)
	}
	replaced := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for want, text := range map[string]string{
		"not readable": "{", "version 2": replaced(`"version":1`, `"version":2`), "its image is [1 2]": replaced("[1,2,1]", "[1,2]"),
		`increment "x"`: replaced(`"class",`, `"x",`), `rule of prediction "x"`: replaced(`"logits"`, `"x"`),
		"does not fit whether": replaced(`"logits"`, `"nearest-mean"`), "has the number -1": replaced(`"id":1`, `"id":-1`),
		"class 7 twice": replaced("[7,5]", "[7,7]"), "its outputs are not those": replaced(`{"class":5}`, `{"class":6}`),
		"which is not a number": replaced(`"rule"`, `"names":{"x":"y"},"rule"`),
	} {
		if n, err := load(text); err == nil {
			t.Errorf("want %q: %v, %v", want, n, err)
		}
	}
	if _, err := load(means); err == nil {
		t.Error(err)
	}
	if _, err := load(strings.Replace(means, "[[1]]", "[]", 1), two...); err == nil {
		t.Error(err)
	}
	if _, err := LoadPredictor(pcltest.Backend(t, backend.Go), path); err == nil {
		t.Error("a predictor of a damaged file")
	}
}

// TestTrainedEarly: before the first task, and before there are means, a network can be saved, too.
func TestTrainedEarly(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := smallLearner(t, b, "emgd", Options{Increment: scenario.ClassIncremental})
	dir := t.TempDir()
	check := func(name string) *Trained {
		t.Helper()
		n := must[*Trained](t)(l.Trained())
		for _, err := range []error{n.Save(filepath.Join(dir, name)), n.SaveONNX(filepath.Join(dir, name+".onnx"), nil)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return must[*Trained](t)(LoadTrained(filepath.Join(dir, name)))
	}
	if n := check("none"); len(n.Tasks) != 0 || n.Means != nil || n.Increment != scenario.ClassIncremental {
		t.Errorf("without a task it has %d tasks and the means %v", len(n.Tasks), n.Means)
	}
	if _, err := LoadPredictor(b, filepath.Join(dir, "none")); err == nil {
		t.Error(err)
	}
	d := pcltest.Blobs(6, 40, 10)
	attach(t, l, blobTask(t, d, 1, 4, 0, 2))
	check("begun")
	p := must[*Predictor](t)(LoadPredictor(b, filepath.Join(dir, "begun")))
	defer p.Close()
	x, _ := flat(d.Select(&d.Test, 0, 4), 64)
	snapshot := must[*Predictor](t)(l.Snapshot())
	defer snapshot.Close()
	if diff := cmp.Diff(must[[]Prediction](t)(snapshot.Predict(x)), must[[]Prediction](t)(p.Predict(x)), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Error(diff) // the means were rounded
	}
	task := smallLearner(t, b, "emgd", Options{Increment: scenario.TaskIncremental})
	attach(t, task, blobTask(t, d, 1, 4, 0, 2))
	if must[*Trained](t)(task.Trained()).Means != nil {
		t.Error("means are never compared within a task, but the network has some")
	}
}

// TestMeansThatAreNotFinite: a network that has diverged can be saved and loaded, and predicts nothing.
func TestMeansThatAreNotFinite(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l, _ := trainedLearner(t, b, "emgd", Options{Increment: scenario.ClassIncremental})
	n := must[*Trained](t)(l.Trained())
	n.Means.Values[0][0] = float32(math.NaN())
	path := filepath.Join(t.TempDir(), "net.safetensors")
	if err := n.Save(path); err != nil {
		t.Fatal(err)
	}
	must[*Trained](t)(LoadTrained(path))
	if _, err := LoadPredictor(b, path); err == nil {
		t.Error(err)
	}
}

// TestMeansOfOneTask: means that are only for comparisons between tasks are not written as long as there are samples of
// one, since predictions are then made by logits.
func TestMeansOfOneTask(t *testing.T) {
	b, d, dir := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 40, 10), t.TempDir()
	l := smallLearner(t, b, "emgd", Options{Increment: scenario.ClassIncremental})
	for id := 1; id <= 2; id++ {
		attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
		must[*StepReport](t)(l.Step())
		n := must[*Trained](t)(l.Trained())
		path := filepath.Join(dir, "net")
		if err := n.Save(path); err != nil {
			t.Fatal(err)
		}
		means := must[*Trained](t)(LoadTrained(path)).Means != nil
		file, err := n.onnx(nil)
		if err != nil || means != (id == 2) || (file.Means != nil) != means {
			t.Errorf("with %d tasks there are means in the file: %t, in ONNX: %t (%v)", id, means, file.Means != nil, err)
		}
	}
}
