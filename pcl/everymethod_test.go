package pcl

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// close32 compares parameters that rounding may tell apart.
func close32(t *testing.T, a, b []float32) {
	t.Helper()
	apart, size := 0.0, 0.0
	for p, x := range a {
		apart += math.Pow(float64(x-b[p]), 2)
		size += float64(x) * float64(x)
	}
	if !(math.Sqrt(apart) <= 1e-4*math.Sqrt(size)) {
		t.Errorf("parameters differ by %g of their length", math.Sqrt(apart/size))
	}
}

// TestOnDevices: several clients compute the bits of one, and a device of its own memory, where
// what the host decides on is read once, makes the steps of one that is read in place but for the
// rounding of the Gram matrix; also for methods that take more than one gradient of each row,
// choose what is replayed, or add to the losses.
func TestOnDevices(t *testing.T) {
	own, separate, clients := pcltest.Backend(t, backend.XLACPU), pcltest.Separate(t), pcltest.Clients(t, 2)
	for _, name := range []string{"moco", "mir", "emgd-gmc+er-ace+lwf+der-pp"} {
		t.Run(name, func(t *testing.T) {
			end := func(on *backend.Backend) []float32 {
				l := trained(t, on, newMethod(t, name, nil), Options{Increment: "class"})
				defer l.Close()
				steps(t, l, 3)
				return must.Get(l.Parameters())(t)
			}
			want := end(own)
			close32(t, want, end(separate))
			if !slices.Equal(end(clients), want) {
				t.Error("two clients end with other parameters than one")
			}
		})
	}
}

// TestStatisticsOnClients: running statistics, evaluation, predictions and a checkpoint are those
// of one client, to the bit.
func TestStatisticsOnClients(t *testing.T) {
	var ends [2][]float32
	var accuracy [2]float64
	var predicted [2][][]float32
	for i, b := range []*backend.Backend{pcltest.Backend(t, backend.XLACPU), pcltest.Clients(t, 2)} {
		d := pcltest.Blobs(6, 20, 15)
		l := smallLearner(t, b, "emgd-gmc", Options{Model: normalised(t)})
		for id := 1; id <= 3; id++ {
			attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
			must.Get(l.Step())(t)
		}
		state := must.Get(l.State())(t)
		for _, name := range []string{"theta", "m", "v", "statistics", "memory"} {
			ends[i] = append(ends[i], state.Arrays[name]...)
		}
		accuracy[i] = must.Get(l.Evaluate(2))(t)
		x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2, 3), 64)
		p := must.Get(l.Snapshot())(t)
		defer p.Close()
		predicted[i] = must.Get(p.Outputs(1, x))(t)
	}
	if !slices.Equal(ends[0], ends[1]) {
		t.Error("two clients end with another state than one")
	}
	pcltest.Equal(t, "accuracy on two clients", accuracy[1], accuracy[0])
	if !slices.EqualFunc(predicted[0], predicted[1], slices.Equal) {
		t.Error("two clients predict otherwise than one")
	}
}
