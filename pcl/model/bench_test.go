package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// BenchmarkResNet18 times the gradient of all parameters and the pixel gradient of memory editing, of a
// batch of 32 images of 32×32×3, on two threads.
func BenchmarkResNet18(b *testing.B) {
	device, err := backend.Open(context.Background(), backend.Options{Name: backend.XLACPU, Threads: 2})
	if err != nil {
		b.Skip(err)
	}
	defer device.Close()
	for _, base := range []int{16, 64} {
		b.Run(fmt.Sprintf("gradient/base=%d", base), func(b *testing.B) { benchmarkResNet18(b, device, base, false) })
		b.Run(fmt.Sprintf("edit/base=%d", base), func(b *testing.B) { benchmarkResNet18(b, device, base, true) })
	}
}

func benchmarkResNet18(b *testing.B, device compute.Backend, base int, edit bool) {
	const samples = 32
	m, err := NewResNet18(ResNetConfig{Height: 32, Width: 32, Channels: 3, Base: base, Outputs: 100})
	if err != nil {
		b.Fatal(err)
	}
	total := m.Layout().Total
	inputs := []program.Input{
		{Name: "theta", Shape: shapes.Make(dtypes.Float32, total)}, {Name: "x", Shape: shapes.Make(dtypes.Float32, samples, m.Inputs())},
		{Name: "v", Shape: shapes.Make(dtypes.Float32, total)},
	}
	p, err := program.Compile(device, new(program.Counter), "step", inputs, func(n []*graph.Node) []*graph.Node {
		params, share := m.Layout().Split(n[0]), graph.MulScalar(graph.Ones(n[0].Graph(), shapes.Make(dtypes.Float32, samples)), 1.0/samples)
		label := graph.Iota(n[0].Graph(), shapes.Make(dtypes.Int32, samples), 0)
		t := Targets{Label: label, Lo: graph.ZerosLike(label), Hi: graph.AddScalar(graph.ZerosLike(label), 100), Weight: share}
		if edit {
			return []*graph.Node{PixelGradientAlong(m, params, m.Layout().Split(n[2]), n[1], share, nil, entropy(t))}
		}
		duals := make([]Dual, len(params))
		for i := range params {
			duals[i].Value = params[i]
		}
		out := m.Forward(Pass{Params: duals, X: Dual{Value: n[1]}, Weight: share})
		return []*graph.Node{Join(graph.Gradient(CrossEntropy(out.Logits, t).Value, params...)), Join(out.Stats)}
	})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = r.Float32()
		}
		return out
	}
	var in []compute.Buffer
	for i, flat := range [][]float32{m.Layout().Init(r), draw(samples * m.Inputs()), draw(total)} {
		buffer, err := program.ToDevice(device, flat, inputs[i].Shape.Dimensions...)
		if err != nil {
			b.Fatal(err)
		}
		in = append(in, buffer)
	}
	defer program.Free(in...)
	for b.Loop() {
		out, err := p.Call(in...)
		if err != nil {
			b.Fatal(err)
		}
		program.Free(out...)
	}
}
