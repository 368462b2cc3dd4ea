package pcl

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// TestGrow: a task that needs more outputs than there are gets them; parameters that were there
// keep their bits, predictions among the old classes are the same, training goes on, and so does a
// learner that is loaded.
func TestGrow(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 40, 10)
	for _, name := range []string{"avggrad", "icarl", "der-pp", "avggrad+lwf"} {
		t.Run(name, func(t *testing.T) {
			for _, increment := range []string{"task", "class"} {
				o := func() Options {
					net := must.Get(model.NewMLP(64, []int{16, 8}, 3))(t)
					return Options{Model: net, Increment: increment, Grow: true}
				}
				l := smallLearner(t, b, name, o())
				attach(t, l, blobTask(t, d, 1, 0, 1, 2))
				playOut(t, l)
				before := must.Get(l.Parameters())(t)
				old := must.Get(l.Snapshot())(t)
				x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2), 64)
				want := must.Get(old.PredictTask(1, x))(t)
				refused(t, second(l.Attach(blobTask(t, d, 2, 3, 3))), "it lists class 3 twice")
				pcltest.Equal(t, "outputs after a task was refused", l.Options().Model.Outputs(), 3)
				attach(t, l, blobTask(t, d, 2, 3, 4))
				after, outputs := must.Get(l.Parameters())(t), l.Options().Model.Outputs()
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
				grown := must.Get(l.Snapshot())(t)
				for i, p := range must.Get(grown.PredictTask(1, x))(t) {
					if p.Class != want[i].Class {
						t.Errorf("%s, %s: sample %d is predicted as %d, before as %d",
							name, increment, i, p.Class, want[i].Class)
					}
				}
				if again := must.Get(old.PredictTask(1, x))(t); !slices.Equal(again[0].Probabilities, want[0].Probabilities) {
					t.Error("an old snapshot has changed")
				}
				must.Get(l.Step())(t)
				path := filepath.Join(t.TempDir(), "learner.pcl")
				must.Do(t, l.Save(path))
				loaded := smallLearner(t, b, name, o())
				must.Do(t, loaded.Load(path, func(id int) (Task, error) {
					return blobTask(t, d, id, [][]int{{0, 1, 2}, {3, 4}}[id-1]...), nil
				}))
				for _, l := range []*Learner{l, loaded} {
					playOut(t, l)
					if acc := must.Get(l.Evaluate(2))(t); acc < 0.5 && increment == "task" {
						t.Errorf("%s, %s: accuracy %.2f of the new task", name, increment, acc)
					}
				}
				same(t, loaded, l)
			}
		})
	}
	for _, name := range []string{"avggrad+ewc", "avggrad+si", "moco"} {
		t.Run(name, func(t *testing.T) {
			refused(t, second(New(t.Context(), completed(t, b, name, Options{Increment: "class", Grow: true}))),
				"the outputs cannot grow")
		})
	}
}
