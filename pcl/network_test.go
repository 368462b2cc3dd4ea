package pcl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestNetworkBegin: θ is what was set, and the optimiser remembers nothing.
func TestNetworkBegin(t *testing.T) {
	n := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{}).network
	theta := make([]float32, n.total())
	for i := range theta {
		theta[i] = float32(i)
	}
	must.Do(t, n.begin(theta))
	if got := must.Get(n.parameters())(t); !slices.Equal(got, theta) {
		t.Error("θ is not what was set")
	}
	for i, b := range n.state {
		if got := must.Get(n.read(b))(t); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("vector %d of the optimiser is not 0", i)
		}
	}
	if got, want := len(n.vectors()), 1+len(n.options.Optimizer.State()); got != want {
		t.Errorf("%d vectors; want %d", got, want)
	}
}

// TestNetworkPoints: a method that has remembered nothing gets the present parameters, and one that
// asks for others that it has not made panics. A network that was trained apart has its own
// statistics.
func TestNetworkPoints(t *testing.T) {
	n := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{Model: normalised(t)}).network
	for _, p := range []rehearsal.Point{rehearsal.Current, rehearsal.Remembered} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			if n.point(p) != n.theta {
				t.Errorf("point %d is not θ", p)
			}
		})
	}
	for _, p := range []rehearsal.Point{rehearsal.Virtual, rehearsal.Retrained} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			err := guarded("the method", func() error { n.point(p); return nil })
			refused(t, err, "that it has not made")
		})
	}
	theta, statistics := n.layout().Init(seed.New(1, "test").Rand)
	must.Do(t, n.auxiliary.restart(n.options.Backend, theta, statistics))
	if got := n.at(n.point(rehearsal.Retrained)).Running; &got[0] != &statistics[0] {
		t.Error("the retrained network has the statistics of the trained one")
	}
	if got := n.now().Running; &got[0] != &n.statistics[0] {
		t.Error("the trained network has other statistics than its own")
	}
}

// unbuildable is a model whose graphs cannot be built.
type unbuildable struct{ model.Model }

func (unbuildable) Key() string                     { return "unbuildable" }
func (unbuildable) Forward(model.Pass) model.Output { panic("no ink") }

// TestUseModelThatFails: a model whose programs cannot be compiled leaves the network as it is.
func TestUseModelThatFails(t *testing.T) {
	n := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{}).network
	old, programs := n.options.Model, n.programs
	err := n.useModel(unbuildable{must.Get(model.NewMLP(64, []int{16, 8}, 7))(t)}, rehearsal.Loss{})
	refused(t, err, "no ink")
	if n.options.Model != old || n.programs != programs {
		t.Error("the model or its programs have changed")
	}
}
