package pcl

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// resident returns the megabytes of this process that are in memory, on the device's side too: XLA
// CPU's buffers are this process's.
func resident(t *testing.T) float64 {
	t.Helper()
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	if err != nil {
		t.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// TestNoLeak makes many steps, then many learners; after each has happened once, memory stays.
func TestNoLeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc, which only Linux has")
	}
	b := pcltest.Backend(t, backend.XLACPU)
	steps := func(l *Learner, n int) {
		for range n {
			if _, err := l.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	programs := NewPrograms(b)
	defer programs.Close()
	l := psEMNIST(t, b, programs, "emgd-gmc", 3)
	defer l.Close()
	sharing := func() {
		l := psEMNIST(t, b, programs, "emgd-gmc", 2)
		defer l.Close()
		steps(l, 2)
	}
	d := pcltest.Blobs(6, 60, 20)
	compiling := func() {
		own := NewPrograms(b)
		defer own.Close()
		l := smallLearner(t, b, "emgd-gmc", Options{Programs: own})
		defer l.Close()
		attach(t, l, blobTask(t, d, 1, 0, 1))
		steps(l, 2)
	}
	repeat := func(n int, f func()) func() {
		return func() {
			for range n {
				f()
			}
		}
	}
	for _, c := range []struct {
		what        string
		once, again func()
		most        float64 // MB
	}{
		{"100 steps", func() { steps(l, 20) }, func() { steps(l, 100) }, 60},             // their gradients would be 130 MB
		{"40 learners that share programs", repeat(5, sharing), repeat(40, sharing), 30}, // their parameters and moments would be 50 MB
		{"4 learners that compile", compiling, repeat(4, compiling), 40},
	} {
		c.once()
		before := resident(t)
		c.again()
		grown := resident(t) - before
		t.Logf("%s: %+.1f MB on %.0f MB", c.what, grown, before)
		if grown > c.most {
			t.Errorf("%s: resident memory grew by %.1f MB, want at most %.0f", c.what, grown, c.most)
		}
	}
}
