package pcl

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// everyMethod makes a few steps with each of the named methods on two backends and compares the parameters afterwards.
func everyMethod(t *testing.T, names []string, backends [2]*backend.Backend, compare func(t *testing.T, a, b []float32)) {
	var programs [2]*Programs
	for i, b := range backends {
		programs[i] = NewPrograms(b)
		defer programs[i].Close()
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			var ends [2][]float32
			for i, on := range backends {
				l := trained(t, on, newMethod(t, name, nil), Options{Increment: scenario.ClassIncremental, Programs: programs[i]})
				defer l.Close()
				for range 3 {
					if _, err := l.Step(); err != nil {
						t.Fatal(err)
					}
				}
				var err error
				if ends[i], err = l.Parameters(); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, ends[0], ends[1])
		})
	}
}

// TestEveryMethodSeparate: on a device of its own memory, where what the host decides on is read once, steps
// are those of the device that is read in place, but for the Gram matrix's rounding.
func TestEveryMethodSeparate(t *testing.T) {
	everyMethod(t, append(method.Names(), compositionNames()...), [2]*backend.Backend{pcltest.Backend(t, backend.XLACPU), pcltest.Separate(t)}, close32)
}

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

// TestMethodsOnClients: several clients compute the bits of one, also for methods that take more than one gradient
// of each row or choose what is replayed.
func TestMethodsOnClients(t *testing.T) {
	names := []string{"emgd-gmc", "avggrad", "graddrop", "moco", "mir", "gem", "der-pp", "icarl", "mdmtr", "famo"}
	everyMethod(t, append(names, compositionNames()...), [2]*backend.Backend{pcltest.Backend(t, backend.XLACPU), pcltest.Clients(t, 3)}, func(t *testing.T, a, b []float32) {
		if !slices.Equal(a, b) {
			t.Error("three clients end with other parameters than one")
		}
	})
}

// TestResNetOnClients: running statistics, evaluation, predictions and a checkpoint are those of one client, to the bit.
func TestResNetOnClients(t *testing.T) {
	var ends [2][]float32
	var accuracy [2]float64
	var predicted [2][][]float32
	for i, b := range []*backend.Backend{pcltest.Backend(t, backend.XLACPU), pcltest.Clients(t, 2)} {
		net, err := model.NewResNet18(model.ResNetConfig{Height: 8, Width: 8, Channels: 1, Base: 4, Outputs: 6})
		if err != nil {
			t.Fatal(err)
		}
		d := pcltest.Blobs(6, 20, 15)
		l := smallLearner(t, b, "emgd-gmc", Options{Model: net})
		for id := 1; id <= 3; id++ {
			attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
			for range 2 {
				if _, err := l.Step(); err != nil {
					t.Fatal(err)
				}
			}
		}
		state, err := l.State()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"theta", "m", "v", "statistics", "memory"} {
			ends[i] = append(ends[i], state.Arrays[name]...)
		}
		if accuracy[i], err = l.Evaluate(2); err != nil {
			t.Fatal(err)
		}
		x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2, 3), 64)
		p := must[*Predictor](t)(l.Snapshot())
		defer p.Close()
		if predicted[i], err = p.Outputs(1, x); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(ends[0], ends[1]) || accuracy[0] != accuracy[1] || !slices.EqualFunc(predicted[0], predicted[1], slices.Equal) {
		t.Error("two clients end with another state than one, another accuracy, or other predictions")
	}
}
