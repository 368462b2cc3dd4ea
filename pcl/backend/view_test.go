//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/go-xla/pjrt"
	"github.com/gomlx/gomlx/core/graph"
)

// shared is a buffer of a client, over memory of the host, that holds 0, 1, 2, ….
func shared(t testing.TB, on compute.Backend, dims ...int) (compute.Buffer, []float32) {
	t.Helper()
	b, flat, err := on.NewSharedBuffer(0, shapes.Make(dtypes.Float32, dims...))
	if err != nil {
		t.Fatal(err)
	}
	values := flat.([]float32)
	for i := range values {
		values[i] = float32(i)
	}
	return b, values
}

func mustView(t testing.TB, on compute.Backend, of compute.Buffer) compute.Buffer {
	t.Helper()
	v, err := View(on, of)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// values are a buffer's, where they are.
func values(t testing.TB, b compute.Buffer) []float32 {
	t.Helper()
	flat, err := b.Data()
	if err != nil {
		t.Fatal(err)
	}
	return flat.([]float32)
}

// plus compiles x → x + n for a client.
func plus(t testing.TB, on compute.Backend, n float64, dims ...int) compute.Executable {
	t.Helper()
	g := graph.NewGraph(on, "plus")
	x := graph.Parameter(g, "x", shapes.Make(dtypes.Float32, dims...))
	if err := g.Compile(graph.AddScalar(x, n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Finalize)
	return g.Executable()
}

// execute runs a program of one input and one output.
func execute(t testing.TB, e compute.Executable, in compute.Buffer) compute.Buffer {
	t.Helper()
	out, err := e.Execute([]compute.Buffer{in}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func TestClients(t *testing.T) {
	before := len(poolThreads(t))
	b := mustOpen(t, Options{Name: XLACPU, CacheDir: realCache(t), Clients: 3})
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
	one := mustOpen(t, Options{Name: XLACPU, CacheDir: realCache(t), Clients: 1})
	if c := one.Clients(); len(c) != 1 || c[0] != one.Backend || one.Info.Clients != 0 {
		t.Errorf("one client: %v, %+v", c, one.Info)
	}
}

// Where clients could not read each other's memory there is one, or none.
func TestClientsNeedSharedMemory(t *testing.T) {
	t.Setenv(EnvSeparate, "1")
	if b, err := Open(t.Context(), Options{Name: XLACPU, CacheDir: realCache(t), Clients: 2}); err == nil {
		b.Close()
		t.Error("two clients with separate memory")
	}
}

// TestView hands memory from client to client, as a step of training does: what the host wrote, what the
// first client computed, what the second one computed from that.
func TestView(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, CacheDir: realCache(t), Clients: 2})
	first, second := b.Clients()[0], b.Clients()[1]
	for _, dims := range [][]int{nil, {1}, {7}, {2, 3}, {1 << 20}} {
		t.Run(fmt.Sprint(dims), func(t *testing.T) {
			plus1, plus10 := plus(t, first, 1, dims...), plus(t, second, 10, dims...)
			x, written := shared(t, first, dims...)
			y := execute(t, plus1, x)
			onSecond := mustView(t, second, y)
			z := execute(t, plus10, onSecond)
			onFirst := mustView(t, first, z)
			last := execute(t, plus1, onFirst)
			for i, v := range values(t, last) {
				if v != float32(i)+12 {
					t.Fatalf("entry %d is %g, want %d", i, v, i+12)
				}
			}
			if &values(t, onSecond)[0] != &values(t, y)[0] || &values(t, onFirst)[0] != &values(t, z)[0] {
				t.Error("a view has memory of its own")
			}
			host := mustView(t, second, x)
			written[0] = 5
			if got := values(t, execute(t, plus10, host))[0]; got != 15 {
				t.Errorf("the host wrote 5, plus 10 is %g", got)
			}
			for _, v := range []compute.Buffer{onSecond, onFirst, host} {
				if err := v.Finalize(); err != nil {
					t.Error(err)
				}
			}
			if got := values(t, y)[0]; got != 1 {
				t.Errorf("without its view the buffer holds %g, want 1", got)
			}
		})
	}
}

func TestViewOfIntegers(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, CacheDir: realCache(t), Clients: 2})
	x, flat, err := b.NewSharedBuffer(0, shapes.Make(dtypes.Int32, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Finalize()
	copy(flat.([]int32), []int32{1, 2, 3, 4})
	v := mustView(t, b.Clients()[1], x)
	defer v.Finalize()
	got := make([]int32, 4)
	if err := v.ToFlatData(got); err != nil || !slices.Equal(got, []int32{1, 2, 3, 4}) {
		t.Errorf("%v, %v", got, err)
	}
	if s, err := v.Shape(); err != nil || !s.Equal(shapes.Make(dtypes.Int32, 2, 2)) {
		t.Errorf("shape %s, %v", s, err)
	}
}

func TestViewRefusals(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, CacheDir: realCache(t), Clients: 2})
	pure := mustOpen(t, Options{Name: Go})
	here, _ := shared(t, b, 4)
	defer here.Finalize()
	gone, _ := shared(t, b, 4)
	gone.Finalize()
	elsewhere, err := pure.BufferFromFlatData(0, make([]float32, 4), shapes.Make(dtypes.Float32, 4))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		on compute.Backend
		of compute.Buffer
	}{
		"on another kind of backend": {pure, here},
		"of another kind of backend": {b.Clients()[1], elsewhere},
		"of a buffer that is gone":   {b.Clients()[1], gone},
	} {
		if v, err := View(c.on, c.of); err == nil || v != nil {
			t.Errorf("view %s: %v, error %v", name, v, err)
		}
	}
}

