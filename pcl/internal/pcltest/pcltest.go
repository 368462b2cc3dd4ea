// Package pcltest provides what the tests of several packages need: a small image set, and backends
// opened once for all tests.
package pcltest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Blobs returns a set of 8×8 grey images of the given number of classes. Each class is a fixed
// random pattern with noise added, which is easy enough to be learnt in a few steps.
func Blobs(classes, train, test int) *datasets.Dataset {
	d := &datasets.Dataset{Name: "blobs", Height: 8, Width: 8, Channels: 1}
	patterns := make([][64]float64, classes)
	rng := seed.New(1, "blobs")
	for c := range patterns {
		d.Classes = append(d.Classes, string(rune('A'+c)))
		for p := range patterns[c] {
			patterns[c][p] = 255 * rng.Float64()
		}
	}
	fill := func(perClass int) (s datasets.Split) {
		for range perClass {
			for c := range patterns {
				for _, mean := range patterns[c] {
					v := mean + 40*rng.NormFloat64()
					s.Pixels = append(s.Pixels, uint8(min(max(v, 0), 255)))
				}
				s.Labels = append(s.Labels, int32(c))
			}
		}
		return s
	}
	d.Train, d.Test = fill(train), fill(test)
	return d
}

var (
	mu     sync.Mutex
	opened = map[string]*backend.Backend{}
)

// Backend returns the backend of that name, opened once for the whole test binary. If XLA is not
// available, the test is skipped, or fails if the environment variable CI is set.
func Backend(t testing.TB, name string) *backend.Backend {
	return open(t, backend.Options{Name: name, Clients: 1}, false)
}

// Clients returns an XLA CPU backend of n clients.
func Clients(t testing.TB, n int) *backend.Backend {
	return open(t, backend.Options{Name: backend.XLACPU, Clients: n}, false)
}

// Separate returns an XLA CPU backend that treats its memory as separate from the host's, as a
// GPU's is.
func Separate(t testing.TB) *backend.Backend {
	return open(t, backend.Options{Name: backend.XLACPU, Clients: 1}, true)
}

func open(t testing.TB, o backend.Options, separate bool) *backend.Backend {
	t.Helper()
	key := fmt.Sprint(o.Name, o.Clients, separate)
	mu.Lock()
	defer mu.Unlock()
	if b := opened[key]; b != nil {
		return b
	}
	if separate {
		const separately = "PARALLELCL_SEPARATE_MEMORY"
		os.Setenv(separately, "1")
		defer os.Unsetenv(separately)
	}
	b, err := backend.Open(context.Background(), o)
	if err != nil {
		if os.Getenv("CI") != "" || o.Name == backend.Go {
			t.Fatalf("backend %s: %v", o.Name, err)
		}
		t.Skipf("backend %s is not available here: %v", o.Name, err)
	}
	opened[key] = b
	return b
}

// Both runs a test on the XLA CPU backend and on the pure Go backend.
func Both(t *testing.T, test func(t *testing.T, b *backend.Backend)) {
	for _, name := range []string{backend.XLACPU, backend.Go} {
		t.Run(name, func(t *testing.T) { test(t, Backend(t, name)) })
	}
}

// Normal returns n draws of a standard normal variable.
func Normal(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// Within compares entry by entry, up to a part of each and of 1.
func Within(t testing.TB, what string, tol float64, got []float64, want ...float64) {
	t.Helper()
	for i, x := range want {
		if !(math.Abs(got[i]-x) <= tol*(1+math.Abs(x))) {
			t.Errorf("%s: entry %d is %g, want %g", what, i, got[i], x)
			return
		}
	}
}
