package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// layer is a function of float tensors of the given shapes.
type layer struct {
	dims  [][]int
	apply func(in []Dual) Dual
}

// convolutionOf is a convolution of x by weights and a bias.
func convolutionOf(batch, high, wide, in, out, size, stride int) layer {
	return layer{[][]int{{batch, high, wide, in}, {size, size, in, out}, {out}}, func(n []Dual) Dual {
		return convolution{weights: 0, bias: 1, stride: stride}.apply(Pass{Params: n[1:]}, n[0])
	}}
}

// normOf is a batch normalisation of x by scale and shift, of which the last sample is padding.
func normOf(running bool) layer {
	return layer{[][]int{{4, 3, 2, 3}, {3}, {3}}, func(n []Dual) Dual {
		g := n[0].Value.Graph()
		p := Pass{Params: n[1:], Weight: graph.Const(g, []float64{.3, .5, .2, 0})}
		if running {
			p.Running = []*graph.Node{graph.Const(g, []float64{.1, -.2, .3}), graph.Const(g, []float64{.5, 1, 2})}
		}
		return batchNorm{scale: 0, shift: 1, mean: 0, variance: 1}.apply(p, make([]*graph.Node, 2), n[0])
	}}
}

// lossOf is the loss of three samples' outputs.
func lossOf(loss Loss) layer {
	return layer{[][]int{{3, 2}}, func(n []Dual) Dual {
		return loss.Losses(n[0], graph.Const(n[0].Value.Graph(), [][]float64{{0, 1}, {.3, .8}, {1, 1}}))
	}}
}

// blockOf is a block of a ResNet with its parameters.
func blockOf(batch, high, wide, in, out, stride int, release bool) layer {
	var layout Layout
	b := layout.addBlock("block", in, out, stride, release)
	l := layer{[][]int{{batch, high, wide, in}}, func(n []Dual) Dual {
		return b.apply(Pass{Params: n[1:]}, make([]*graph.Node, len(layout.Stats)), n[0])
	}}
	for _, p := range layout.Params {
		l.dims = append(l.dims, p.Dims)
	}
	return l
}

var layers = map[string]layer{
	"dense": {[][]int{{3, 4}, {4, 2}, {2}}, func(n []Dual) Dual {
		return Pass{}.Dense(n[0], n[1], n[2])
	}},
	"relu":                   {[][]int{{5, 6}}, func(n []Dual) Dual { return ReLU(n[0]) }},
	"maxPool":                {[][]int{{2, 4, 6, 3}}, func(n []Dual) Dual { return MaxPool(n[0]) }},
	"overlappingMaxPool":     {[][]int{{2, 4, 6, 3}}, func(n []Dual) Dual { return OverlappingMaxPool(n[0]) }},
	"overlappingMaxPool odd": {[][]int{{2, 5, 1, 2}}, func(n []Dual) Dual { return OverlappingMaxPool(n[0]) }},
	"convolution 7×7/2":      convolutionOf(2, 9, 8, 3, 2, 7, 2),
	"averagePool":            {[][]int{{2, 3, 2, 3}}, func(n []Dual) Dual { return AveragePool(n[0]) }},
	"batchNorm":              normOf(false),
	"batchNorm running":      normOf(true),
	"convolution 3×3":        convolutionOf(2, 5, 4, 3, 2, 3, 1),
	"convolution 3×3/2":      convolutionOf(2, 8, 6, 2, 3, 3, 2),
	"convolution 3×3/2 odd":  convolutionOf(2, 7, 5, 2, 3, 3, 2),
	"convolution 1×1":        convolutionOf(2, 3, 4, 3, 2, 1, 1),
	"convolution 1×1/2":      convolutionOf(2, 6, 4, 3, 2, 1, 2),
	"convolution 1×1/2 odd":  convolutionOf(2, 7, 5, 3, 2, 1, 2),
	"convolution 3×3 tiny":   convolutionOf(2, 2, 2, 3, 2, 3, 1),
	"convolution 3×3/2 tiny": convolutionOf(2, 4, 3, 3, 2, 3, 2),
	"squared error":          lossOf(SquaredError(2)),
	"binary cross-entropy":   lossOf(BinaryCrossEntropy(2)),
	"convolution to a pixel": convolutionOf(2, 1, 1, 3, 2, 3, 2),
}