// A view that can be reached keeps the buffer that it shows from the collector, and no longer.
func TestCollectorLeavesWhatIsViewed(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, CacheDir: realCache(t), Clients: 2})
	first, second := b.Clients()[0], b.Clients()[1]
	collect := func() {
		for range 5 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond)
		}
	}
	collect()
	alive := pjrt.BuffersAlive()
	view := func() compute.Buffer {
		x, _ := shared(t, first, 1000)
		return mustView(t, second, x)
	}()
	collect()
	if got := pjrt.BuffersAlive() - alive; got != 2 {
		t.Errorf("%d buffers are alive, want the view and what it shows", got)
	}
	if got := values(t, view)[999]; got != 999 {
		t.Errorf("the last entry is %g", got)
	}
	view.Finalize()
	runtime.KeepAlive(view)
	view = nil
	collect()
	if got := pjrt.BuffersAlive() - alive; got > 0 {
		t.Errorf("%d buffers are alive after the view", got)
	}
}

// TestViewsDoNotLeak makes as many views as a long run does.
func TestViewsDoNotLeak(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, CacheDir: realCache(t), Clients: 2})
	x, _ := shared(t, b, 100_000)
	defer x.Finalize()
	second := b.Clients()[1]
	views := func(n int) {
		for range n {
			if err := mustView(t, second, x).Finalize(); err != nil {
				t.Fatal(err)
			}
		}
		debug.FreeOSMemory()
	}
	views(10_000)
	alive, before := pjrt.BuffersAlive(), residentMB(t)
	began := time.Now()
	views(100_000)
	t.Logf("%s a view", time.Since(began)/100_000)
	if got := pjrt.BuffersAlive() - alive; got > 0 {
		t.Errorf("%d buffers more than before", got)
	}
	if grown := residentMB(t) - before; grown > 20 { // 200 bytes a view
		t.Errorf("resident memory grew by %.1f MB", grown)
	}
}

// residentMB is what of this process is in memory.
func residentMB(t *testing.T) float64 {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(string(bytes.Fields(statm)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// The pinned version of the binding has the fields that views are made from, and no other name or type
// is taken for one of them.
func TestMembersOfTheBinding(t *testing.T) {
	if err := viewable(); err != nil {
		t.Error(err)
	}
	type thing struct {
		a int8
		b string
	}
	s := &thing{1, "two"}
	if p := member[string](s, "b"); p == nil || *p != "two" {
		t.Errorf("b is %v", p)
	}
	if member[int](s, "b") != nil || member[string](s, "c") != nil {
		t.Errorf("found a member that %s has not", reflect.TypeOf(s))
	}
}

func BenchmarkView(b *testing.B) {
	be := mustOpen(b, Options{Name: XLACPU, CacheDir: realCache(b), Clients: 2})
	x, _ := shared(b, be, 100_000)
	for b.Loop() {
		mustView(b, be.Clients()[1], x).Finalize()
	}
}
