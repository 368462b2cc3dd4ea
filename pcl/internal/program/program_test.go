package program_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

var vector = shapes.Make(dtypes.Float32, 3)

func compile(t *testing.T, b *backend.Backend, inputs []program.Input,
	build func(n []*graph.Node) []*graph.Node) *program.Program {
	t.Helper()
	p := must.Get(program.Compile(b.Backend, new(atomic.Int64), "test", inputs, build))(t)
	t.Cleanup(p.Close)
	return p
}

func upload(t *testing.T, b *backend.Backend, flat ...float32) compute.Buffer {
	t.Helper()
	return must.Get(program.ToDevice(b.Backend, flat, len(flat)))(t)
}

// download reads buffers of three entries and frees them.
func download(t *testing.T, buffers ...compute.Buffer) (out [][]float32) {
	t.Helper()
	defer program.Free(buffers...)
	for _, b := range buffers {
		out = append(out, slices.Clone(must.Get(program.Read[float32](b, 3))(t)))
	}
	return out
}

func sumAndDifference(n []*graph.Node) []*graph.Node {
	return []*graph.Node{graph.Add(n[0], n[1]), graph.Sub(n[0], n[1])}
}

// TestCall runs a program again and again: inputs stay, outputs are the caller's.
func TestCall(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		p := compile(t, b, []program.Input{{Name: "a", Shape: vector}, {Name: "b", Shape: vector}}, sumAndDifference)
		x, y := upload(t, b, 1, 2, 3), upload(t, b, 10, 20, 30)
		defer program.Free(x, y, nil)
		for range 3 {
			out := must.Get(p.Call(x, y))(t)
			got := download(t, out...)
			if !slices.Equal(got[0], []float32{11, 22, 33}) || !slices.Equal(got[1], []float32{-9, -18, -27}) {
				t.Errorf("sum and difference are %v", got)
			}
		}
	})
}

// TestDonatedInput hands a state from call to call, as the optimiser does.
func TestDonatedInput(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		p := compile(t, b, []program.Input{{Name: "state", Shape: vector, Donate: true}, {Name: "step", Shape: vector}},
			func(n []*graph.Node) []*graph.Node {
				return []*graph.Node{graph.Add(n[0], n[1])}
			})
		state, step := upload(t, b, 0, 0, 0), upload(t, b, 1, 2, 3)
		defer program.Free(step)
		for range 10 {
			state = must.Get(p.Call(&state, step))(t)[0]
		}
		if got := download(t, state)[0]; !slices.Equal(got, []float32{10, 20, 30}) {
			t.Errorf("after ten steps %v", got)
		}
	})
}

// TestErrors: what panics in a graph or fails in a call comes back as an error.
func TestErrors(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		cause := errors.New("cause")
		for name, build := range map[string]func([]*graph.Node) []*graph.Node{
			"panics with an error": func([]*graph.Node) []*graph.Node { panic(cause) },
			"panics with text":     func([]*graph.Node) []*graph.Node { panic("cause") },
			"wrong shapes": func(n []*graph.Node) []*graph.Node {
				return []*graph.Node{graph.Add(n[0], graph.IotaFull(n[0].Graph(), shapes.Make(dtypes.Float32, 4)))}
			},
			"no outputs": func([]*graph.Node) []*graph.Node { return nil },
		} {
			var counter atomic.Int64
			_, err := program.Compile(b.Backend, &counter, "broken", []program.Input{{Name: "a", Shape: vector}}, build)
			if err == nil || counter.Load() != 0 {
				t.Errorf("%s: error %v, %d compiled; want an error that names the program", name, expect.Text(err), counter.Load())
			}
			if name == "panics with an error" && !errors.Is(err, cause) {
				t.Errorf("%s: the cause is lost in %v", name, err)
			}
		}
		p := compile(t, b, []program.Input{{Name: "a", Shape: vector}, {Name: "b", Shape: vector}}, sumAndDifference)
		x := upload(t, b, 1, 2, 3)
		defer program.Free(x)
		if _, err := p.Call(x); err == nil {
			t.Error("one input of two: no error")
		}
	})
}

func TestCounterAndClose(t *testing.T) {
	b, counter := pcltest.Backend(t, backend.Go), new(atomic.Int64)
	for want := 1; want <= 2; want++ {
		p := must.Get(program.Compile(b.Backend, counter, "test", []program.Input{{Name: "a", Shape: vector}},
			func(n []*graph.Node) []*graph.Node {
				return n
			}))(t)
		p.Close()
		p.Close()
		if int(counter.Load()) != want {
			t.Errorf("counted %d compilations, want %d", counter.Load(), want)
		}
	}
	var none *program.Program
	none.Close()
}
