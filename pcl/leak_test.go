package pcl

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// resident returns the megabytes of this process that are in memory, on the device's side too: XLA
// CPU's buffers are this process's.
func resident(t *testing.T) float64 {
	t.Helper()
	debug.FreeOSMemory()
	statm := must.Get(os.ReadFile("/proc/self/statm"))(t)
	pages := must.Get(strconv.Atoi(strings.Fields(string(statm))[1]))(t)
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// TestNoLeak makes many steps, then many learners; after each has happened once, memory stays.
func TestNoLeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc, which only Linux has")
	}
	b := pcltest.Backend(t, backend.XLACPU)
	programs := NewPrograms(b)
	defer programs.Close()
	l := psEMNIST(t, b, programs, "emgd-gmc", 3)
	defer l.Close()
	sharing := func() {
		l := psEMNIST(t, b, programs, "emgd-gmc", 2)
		defer l.Close()
		steps(t, l, 1)
	}
	compiling := func() {
		own := NewPrograms(b)
		defer own.Close()
		l := smallLearner(t, b, "emgd-gmc", Options{Programs: own})
		defer l.Close()
		attach(t, l, blobTask(t, pcltest.Blobs(6, 60, 20), 1, 0, 1))
		steps(t, l, 1)
	}
	for _, c := range []struct {
		what        string
		f           func()
		once, again int
		most        float64 // MB
	}{
		{"steps", func() { steps(t, l, 1) }, 20, 100, 60},    // their gradients would be 130 MB
		{"learners that share programs", sharing, 5, 40, 30}, // their parameters and moments would be 50 MB
		{"learners that compile", compiling, 1, 3, 40},
	} {
		t.Run(c.what, func(t *testing.T) {
			repeat := func(n int) {
				for range n {
					c.f()
				}
			}
			repeat(c.once)
			before := resident(t)
			repeat(c.again)
			grown := resident(t) - before
			t.Logf("%d %s: %+.1f MB on %.0f MB", c.again, c.what, grown, before)
			if grown > c.most {
				t.Errorf("%d %s: resident memory grew by %.1f MB, want at most %.0f", c.again, c.what, grown, c.most)
			}
		})
	}
}
