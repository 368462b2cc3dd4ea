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
		o := Options{Increment: "class", Optimizer: optim.SGD{LR: rate}}
		plain := atTheEnd(t, b, name, nil, o)
		o.Observe, o.Method = true, newMethod(t, name, nil)
		l, rows := smallLearner(t, b, "", o), 0
		timeline(t, l, func(r *StepReport) {
			k := len(r.IDs)
			if len(r.Gram) != k*k || len(r.LossesAfter) != k || len(r.Rises) != k {
				t.Fatalf("%s: step %d has %d rows, %d Gram entries and %d losses after it",
					name, r.Step, k, len(r.Gram), len(r.LossesAfter))
			}
			rows = max(rows, k)
			for i := range k {
				predicted := 0.0
				for j, w := range r.Weights {
					predicted -= rate * w * r.Gram[i*k+j]
				}
				if got := r.Rises[i]; math.Abs(got-predicted) > 1e-3*math.Abs(predicted)+1e-9 {
					t.Errorf("%s: step %d, row %d: Jᵢ·Δθ is %g, want %g", name, r.Step, r.IDs[i], got, predicted)
				}
				if got := r.LossesAfter[i] - r.Losses[i]; math.Abs(got-predicted) > 0.05*math.Abs(predicted)+2e-5*max(1,
					r.Losses[i]) {
					t.Errorf("%s: step %d, row %d: the loss changed by %g, to first order by %g",
						name, r.Step, r.IDs[i], got, predicted)
				}
			}
		})
		if rows < 3 {
			t.Errorf("%s: no step had more than %d rows", name, rows)
		}
		if end := must.Get(l.Parameters())(t); !slices.Equal(end, plain) {
			t.Errorf("%s: the run that was watched ends elsewhere", name)
		}
	}
}
