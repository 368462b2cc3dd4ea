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
	switch {
	case len(clients) != 3:
		t.Fatalf("len(clients) is %d; want 3", len(clients))
	case clients[0] != b.Backend:
		t.Fatalf("clients[0] is %v; want %v", clients[0], b.Backend)
	case clients[1] == clients[2]:
		t.Fatalf("clients[1] and clients[2] are both %v", clients[1])
	case clients[0] == clients[1]:
		t.Fatalf("clients[0] and clients[1] are both %v", clients[0])
	}
	if got := len(poolThreads(t)) - before; got != 3 {
		t.Errorf("%d threads, want one for each client", got)
	}
	switch {
	case b.Info.Clients != 3:
		t.Errorf("%+v: b.Info.Clients is %d; want 3", b.Info, b.Info.Clients)
	case b.Info.Threads != 1:
		t.Errorf("%+v: b.Info.Threads is %d; want 1", b.Info, b.Info.Threads)
	case !strings.Contains(b.Info.String(), "1 thread in each of 3 clients"):
		t.Errorf("%+v: b.Info.String() is %q; want %q in it", b.Info, b.Info.String(), "1 thread in each of 3 clients")
	}
	b.Close()
	for i, c := range clients {
		if !c.IsFinalized() {
			t.Errorf("client %d was not closed", i)
		}
	}
	for _, o := range []Options{{Clients: 1}, {Threads: 1}} {
		t.Run(o.Name, func(t *testing.T) {
			o.Name, o.cache = XLACPU, realCache(t)
			one := mustOpen(t, o)
			switch c := one.Clients(); {
			case len(c) != 1:
				t.Errorf("one client: len(c) is %d; want 1", len(c))
			case c[0] != one.Backend:
				t.Errorf("one client: c[0] is %v; want %v", c[0], one.Backend)
			case one.Info.Clients != 0:
				t.Errorf("one client: one.Info.Clients is %d; want 0", one.Info.Clients)
			}
		})
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
