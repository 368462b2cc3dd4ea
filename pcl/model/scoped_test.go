package model

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	nn "github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"github.com/gomlx/gomlx/ml/layers/norm"
	gomlx "github.com/gomlx/gomlx/ml/model"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// scopedMLP is the backbone of [NewMLP] as a function of a scope.
func scopedMLP(hidden ...int) func(*gomlx.Scope, *graph.Node) *graph.Node {
	return func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
		for i, width := range hidden {
			x = activation.Relu(nn.DenseWithBias(scope.In("dense%d", i), x, width))
		}
		return x
	}
}

// tokens reads the inputs as ids, looks them up, and lets them attend to each other.
func tokens(scope *gomlx.Scope, x *graph.Node) *graph.Node {
	ids := graph.ExpandAxes(graph.ConvertDType(graph.Abs(graph.MulScalar(x, 3)), dtypes.Int32), -1)
	return attend(scope, nn.Embedding(scope.In("embedding"), ids, x.DType(), 32, 8))
}

// patchesOf cuts an image of 6 values into 3 patches, which attend to each other.
func patchesOf(scope *gomlx.Scope, x *graph.Node) *graph.Node {
	batch := x.Shape().Dimensions[0]
	return attend(scope, nn.DenseWithBias(scope.In("patches"), graph.Reshape(x, batch, 3, 2), 8))
}

func attend(scope *gomlx.Scope, x *graph.Node) *graph.Node {
	y := attention.MultiHeadAttention(scope.In("attention"), x, x, x, 2, 4).Done()
	return graph.ReduceMean(norm.LayerNorm(scope.In("norm"), graph.Add(x, y), -1).Done(), 1)
}

// convolved is a convolution with batch normalisation, of images of 3×2.
func convolved(scope *gomlx.Scope, x *graph.Node) *graph.Node {
	image := graph.Reshape(x, x.Shape().Dimensions[0], 3, 2, 1)
	y := nn.Convolution(scope.In("conv"), image).Channels(4).KernelSize(3).PadSame().UseBias(false).Done()
	return graph.ReduceMean(activation.Relu(ScopedBatchNorm(scope.In("norm"), y)), 1, 2)
}

func scoped(t testing.TB, name string, backbone func(*gomlx.Scope, *graph.Node) *graph.Node) Model {
	t.Helper()
	return must.Get(NewScoped(name, 6, 5, backbone))(t)
}

// TestScopedMLP: the same parameters give the same features, logits, gradients, and second
// derivatives as those of the built-in network, to the last bits.
func TestScopedMLP(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		p := newProblem(t)
		other := scoped(t, "mlp", scopedMLP(7, 4))
		for i, want := range p.net.Layout().Params {
			if got := other.Layout().Params[i]; got.Offset != want.Offset || got.Size() != want.Size() {
				t.Fatalf("parameter %d is %+v, want it where %+v is", i, got, want)
			}
		}
		v := pcltest.Normal(rand.New(rand.NewPCG(6, 6)), len(p.theta))
		in := append([]tensor{floats(p.theta, len(p.theta)), floats(p.x, batch, 6), floats(v, len(v))}, p.targets...)
		var got [2][][]float64
		for i, net := range []Model{p.net, other} {
			got[i] = compile(t, b, func(n []*graph.Node) []*graph.Node {
				parts, along := split(n[0], net.Layout().Params), split(n[2], net.Layout().Params)
				along[4], along[5] = nil, nil
				targets := targetsOf(n[3:])
				out := net.Forward(Pass{Params: duals(parts), X: Dual{Value: n[1]}, Weight: n[6]})
				loss := meanEntropy(out.Logits, targets).Value
				return []*graph.Node{
					out.Features.Value, out.Logits.Value, join(graph.Gradient(loss, parts...)),
					pixelGradient(net, parts, along, n[1], targets),
				}
			})(in)
		}
		for out, want := range got[0] {
			pcltest.Within(t, fmt.Sprintf("output %d", out), 1e-14, got[1][out], want...)
			if dot(want, want) == 0 {
				t.Errorf("output %d is 0: there is nothing to compare", out)
			}
		}
	})
}

