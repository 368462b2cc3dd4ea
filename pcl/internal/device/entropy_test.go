package device

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// crossEntropy returns the loss of logits [B,C], its gradient, its tangent along v, and the
// predictions, all computed in the given type.
func crossEntropy(t *testing.T, dtype dtypes.DType, logits, v []float64, label, lo, hi []int32,
	weight []float64) (loss float64, gradient []float64, tangent float64, best []float64) {
	t.Helper()
	b := len(label)
	in := []*tensors.Tensor{floats(logits, b, len(logits)/b), floats(v, b, len(logits)/b), ints(label...), ints(lo...),
		ints(hi...), floats(weight, b)}
	out := run(t, in, func(n []*graph.Node) []*graph.Node {
		for _, i := range []int{0, 1, 5} {
			n[i] = graph.ConvertDType(n[i], dtype)
		}
		d := meanEntropy(model.Dual{Value: n[0], Tangent: n[1]}, goalsOf(n[2:]), n[5])
		return []*graph.Node{d.Value, graph.Gradient(d.Value, n[0])[0], d.Tangent, predicted(n[0], n[3], n[4])}
	})
	return out[0][0], out[1], out[2][0], out[3]
}

// TestMaskedOutputs gives each sample another range; outside it nothing has a gradient, inside the
// gradients of a sample sum to 0.
func TestMaskedOutputs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	label, lo, hi := []int32{0, 2, 3, 1}, []int32{0, 2, 1, 1}, []int32{4, 4, 4, 3}
	_, g, _, predicted := crossEntropy(t, dtypes.Float64, []float64{3, -2, 8, 1, 0, 5, -7, 4, 2, 2, -9, 6, -1, 4, 3, -5},
		pcltest.Normal(r, 16), label, lo, hi, []float64{.25, .25, .25, .25})
	for b := range 4 {
		sum := 0.0
		for c := range int32(4) {
			x := g[4*b+int(c)]
			if (c < lo[b] || c >= hi[b]) && x != 0 {
				t.Errorf("sample %d: the masked output %d has gradient %g", b, c, x)
			}
			sum += x
		}
		if math.Abs(sum) > 1e-15 {
			t.Errorf("sample %d: the gradients sum to %g", b, sum)
		}
		if p := int32(predicted[b]); p < lo[b] || p >= hi[b] {
			t.Errorf("sample %d: predicted %d outside %d…%d", b, p, lo[b], hi[b]-1)
		}
	}
}

// TestPadding: a sample of weight 0 changes nothing, whatever it holds.
func TestPadding(t *testing.T) {
	short := []float64{1, 2, -1, 0, .5, 3}
	v := []float64{.1, -.2, .3, .4, .5, -.6}
	want, wantG, wantT, _ := crossEntropy(t, dtypes.Float64, short, v, []int32{1, 0}, []int32{0, 0}, []int32{3, 2},
		[]float64{.5, .5})
	got, gotG, gotT, _ := crossEntropy(t, dtypes.Float64, append(short, 1e20, -1e20, 7), append(v, 1, 2, 3),
		[]int32{1, 0, 0}, []int32{0, 0, 0}, []int32{3, 2, 1}, []float64{.5, .5, 0})
	if got != want || gotT != wantT {
		t.Errorf("loss %g, tangent %g; without padding %g, %g", got, gotT, want, wantT)
	}
	pcltest.Within(t, "gradient beside padding", 0, gotG, append(wantG, 0, 0, 0)...)
}

// TestHugeLogits stays finite in float32, up to logits of 1e20 and for right and wrong labels.
func TestHugeLogits(t *testing.T) {
	for _, size := range []float64{90, 1e4, 1e20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			for label := range int32(3) {
				loss, g, tangent, _ := crossEntropy(t, dtypes.Float32, []float64{size, -size, 0, size}, []float64{1, 2, 3, 4},
					[]int32{label}, []int32{0}, []int32{3}, []float64{1})
				want := []float64{0, 2 * size, size}[label]
				if math.Abs(loss-want) > 1e-6*size {
					t.Errorf("logits of ±%g, label %d: loss %g, want %g", size, label, loss, want)
				}
				for _, x := range append(g, tangent) {
					if math.IsNaN(x) || math.Abs(x) > 10 {
						t.Errorf("logits of ±%g, label %d: gradient %g, tangent %g", size, label, g, tangent)
						break
					}
				}
			}
		})
	}
}
