package pcl

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestRanPACTrained: probabilities are the product of those of the trained network and of the
// sums, which have all samples but those held out; accuracy is what predictions say; and a learner
// that was saved and loaded goes on to the same bits.
func TestRanPACTrained(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 40, 10)
	for _, increment := range []string{"task", "class"} {
		t.Run(increment, func(t *testing.T) {
			learner := func() *Learner {
				return smallLearner(t, b, "", Options{
					Model: must.Get(NewMLP(64, nil, 6))(t), Increment: increment,
					Method: newMethod(t, "ranpac-trained", map[string]any{"m": 60.0, "held-out": 4.0}),
				})
			}
			l := learner()
			for id := 1; id <= 3; id++ {
				attach(t, l, must.Get(pairs(t, d)(id))(t))
			}
			steps(t, l, 4)
			path := filepath.Join(t.TempDir(), "state")
			must.Do(t, l.Save(path))
			again := learner()
			must.Do(t, again.Load(path, pairs(t, d)))
			playOut(t, l)
			playOut(t, again)

			rule := must.Get(l.Snapshot())(t).rule
			right, n := 0, 0
			for id := 1; id <= 3; id++ {
				classes := []int{2*id - 2, 2*id - 1}
				x, own := flat(d.Select(&d.Test, 0, classes...), 64)
				p, q := must.Get(l.Snapshot())(t), must.Get(again.Snapshot())(t)
				got, resumed := must.Get(p.PredictTask(id, x))(t), must.Get(q.PredictTask(id, x))(t)
				logits := must.Get(p.Outputs(id, x))(t)
				for i := range got {
					if !slices.Equal(got[i].Probabilities, resumed[i].Probabilities) {
						t.Fatalf("sample %d of task %d: other bits after a restart", i, id)
					}
					want := make([]float64, 2)
					if !rule.Score(x[i*64:(i+1)*64], classes, want) {
						t.Fatal("the rule does not apply")
					}
					for k, z := range logits[i] {
						want[k] += float64(z)
					}
					normalise(want, slices.Max(want))
					for k, w := range want {
						if math.Abs(got[i].Probabilities[k]-w) > 1e-9 {
							t.Fatalf("sample %d of task %d: %v, want %v", i, id, got[i].Probabilities, want)
						}
					}
					if n++; got[i].Class == own[i] {
						right++
					}
				}
			}
			if share := float64(right) / float64(n); share < 0.9 {
				t.Errorf("%.2f are right", share)
			}
			if increment == "task" {
				sum := 0.0
				for id := 1; id <= 3; id++ {
					sum += must.Get(l.Evaluate(id))(t) / 3
				}
				if math.Abs(sum-float64(right)/float64(n)) > 1e-9 {
					t.Errorf("accuracy %v; %d of %d are predicted", sum, right, n)
				}
			}
		})
	}
}
