//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"io"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestSignalsOfPools: signals do not reach the threads that compute, except those of their own
// faults.
func TestSignalsOfPools(t *testing.T) {
	mustMultiply(t, mustOpen(t, Options{Name: XLACPU, cache: realCache(t), Threads: 2}))
	pool := poolThreads(t)
	for _, thread := range pool {
		blocked := must.Get(strconv.ParseUint(procFields(filepath.Join(thread, "status"))["SigBlk"], 16, 64))(t)
		for s, want := range map[syscall.Signal]bool{syscall.SIGPROF: true, syscall.SIGINT: true, syscall.SIGTERM: true,
			syscall.SIGSEGV: false, syscall.SIGABRT: false} {
			if got := blocked>>(s-1)&1 == 1; got != want {
				t.Errorf("%s: signal %v is blocked: %t, want %t", thread, s, got, want)
			}
		}
	}
	if len(pool) == 0 {
		t.Error("there are no threads of the pool")
	}
}

// TestProfiled: products that are computed while Go's profiler interrupts the process leave the
// heap as it is. Where the signals reached the pool, this ended the process.
func TestProfiled(t *testing.T) {
	b := mustOpen(t, Options{Name: XLACPU, cache: realCache(t)})
	convolve := graph.MustNewExec(b, func(x, k *graph.Node) *graph.Node {
		y := graph.ReduceAllSum(graph.Square(graph.Convolve(x, k).PadSame().Done()))
		return graph.Gradient(y, k)[0]
	})
	defer convolve.Finalize()
	x := tensors.FromScalarAndDimensions(float32(0.5), 32, 32, 32, 8)
	defer x.FinalizeAll()
	k := tensors.FromScalarAndDimensions(float32(0.5), 3, 3, 8, 8)
	defer k.FinalizeAll()
	if err := pprof.StartCPUProfile(io.Discard); err == nil { // otherwise the tests themselves are being profiled
		defer pprof.StopCPUProfile()
	}
	for began := time.Now(); time.Since(began) < time.Second; {
		out := must.Get(convolve.Call1(x, k))(t)
		out.FinalizeAll()
	}
}
