package device

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// TestDescent: a step on the host changes the same bits as XLA's program, also where numbers are 0,
// nearly so, or infinite.
func TestDescent(t *testing.T) {
	b := pcltest.Backend(t, backend.XLACPU)
	r := rand.New(rand.NewPCG(1, 2))
	decaying := optim.Scheduled{Optimizer: optim.Adam{LR: .01, Beta1: .8, Epsilon: 1e-5, WeightDecay: .1}}
	for _, hidden := range []int{3, 128} {
		net := must.Get(model.NewMLP(784, []int{hidden, 9}, 62))(t)
		for _, shared := range []int{net.Layout().Total, net.Layout().Backbone} {
			for k, o := range map[int]optim.Optimizer{1: optim.Adam{LR: .003}, 2: decaying, 7: optim.Adam{LR: .1}} {
				set := setOf(t, b, Spec{Model: net, Shared: shared, Batch: 2, Optimizer: o})
				t.Run(fmt.Sprint(hidden, shared, k), func(t *testing.T) { sameStep(t, set, k, r, 1) })
				t.Run(fmt.Sprint(hidden, shared, k, "infinite"), func(t *testing.T) { sameStep(t, set, k, r, 1e30) })
			}
		}
	}
}

// sameStep makes steps along k rows of random numbers up to about scale.
func sameStep(t *testing.T, set *Set, k int, r *rand.Rand, scale float64) {
	n := set.total()
	var state, rows [][]float32
	for i := range 3 + k {
		x := make([]float32, n)
		for p := range x {
			y := scale * r.NormFloat64() * []float64{0, 1e-25, 1, 1, 1e-3}[r.IntN(5)]
			if i == 2 {
				y = min(math.Abs(y), 1) // squares
			}
			x[p] = float32(y)
		}
		if state = append(state, x); i > 2 {
			rows = append(rows, x)
		}
	}
	state = state[:3]
	w := make([]float64, k)
	for i := range w {
		w[i] = r.NormFloat64()
	}
	var on, gradients []compute.Buffer
	for _, x := range state {
		on = append(on, onDevice(t, set, x))
	}
	for _, x := range rows {
		gradients = append(gradients, onDevice(t, set, x))
	}
	for step := 1; step <= 2; step++ {
		scalars := set.Optimizer.Scalars(step)
		out := must.Get(must.Get(set.update(k))(t).Call(&on[0], &on[1], &on[2], single(w), scalars, gradients))(t)
		on = out[:3]
		want := slices.Clone(must.Get(program.Read[float64](out[3], 1))(t))[0]
		if got := must.Get(newAdam(set).step(state, w, gradients, scalars))(t); got != want ||
			math.IsInf(got, 0) != (scale > 1) {
			t.Errorf("‖d‖² = %v, want %v", got, want)
		}
		for i, x := range state {
			bits := func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }
			if !slices.EqualFunc(x, slices.Clone(must.Get(program.Read[float32](on[i], n))(t)), bits) {
				t.Errorf("step %d: other bits of %s", step, append([]string{"θ"}, set.Optimizer.State()...)[i])
			}
		}
	}
}
