package pcl

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	gomlx "github.com/gomlx/gomlx/ml/model"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
)

func denseBackbone(scope *gomlx.Scope, x *graph.Node) *graph.Node {
	return activation.Relu(layers.DenseWithBias(scope, x, 16))
}

// convBackbone is a convolution with batch normalisation, of images of 8×8.
func convBackbone(scope *gomlx.Scope, x *graph.Node) *graph.Node {
	image := graph.Reshape(x, x.Shape().Dimensions[0], 8, 8, 1)
	y := layers.Convolution(scope.In("conv"), image).Channels(8).KernelSize(3).PadSame().Strides(2).UseBias(false).Done()
	y = activation.Relu(model.ScopedBatchNorm(scope.In("norm"), y))
	return graph.Reshape(y, x.Shape().Dimensions[0], -1)
}

// TestScopedLearns: functions of a GoMLX scope learn, grow, predict in evaluation mode, are saved
// while tasks run, and loaded.
func TestScopedLearns(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 40, 10)
	for name, backbone := range map[string]func(*gomlx.Scope, *graph.Node) *graph.Node{"dense": denseBackbone,
		"conv": convBackbone} {
		t.Run(name, func(t *testing.T) {
			o := Options{Model: must.Get(model.NewScoped(name, 64, 2, backbone))(t), Increment: "class", Grow: true, Seed: 5}
			l, loaded := smallLearner(t, b, "emgd", o), smallLearner(t, b, "emgd", o)
			attach(t, l, blobTask(t, d, 1, 0, 1))
			attach(t, l, blobTask(t, d, 2, 2, 3))
			steps(t, l, 3)
			must.Do(t, loaded.Restore(must.Get(l.State())(t), pairs(t, d)))
			playOut(t, l)
			playOut(t, loaded)
			same(t, loaded, l)
			for id := range 2 {
				if a := must.Get(loaded.Evaluate(id + 1))(t); a < 0.8 {
					t.Errorf("task %d has accuracy %.2f, want at least 0.8", id+1, a)
				}
			}
		})
	}
}

// TestScopedEditing: a network whose operations have second derivatives is edited; of another one a
// learner with editing says at once that it cannot.
func TestScopedEditing(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 40, 10)
	edit := Edit{Eta: 0.01}
	l := smallLearner(t, b, "emgd-gmc", Options{Model: must.Get(model.NewScoped("dense", 64, 4, denseBackbone))(t),
		Edit: edit})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	attach(t, l, blobTask(t, d, 2, 2, 3))
	playOut(t, l)
	if !slices.ContainsFunc(l.Memory().Samples(), func(it memory.Item) bool {
		return it.Edits > 0 && !slices.Equal(it.Original, it.Pixels)
	}) {
		t.Error("no sample was edited")
	}
	_, err := New(t.Context(), completed(t, b, "emgd-gmc",
		Options{Model: must.Get(model.NewScoped("conv", 64, 4, convBackbone))(t), Edit: edit}))
	if err == nil {
		t.Errorf("editing with a convolution of GoMLX: %v", expect.Text(err))
	}
}