// TestLayers compares, for every layer y(x) and a weight c of its outputs, the tangent ẏ and the
// gradients of ⟨c,y⟩ and of ⟨c,ẏ⟩ with central differences. Tangents come in together and one by
// one.
func TestLayers(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for name, l := range layers {
			if b.Info.Name == backend.Go || onXLA[name] { // which takes a second to compile one
				t.Run(name, func(t *testing.T) { checkLayer(t, b, l) })
			}
		}
	})
}

// onXLA are the layers that XLA compiles by code of its own.
var onXLA = map[string]bool{"maxPool": true, "batchNorm": true, "convolution 3×3/2 odd": true}

// TestBlocks: the same of whole blocks, on one backend, since compiling them takes XLA seconds.
func TestBlocks(t *testing.T) {
	for _, l := range []layer{blockOf(2, 4, 3, 2, 2, 1, false), blockOf(3, 6, 5, 2, 3, 2, true)} {
		checkLayer(t, pcltest.Backend(t, backend.Go), l)
	}
}

func checkLayer(t *testing.T, b *backend.Backend, l layer) {
	r := rand.New(rand.NewPCG(3, 7))
	n := len(l.dims)
	in := make([]tensor, 3*n) // points, tangents, and directions to differ in
	for i := range in {
		p := Param{Dims: l.dims[i%n]}
		in[i] = floats(pcltest.Normal(r, p.Size()), p.Dims...)
	}
	eval := compile(t, b, func(nodes []*graph.Node) []*graph.Node {
		x := nodes[:n]
		all := duals(x, nodes[n:2*n]...)
		y := l.apply(all)
		c := graph.Cos(graph.IotaFull(y.Value.Graph(), y.Value.Shape()))
		along := func(g []*graph.Node) *graph.Node {
			total := graph.ScalarZero(y.Value.Graph(), y.Value.DType())
			for i := range g {
				total = graph.Add(total, graph.ReduceAllSum(graph.Mul(g[i], nodes[2*n+i])))
			}
			return total
		}
		value, tangent := graph.ReduceAllSum(graph.Mul(c, y.Value)), graph.ReduceAllSum(graph.Mul(c, y.Tangent))
		one := graph.ScalarZero(y.Value.Graph(), y.Value.DType())
		for i := range all {
			alone := duals(x)
			alone[i] = all[i]
			one = graph.Add(one, graph.ReduceAllSum(graph.Mul(c, l.apply(alone).Tangent)))
		}
		return []*graph.Node{value, tangent, one, along(graph.Gradient(value, x...)), along(graph.Gradient(tangent, x...))}
	})
	shifted := func(h float64, directions []tensor) [][]float64 {
		moves := append([]tensor(nil), in...)
		for i := range n {
			moves[i].flat = moved(in[i].flat.([]float64), h, directions[i].flat.([]float64))
		}
		return eval(moves)
	}
	const h = 1e-5
	differ := func(out int, directions []tensor) float64 {
		return (shifted(h, directions)[out][0] - shifted(-h, directions)[out][0]) / (2 * h)
	}
	got := eval(in)
	pcltest.Within(t, "tangent", 1e-7, got[1], differ(0, in[n:2*n]))
	pcltest.Within(t, "sum of the tangents one by one", 1e-7, got[2], got[1]...)
	pcltest.Within(t, "gradient", 1e-7, got[3], differ(0, in[2*n:]))
	pcltest.Within(t, "gradient of the tangent", 1e-7, got[4], differ(1, in[2*n:]))
}

