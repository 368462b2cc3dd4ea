//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/must"
)

// shared is a buffer of a client, over memory of the host, that holds 0, 1, 2, ….
func shared(t testing.TB, on compute.Backend, dims ...int) (compute.Buffer, []float32) {
	t.Helper()
	b, flat, err := on.NewSharedBuffer(0, shapes.Make(dtypes.Float32, dims...))
	must.Do(t, err)
	values := flat.([]float32)
	for i := range values {
		values[i] = float32(i)
	}
	return b, values
}

// plus compiles x → x + n for a client.
func plus(t testing.TB, on compute.Backend, n float64, dims ...int) compute.Executable {
	t.Helper()
	g := graph.NewGraph(on, "plus")
	x := graph.Parameter(g, "x", shapes.Make(dtypes.Float32, dims...))
	must.Do(t, g.Compile(graph.AddScalar(x, n)))
	t.Cleanup(g.Finalize)
	return g.Executable()
}

// execute runs a program of one input and one output.
func execute(t testing.TB, e compute.Executable, in compute.Buffer) compute.Buffer {
	t.Helper()
	return must.Get(e.Execute([]compute.Buffer{in}, nil, 0))(t)[0]
}

func TestClients(t *testing.T) {
	before := len(poolThreads(t))
	b := mustOpen(t, Options{Name: XLACPU, cache: realCache(t), Clients: 3})
	clients := b.Clients()
	if len(clients) != 3 || clients[0] != b.Backend || clients[1] == clients[2] || clients[0] == clients[1] {
		t.Fatalf("clients %v", clients)
	}
	if got := len(poolThreads(t)) - before; got != 3 {
		t.Errorf("%d threads, want one for each client", got)
	}
	if b.Info.Clients != 3 || b.Info.Threads != 1 || !strings.Contains(b.Info.String(), "1 thread in each of 3 clients") {
		t.Errorf("%+v: %s", b.Info, b.Info)
	}
	b.Close()
	for i, c := range clients {
		if !c.IsFinalized() {
			t.Errorf("client %d was not closed", i)
		}
	}
	for _, o := range []Options{{Clients: 1}, {Threads: 1}} {
		o.Name, o.cache = XLACPU, realCache(t)
		one := mustOpen(t, o)
		if c := one.Clients(); len(c) != 1 || c[0] != one.Backend || one.Info.Clients != 0 {
			t.Errorf("one client: %v, %+v", c, one.Info)
		}
	}
	many := mustOpen(t, Options{Name: XLACPU, cache: realCache(t)})
	if n := len(many.Clients()); n != min(runtime.GOMAXPROCS(0), mostClients) {
		t.Errorf("%d clients by default", n)
	}
}

// Where clients could not read each other's memory there is one, or none.
func TestClientsNeedSharedMemory(t *testing.T) {
	t.Setenv(envSeparate, "1")
	if b, err := Open(t.Context(), Options{Name: XLACPU, cache: realCache(t), Clients: 2}); err == nil {
		b.Close()
		t.Error("two clients with separate memory")
	}
}

// TestCopy hands values from client to client, as a step of training does: what the host wrote,
// what the first client computed, what the second one computed from that.
func TestCopy(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, cache: realCache(t), Clients: 2})
	first, second := b.Clients()[0], b.Clients()[1]
	for _, dims := range [][]int{nil, {1}, {7}, {2, 3}, {1 << 20}} {
		t.Run(fmt.Sprint(dims), func(t *testing.T) {
			plus1, plus10 := plus(t, first, 1, dims...), plus(t, second, 10, dims...)
			x, written := shared(t, first, dims...)
			y := execute(t, plus1, x)
			z := execute(t, plus10, must.Get(Copy(second, y))(t))
			last := execute(t, plus1, must.Get(Copy(first, z))(t))
			for i, v := range must.Get(last.Data())(t).([]float32) {
				if v != float32(i)+12 {
					t.Fatalf("entry %d is %g, want %d", i, v, i+12)
				}
			}
			kept := must.Get(Copy(second, x))(t)
			written[0] = 5
			if got := must.Get(execute(t, plus10, kept).Data())(t).([]float32)[0]; got != 10 {
				t.Errorf("a copy of 0, plus 10, is %g after the original changed", got)
			}
		})
	}
}
