package device

import (
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

// setOf is the set of programs for the first client of a backend.
func setOf(t *testing.T, b *backend.Backend, spec Spec) *Set {
	t.Helper()
	cache := &Cache{Clients: b.Clients()}
	t.Cleanup(cache.Close)
	return cache.Sets(spec)[0]
}

// onDevice is a copy of values in a buffer.
func onDevice(t *testing.T, set *Set, values []float32) compute.Buffer {
	t.Helper()
	return must.Get(program.ToDevice(set.Backend, values, len(values)))(t)
}

// manyRows is a set whose last parameters are private, and k gradients and weights.
func manyRows(t *testing.T, b *backend.Backend, k int) (*Set, []*Row, []float64) {
	t.Helper()
	m := must.Get(model.NewMLP(9, []int{7}, 3))(t)
	set := setOf(t, b, Spec{Model: m, Shared: m.Layout().Backbone, Batch: 2, Optimizer: optim.SGD{LR: 1}})
	r := rand.New(rand.NewPCG(uint64(k), 1))
	rows, w := make([]*Row, k), make([]float64, k)
	for i := range rows {
		flat := make([]float32, set.total())
		for p := range flat {
			flat[p] = float32(r.NormFloat64())
		}
		g := must.Get(set.Given(r.Float64(), flat))(t)
		t.Cleanup(g.Free)
		rows[i], w[i] = &g, r.NormFloat64()
	}
	return set, rows, w
}

// TestFold: an update of many rows is, to the bit, that of the program which takes all of them at
// once.
func TestFold(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, k := range []int{1, 13, 50} {
			set, gradients, w := manyRows(t, b, k)
			var rows []compute.Buffer
			for _, g := range gradients {
				rows = append(rows, g.Flat)
			}
			left, of, sum, err := set.fold(w, rows)
			must.Do(t, err)
			if len(of) > maxRows {
				t.Fatalf("%d rows: %d are left", k, len(of))
			}
			if got, want := updated(t, set, left, of), updated(t, set, single(w), rows); !slices.Equal(got, want) {
				t.Errorf("%d rows: %v, want %v", k, got[:4], want[:4])
			}
			program.Free(sum)
		}
	})
}

// updated returns θ after a step from 0, and ‖d‖².
func updated(t *testing.T, set *Set, w []float32, rows []compute.Buffer) []float32 {
	t.Helper()
	theta := onDevice(t, set, make([]float32, set.total()))
	out := must.Get(must.Get(set.update(len(rows)))(t).Call(&theta, w, set.Optimizer.Scalars(1), rows))(t)
	defer program.Free(out...)
	return append(slices.Clone(must.Get(program.Read[float32](out[0], set.total()))(t)),
		float32(must.Get(program.Read[float64](out[1], 1))(t)[0]))
}

// TestReadoutInParts: the readout of many rows is the same in parts, and on the host.
func TestReadoutInParts(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, k := range []int{3, 37} {
			for _, asked := range []Products{{}, {Norms: true}, {Gram: true}} {
				set, rows, _ := manyRows(t, b, k)
				var results [2][]float64
				for i, readout := range []readout{&readOnce{set: set}, &readInPlace{set: set}} {
					readout.begin(k, asked)
					for _, g := range rows {
						must.Do(t, readout.add(g))
					}
					m := must.Get(readout.finish())(t)
					for _, g := range rows {
						m = append(m, g.Value, g.Private)
					}
					results[i] = m
				}
				for i, x := range results[0] {
					if math.Abs(x-results[1][i]) > 1e-5*(1+math.Abs(x)) {
						t.Errorf("%d rows, products %+v: entry %d is %g, on the host %g", k, asked, i, x, results[1][i])
						break
					}
				}
			}
		}
	})
}