// TestConvolution compares every entry with the sum that defines it.
func TestConvolution(t *testing.T) {
	for name, l := range layers {
		if len(l.dims[0]) != 4 || len(l.dims) != 3 || len(l.dims[1]) != 4 {
			continue
		}
		r := rand.New(rand.NewPCG(5, 5))
		d, k := l.dims[0], l.dims[1]
		x, w, bias := pcltest.Normal(r, d[0]*d[1]*d[2]*d[3]), pcltest.Normal(r, k[0]*k[1]*k[2]*k[3]), pcltest.Normal(r, k[3])
		var high, wide int
		in := []tensor{floats(x, d...), floats(w, k...), floats(bias, k[3])}
		got := run(t, in, func(n []*graph.Node) []*graph.Node {
			y := l.apply([]Dual{{Value: n[0]}, {Value: n[1]}, {Value: n[2]}}).Value
			high, wide = y.Shape().Dimensions[1], y.Shape().Dimensions[2]
			return []*graph.Node{y}
		})[0]
		stride := (d[1] + high - 1) / high
		if high != (d[1]+stride-1)/stride || wide != (d[2]+stride-1)/stride {
			t.Errorf("%s: %d×%d pixels from %d×%d", name, high, wide, d[1], d[2])
		}
		for i, y := range got {
			o, column, row, b := i%k[3], i/k[3]%wide, i/k[3]/wide%high, i/k[3]/wide/high
			want := bias[o]
			for p := range k[0] {
				for q := range k[1] {
					u, v := row*stride+p-k[0]/2, column*stride+q-k[1]/2
					for c := range k[2] {
						if u >= 0 && u < d[1] && v >= 0 && v < d[2] {
							want += x[((b*d[1]+u)*d[2]+v)*d[3]+c] * w[((p*k[1]+q)*k[2]+c)*k[3]+o]
						}
					}
				}
			}
			if math.Abs(y-want) > 1e-12 {
				t.Fatalf("%s: entry %d is %g, want %g", name, i, y, want)
			}
		}
	}
}

// TestMaxPool: ties share the derivative, and a NaN is not lost.
func TestMaxPool(t *testing.T) {
	x := []float64{1, 3, 5, 5, 2, -1, 5, 4, 0, 0, math.NaN(), 1, 0, 0, 2, 1} // 4×4
	got := run(t, []tensor{floats(x, 1, 4, 4, 1)}, func(n []*graph.Node) []*graph.Node {
		y := MaxPool(Dual{Value: n[0]}).Value
		finite := graph.Slice(y, graph.AxisRange(), graph.AxisRange(0, 1))
		return []*graph.Node{y, graph.Gradient(graph.ReduceAllSum(finite), n[0])[0]}
	})
	if y := got[0]; y[0] != 3 || math.Abs(y[1]-5) > 1e-15 || y[2] != 0 || !math.IsNaN(y[3]) {
		t.Errorf("maxima %v, want 3, 5, 0, NaN", y)
	}
	pcltest.Within(t, "derivatives", 1e-15, got[1], 0, 1, 1./3, 1./3, 0, 0, 1./3, 0)
}

// TestReluAtZero: gradient and tangent agree that the derivative there is 0; a NaN stays one.
func TestReluAtZero(t *testing.T) {
	got := run(t, []tensor{floats([]float64{-1, 0, 2, math.NaN()}, 4)}, func(n []*graph.Node) []*graph.Node {
		y := ReLU(Dual{n[0], graph.OnesLike(n[0])})
		return []*graph.Node{y.Value, y.Tangent, graph.Gradient(graph.ReduceAllSum(y.Value), n[0])[0]}
	})
	pcltest.Within(t, "value", 0, got[0], 0, 0, 2)
	pcltest.Within(t, "tangent", 0, got[1], 0, 0, 1)
	pcltest.Within(t, "gradient", 0, got[2], 0, 0, 1)
	if !math.IsNaN(got[0][3]) {
		t.Errorf("of NaN it is %g", got[0][3])
	}
}
