package pcl

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestGrow: a task that needs more outputs than there are gets them; what was there keeps its bits, predictions among
// the old classes are the same, training goes on, and so does a learner that is loaded.
func TestGrow(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 40, 10)
	for _, name := range []string{"avggrad", "icarl", "der-pp", "avggrad+lwf"} {
		for _, increment := range []scenario.Increment{scenario.TaskIncremental, scenario.ClassIncremental} {
			o := func() Options {
				net, err := model.NewMLP(64, []int{16, 8}, 3)
				if err != nil {
					t.Fatal(err)
				}
				return Options{Model: net, Increment: increment, Grow: true}
			}
			l := smallLearner(t, b, name, o())
			attach(t, l, blobTask(t, d, 1, 0, 1, 2))
			playOut(t, l)
			before := must[[]float32](t)(l.Parameters())
			old := must[*Predictor](t)(l.Snapshot())
			x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2), 64)
			want := must[[]Prediction](t)(old.PredictTask(1, x))
			if _, err := l.Attach(blobTask(t, d, 2, 3, 3)); err == nil || l.Options().Model.Outputs() != 3 {
				t.Errorf("a task with a class twice: %v; there are %d outputs, want 3 as before", err, l.Options().Model.Outputs())
			}
			attach(t, l, blobTask(t, d, 2, 3, 4))
			after, outputs := must[[]float32](t)(l.Parameters()), l.Options().Model.Outputs()
			if outputs != 6 {
				t.Fatalf("%d outputs, want 6", outputs)
			}
			weights := len(before) - 3 - 8*3
			if !slices.Equal(after[:weights], before[:weights]) {
				t.Error("the backbone has changed")
			}
			for row := range 9 { // eight features, and the bias
				if !slices.Equal(after[weights+row*6:weights+row*6+3], before[weights+row*3:weights+row*3+3]) {
					t.Errorf("row %d of the classifier has changed", row)
				}
			}
			grown := must[*Predictor](t)(l.Snapshot())
			for i, p := range must[[]Prediction](t)(grown.PredictTask(1, x)) {
				if p.Class != want[i].Class {
					t.Errorf("%s, %s: sample %d is predicted as %d, before as %d", name, increment, i, p.Class, want[i].Class)
				}
			}
			if again := must[[]Prediction](t)(old.PredictTask(1, x)); !slices.Equal(again[0].Probabilities, want[0].Probabilities) {
				t.Error("an old snapshot has changed")
			}
			must[*StepReport](t)(l.Step())
			path := filepath.Join(t.TempDir(), "learner.pcl")
			if err := l.Save(path); err != nil {
				t.Fatal(err)
			}
			loaded := smallLearner(t, b, name, o())
			if err := loaded.Load(path, func(id int) (Task, error) { return blobTask(t, d, id, [][]int{{0, 1, 2}, {3, 4}}[id-1]...), nil }); err != nil {
				t.Fatal(err)
			}
			for _, l := range []*Learner{l, loaded} {
				if failures := playOut(t, l); failures != nil {
					t.Fatal(failures)
				}
				if acc := must[float64](t)(l.Evaluate(2)); acc < 0.5 && increment == scenario.TaskIncremental {
					t.Errorf("%s, %s: accuracy %.2f of the new task", name, increment, acc)
				}
			}
			same(t, loaded, l)
		}
	}
	for _, name := range []string{"avggrad+ewc", "avggrad+si", "moco"} {
		if _, err := NewLearner(completed(t, b, name, Options{Increment: scenario.ClassIncremental, Grow: true})); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// watched is a model that says when it is compiled.
type watched struct {
	model.Model
	compiled func()
}

func (w watched) Key() string { return "watched " + w.Model.Key() } // whose programs no other test has compiled

func (w watched) Forward(p model.Pass) model.Output {
	w.compiled()
	return w.Model.Forward(p)
}

func (w watched) WithOutputs(n int) (model.Model, error) {
	m, err := w.Model.(model.Resizer).WithOutputs(n)
	return watched{m, w.compiled}, err
}

// TestOptionsWhileGrowing: other goroutines may ask for the options while the classifier grows, and are told the old model
// until the new one has taken its place.
func TestOptionsWhileGrowing(t *testing.T) {
	net, err := model.NewMLP(64, []int{8}, 2)
	if err != nil {
		t.Fatal(err)
	}
	d, met := pcltest.Blobs(4, 8, 1), []int{}
	var l *Learner
	compiled := func() {
		if l != nil {
			met = append(met, l.Options().Model.Outputs())
		}
	}
	l = smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{Model: watched{net, compiled}, Grow: true})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	attach(t, l, blobTask(t, d, 2, 2, 3))
	if len(met) == 0 || slices.Max(met) != 2 || l.Options().Model.Outputs() != 4 {
		t.Errorf("while the classifier grew from 2 to 4 outputs it had %v, and then %d", met, l.Options().Model.Outputs())
	}
}
