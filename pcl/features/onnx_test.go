package features_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/features"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// probabilities prints what a file with a backbone says of pictures, in the order of its outputs.
const probabilities = `
import sys, numpy, onnx, onnxruntime, safetensors.numpy
onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
shape, n = session.get_inputs()[0].shape[1:], int(sys.argv[3])
pixels = safetensors.numpy.load_file(sys.argv[2])["pixels"].astype(numpy.uint8).reshape(-1, *shape)
names = [o.name for o in session.get_outputs()]
run = lambda x: session.run(["scores" if "scores" in names else "logits"], {"pixels": x})[0][:, :n].astype(float)
scores = run(pixels)
assert numpy.allclose(run(pixels[:1]), scores[:1], rtol=1e-5, atol=1e-5)
scores = numpy.exp((scores - scores.max(1, keepdims=True)) / float(sys.argv[4]))
print(*(scores / scores.sum(1, keepdims=True)).flatten())
`

// TestONNXWithBackbone: a file that takes pictures gives the predictions from unrounded features.
func TestONNXWithBackbone(t *testing.T) {
	bin := must.Python(t, "numpy, onnx, onnxruntime, safetensors")
	dir := t.TempDir()
	weights := filepath.Join(dir, "drawn.safetensors")
	must.Do(t, atomicfile.Write(weights, features.Draw(1).Write))
	for _, c := range []struct {
		method   string
		params   map[string]any
		channels int
		flips    bool
		height   int
		scale    float64 // by which scores are divided, so that no probability is 0 or 1
	}{
		{"emgd", nil, 3, false, 20, 1}, {"avggrad", nil, 1, true, 32, 1}, {"lda", nil, 3, true, 20, 1000},
		{"ranpac", map[string]any{"m": 100.0}, 1, false, 40, 1}, {"simplecil", nil, 3, false, 32, 1},
	} {
		t.Run(c.method, func(t *testing.T) {
			s := features.Spec{Backbone: features.Lite0, Size: 32, Flips: c.flips, Weights: weights}
			p := features.Pictures{Height: c.height, Width: 32, Channels: c.channels}
			rng := rand.New(rand.NewPCG(5, 5))
			for i := range 8 * p.Height * p.Width * p.Channels {
				p.Pixels = append(p.Pixels, uint8(rng.IntN(90)+i%(60+40*(i/(p.Height*p.Width*p.Channels)))))
			}
			b := must.Get(backend.Open(t.Context(), backend.Options{Name: backend.Go}))(t)
			defer b.Close()
			n := trainedOn(t, b, s, p, must.Get(method.New(c.method, c.params))(t))
			n.Backbone = must.Get(features.ForONNX(t.Context(), s, dir, nil, p.Height, p.Width, p.Channels))(t)
			file, pixels := filepath.Join(t.TempDir(), "net.onnx"), filepath.Join(t.TempDir(), "pixels.safetensors")
			must.Do(t, n.SaveONNX(file, nil))
			x := safetensors.Tensor{Name: "pixels", Dims: []int{len(p.Pixels)}}
			for _, v := range p.Pixels {
				x.Values = append(x.Values, float32(v))
			}
			must.Do(t, atomicfile.Write(pixels, (&safetensors.File{Tensors: []safetensors.Tensor{x}}).Write))
			classes, scale := fmt.Sprint(len(n.Outputs())), fmt.Sprint(c.scale)
			out, err := exec.Command(bin, "-c", probabilities, file, pixels, classes, scale).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var got []float64
			for _, word := range strings.Fields(string(out)) {
				var v float64
				must.Get(fmt.Sscan(word, &v))(t)
				got = append(got, v)
			}
			want := slices.Concat(predicted(t, b, n, c.scale, must.Get(features.Unrounded(t.Context(), b, s, p))(t))...)
			if len(got) != len(want) {
				t.Fatalf("%d probabilities; want %d", len(got), len(want))
			}
			most := 0.0
			for i := range got {
				most = max(most, math.Abs(got[i]-want[i]))
			}
			if t.Logf("at most %.1e apart", most); !(most <= 1e-4) {
				t.Errorf("probabilities up to %g apart; want 1e-4\n%v\n%v", most, got, want)
			}
		})
	}
}

// coded are four pictures' features of 8 bits from a number on, two of each class.
type coded struct {
	codes []uint8
	from  int
}

func (c coded) Len() int { return 4 }

func (c coded) Sample(i int, x []float32) int {
	i += c.from
	for k, code := range c.codes[i*features.Width : (i+1)*features.Width] {
		x[k] = float32(code) / 255
	}
	return i / 2
}

// trainedOn returns the network of a learner that has seen the features of pictures, of classes 0
// to 3.
func trainedOn(t *testing.T, b *backend.Backend, s features.Spec, p features.Pictures, m method.Method) *pcl.Network {
	t.Helper()
	open := func(context.Context) (*backend.Backend, error) {
		return backend.Open(t.Context(), backend.Options{Name: backend.Go})
	}
	codes := must.Get(features.Of(t.Context(), s, features.Options{Dir: t.TempDir(), Open: open}, p))(t)[0]
	net := must.Get(pcl.NewMLP(features.Width, []int{16}, 4))(t)
	l := must.Get(pcl.New(t.Context(), pcl.Options{Backend: b, Model: net, Method: m, Increment: "class", Batch: 4}))(t)
	defer l.Close()
	for task := range 2 {
		stream := must.Get(pcl.NewStream(coded{codes, task * 4}, 4, 3, 1))(t)
		must.Get(l.Attach(pcl.Task{Classes: []int{2 * task, 2*task + 1}, Stream: stream}))(t)
		must.Do(t, l.Run(t.Context(), pcl.Hooks{}))
	}
	return must.Get(l.Network())(t)
}

// predicted returns the probabilities of the classes, for samples.
func predicted(t *testing.T, b *backend.Backend, n *pcl.Network, scale float64, samples [][]float32) (all [][]float64) {
	t.Helper()
	if n.Sums != nil {
		for _, x := range samples {
			all = append(all, softmax(scored(n.Sums, x), scale))
		}
		return all
	}
	p := must.Get(pcl.NewPredictor(b, must.Get(pcl.NewMLP(features.Width, []int{16}, 4))(t), n, 4))(t)
	defer p.Close()
	for _, one := range must.Get(p.Predict(slices.Concat(samples...)))(t) {
		all = append(all, one.Probabilities)
	}
	return all
}

// scored computes scores of sums in double precision, from samples that are not rounded.
func scored(m *analytic.Map, x []float32) []float64 {
	h := make([]float64, len(m.Weights))
	for i, v := range x {
		if m.Projection == nil {
			h[i] = 255 * float64(v)
			continue
		}
		for j, r := range m.Projection[i] {
			h[j] += 255 * float64(v) * float64(r)
		}
	}
	square, scores := 0.0, slices.Clone(m.Added)
	for j, v := range h {
		if m.Projection != nil {
			v = min(255, math.Floor(max(0, v)/float64(m.Divide)))
		}
		square += v * v
		for k, w := range m.Weights[j] {
			scores[k] += v * w
		}
	}
	for k := range scores {
		if m.Unit {
			scores[k] /= math.Sqrt(square)
		}
	}
	return scores
}

func softmax(scores []float64, scale float64) []float64 {
	total, most := 0.0, slices.Max(scores)
	for i, s := range scores {
		scores[i] = math.Exp((s - most) / scale)
		total += scores[i]
	}
	for i := range scores {
		scores[i] /= total
	}
	return scores
}
