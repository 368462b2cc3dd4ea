//go:build cgo

package program_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/pjrt"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

func compileOn(t testing.TB, on compute.Backend, inputs []program.Input,
	build func(n []*graph.Node) []*graph.Node) *program.Program {
	t.Helper()
	p := must.Get(program.Compile(on, new(atomic.Int64), "test", inputs, build))(t)
	t.Cleanup(p.Close)
	return p
}

// TestCallReadsOtherClients passes a value from client to client and back.
func TestCallReadsOtherClients(t *testing.T) {
	b := pcltest.Clients(t, 2)
	inputs := []program.Input{{Name: "a", Shape: vector}, {Name: "b", Shape: vector}}
	first, second := compileOn(t, b, inputs, sumAndDifference), compileOn(t, b.Clients()[1], inputs, sumAndDifference)
	x, y := upload(t, b, 1, 2, 3), upload(t, b, 10, 20, 30)
	defer program.Free(x, y)
	alive := pjrt.BuffersAlive()
	for range 100 {
		there := must.Get(second.Call(x, y))(t)      // 11 22 33, −9 −18 −27
		back := must.Get(first.Call(there[0], x))(t) // 12 24 36, 10 20 30
		program.Free(there...)
		got := download(t, back...)
		if !slices.Equal(got[0], []float32{12, 24, 36}) || !slices.Equal(got[1], []float32{10, 20, 30}) {
			t.Fatalf("sum and difference are %v", got)
		}
	}
	if got := pjrt.BuffersAlive(); got > alive {
		t.Errorf("%d buffers, %d before", got, alive)
	}
}