// TestScopedNetworks compares the gradients of networks by all parameters, and the derivatives that
// editing needs, with central differences. Padding has no influence.
func TestScopedNetworks(t *testing.T) {
	for name, backbone := range map[string]func(*gomlx.Scope, *graph.Node) *graph.Node{"tokens": tokens,
		"patches": patchesOf, "convolved": convolved} {
		t.Run(name, func(t *testing.T) {
			p := newProblem(t)
			net := scoped(t, name, backbone)
			layout := net.Layout()
			r := rand.New(rand.NewPCG(5, 8))
			drawn, _ := layout.Init(r)
			theta, along, change := floats32(drawn), pcltest.Normal(r, layout.Total), pcltest.Normal(r, len(p.x))
			for i := range theta {
				theta[i] += .1 * r.NormFloat64() // away from biases of 0, where ReLU has kinks
			}
			in := append([]tensor{floats(theta, len(theta)), floats(p.x, batch, 6), floats(along, len(along))}, p.targets...)
			eval := compile(t, pcltest.Backend(t, backend.Go), func(n []*graph.Node) []*graph.Node {
				parts := split(n[0], layout.Params)
				loss := meanEntropy(net.Forward(Pass{Params: duals(parts), X: Dual{Value: n[1]}, Weight: n[6]}).Logits,
					targetsOf(n[3:])).Value
				return []*graph.Node{loss, graph.ReduceAllSum(graph.Mul(join(graph.Gradient(loss, parts...)), n[2]))}
			})
			const h = 1e-5
			at := func(i int, to []float64) []tensor {
				moved := append([]tensor(nil), in...)
				moved[i].flat = to
				return moved
			}
			got := eval(in)[1][0]
			want := (eval(at(0, moved(theta, h, along)))[0][0] - eval(at(0, moved(theta, -h, along)))[0][0]) / (2 * h)
			pcltest.Within(t, "the gradient along a direction", 1e-7, []float64{got}, want)
			padded := append([]float64(nil), p.x...)
			for i := 6 * (batch - 1); i < len(padded); i++ {
				padded[i] = 9
			}
			if a, b := eval(in), eval(at(1, padded)); a[0][0] != b[0][0] || a[1][0] != b[1][0] {
				t.Errorf("padding changes the loss from %v to %v", a, b)
			}
			if name != "patches" { // GoMLX has no second derivative of the others
				return
			}
			edit := run(t, in, func(n []*graph.Node) []*graph.Node {
				return []*graph.Node{pixelGradient(net, split(n[0], layout.Params), split(n[2], layout.Params), n[1],
					targetsOf(n[3:]))}
			})[0]
			by := (eval(at(1, moved(p.x, h, change)))[1][0] - eval(at(1, moved(p.x, -h, change)))[1][0]) / (2 * h)
			pcltest.Within(t, "the second derivative", 1e-6, []float64{dot(edit, change)}, by)
		})
	}
}

func floats32(x []float32) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = float64(x[i])
	}
	return out
}

// TestScopedFrozen: variables that are not trainable keep their value, which is part of the key.
func TestScopedFrozen(t *testing.T) {
	with := func(value float32) Model {
		return scoped(t, "frozen", func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
			factor := scope.VariableWithValue("factor", []float32{value}).SetTrainable(false)
			return nn.DenseWithBias(scope, graph.Mul(x, graph.ExpandAxes(graph.ConvertDType(factor.NodeValue(x), x.DType()), 0)),
				4)
		})
	}
	one, two := with(1), with(2)
	if one.Layout().Total != two.Layout().Total || one.Layout().Backbone != 6*4+4 {
		t.Errorf("the frozen variable is among the parameters: %+v", one.Layout().Params)
	}
	if one.Key() == two.Key() || one.Key() != with(1).Key() {
		t.Errorf("keys %q, %q", one.Key(), two.Key())
	}
	theta := pcltest.Normal(rand.New(rand.NewPCG(1, 1)), one.Layout().Total)
	x := pcltest.Normal(rand.New(rand.NewPCG(1, 2)), batch*6)
	features := func(m Model, x []float64) []float64 {
		return run(t, []tensor{floats(theta, len(theta)), floats(x, batch, 6)}, func(n []*graph.Node) []*graph.Node {
			return []*graph.Node{m.Forward(Pass{Params: duals(split(n[0], m.Layout().Params)), X: Dual{Value: n[1]}}).
				Features.Value}
		})[0]
	}
	pcltest.Within(t, "features of twice the input", 1e-12, features(two, x), features(one, moved(x, 1, x))...)
}

// TestScopedRefuses what cannot be trained, and says why.
func TestScopedRefuses(t *testing.T) {
	dense := func(scope *gomlx.Scope, x *graph.Node) *graph.Node { return nn.DenseWithBias(scope, x, 4) }
	for want, backbone := range map[string]func(*gomlx.Scope, *graph.Node) *graph.Node{
		"random numbers": func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
			return nn.DropoutStatic(scope, dense(scope, x), .5)
		},
		"model.ScopedBatchNorm": func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
			return norm.BatchNorm(scope, dense(scope, x), -1).Done()
		},
		"ScopedBatchNorm": func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
			return norm.BatchNorm(scope, dense(scope, x), -1).UseBackendInference(false).Done()
		},
		"[2, features]": func(scope *gomlx.Scope, x *graph.Node) *graph.Node { return graph.ReduceAllSum(dense(scope, x)) },
		"Float64": func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
			v := scope.VariableWithShape("v", shapes.Make(dtypes.Float64, 1, 1)).NodeValue(x)
			return graph.Add(dense(scope, x), graph.ConvertDType(v, x.DType()))
		},
		"no trainable": func(_ *gomlx.Scope, x *graph.Node) *graph.Node { return x },
		"building":     func(*gomlx.Scope, *graph.Node) *graph.Node { panic("no") },
	} {
		if _, err := NewScoped("bad", 6, 5, backbone); err == nil {
			t.Errorf("want an error about %q, got %v", want, err)
		}
	}
	for _, bad := range [][2]int{{0, 5}, {6, 0}} {
		if _, err := NewScoped("bad", bad[0], bad[1], dense); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	calls := 0
	moody := scoped(t, "moody", func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
		calls++
		return nn.DenseWithBias(scope.In("layer%d", calls), x, 4)
	})
	inputs := []program.Input{
		{Name: "theta", Shape: shapes.Make(dtypes.Float32, moody.Layout().Total)},
		{Name: "x", Shape: shapes.Make(dtypes.Float32, batch, 6)},
	}
	_, err := program.Compile(pcltest.Backend(t, backend.Go).Backend, new(atomic.Int64), "moody", inputs,
		func(n []*graph.Node) []*graph.Node {
			return []*graph.Node{moody.Forward(Pass{Params: duals(split(n[0], moody.Layout().Params)), X: Dual{Value: n[1]}}).
				Features.Value}
		})
	if err == nil {
		t.Errorf("other layers in another graph: %v", err)
	}
}
