package pcl

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// Under plain descent in class-incremental mode, where all parameters are in J, a small step
// changes each loss by −γ Jᵢ·d = −γ Σⱼ Mᵢⱼwⱼ: this ties the losses after a step, Jᵢ·Δθ, the Gram
// matrix and the weights together. To watch a run changes no bit of it.
func TestObserve(t *testing.T) {
	const rate = 1e-3
	b := pcltest.Backend(t, backend.Go)
	for _, name := range []string{"avggrad+der-pp", "emgd-gmc+per-task", "avggrad+ewc"} {
		t.Run(name, func(t *testing.T) {
			o := Options{Increment: "class", Optimizer: optim.SGD{LR: rate}}
			plain := atTheEnd(t, b, name, nil, o)
			o.Observe, o.Method = true, newMethod(t, name, nil)
			l, rows := smallLearner(t, b, "", o), 0
			timeline(t, l, func(r *StepReport) {
				k := len(r.IDs)
				switch {
				case len(r.Gram) != k*k:
					t.Fatalf("len(r.Gram) is %d; want %d", len(r.Gram), k*k)
				case len(r.LossesAfter) != k:
					t.Fatalf("len(r.LossesAfter) is %d; want %d", len(r.LossesAfter), k)
				case len(r.Rises) != k:
					t.Fatalf("len(r.Rises) is %d; want %d", len(r.Rises), k)
				}
				rows = max(rows, k)
				for i := range k {
					predicted := 0.0
					for j, w := range r.Weights {
						predicted -= rate * w * r.Gram[i*k+j]
					}
					if got := r.Rises[i]; math.Abs(got-predicted) > 1e-3*math.Abs(predicted)+1e-9 {
						t.Errorf("step %d, row %d: Jᵢ·Δθ is %g, want %g", r.Step, r.IDs[i], got, predicted)
					}
					if got := r.LossesAfter[i] - r.Losses[i]; math.Abs(got-predicted) > 0.05*math.Abs(predicted)+2e-5*max(1,
						r.Losses[i]) {
						t.Errorf("step %d, row %d: the loss changed by %g, to first order by %g", r.Step, r.IDs[i], got, predicted)
					}
				}
			})
			if rows < 3 {
				t.Errorf("no step had more than %d rows", rows)
			}
			if end := must.Get(l.Parameters())(t); !slices.Equal(end, plain) {
				t.Error("the run that was watched ends elsewhere")
			}
		})
	}
}
