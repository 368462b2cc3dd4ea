package method

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestGDumbIsIdle: the parameters of the run stay as they were drawn.
func TestGDumbIsIdle(t *testing.T) {
	l := run(t, "gdumb", nil, perClass, 0)
	if first := l.drawn(seed.New(1, "init")); l.steps != 0 || !slices.Equal(l.at[rehearsal.Now], first) {
		t.Errorf("%d steps were made", l.steps)
	}
	for class := range 6 {
		if n := countClass(l.store.Items(everyIndex(l.store)), class); n != 6 {
			t.Errorf("class %d has %d samples, want 6", class, n)
		}
	}
}

// TestGDumbTrains a network apart, on the store alone, and leaves the run as it was.
func TestGDumbTrains(t *testing.T) {
	for _, batch := range []int{1, 3, 8, 40} {
		l := newLinearLab(t, build(t, "gdumb", values{"passes": 16}), perClass)
		m := role[rehearsal.Predictor](t, l.method)
		l.batch = batch
		for c := 0; c < 6; c += 2 {
			l.attach(10, c, c+1)
		}
		for len(l.Running()) > 0 {
			l.step(t)
		}
		before, err := l.rng.MarshalBinary()
		must(t, err)
		theta := slices.Clone(l.at[rehearsal.Now])
		must(t, m.Prepare(l))
		apart := slices.Clone(l.at[rehearsal.Apart])
		samples, mixed, size := 0.0, 0, max(1, min(16, batch/2))
		for _, d := range l.descents {
			n := float64(len(d.samples))
			if d.sgd.Momentum != .9 || d.sgd.Decay != 1e-6 || d.sgd.Clip != 10 || len(d.samples) > max(1, 2*size) {
				t.Fatalf("batch size %d: a step on %d samples with %+v", batch, len(d.samples), d.sgd)
			}
			if d.shares != nil {
				mixed, n = mixed+1, n/2
				if sum := total(d.shares); math.Abs(sum-1) > 1e-12 {
					t.Errorf("shares sum to %g", sum)
				}
			}
			samples += n
		}
		if samples != 16*36 || batch > 3 && (mixed < len(l.descents)/4 || mixed > 3*len(l.descents)/4) {
			t.Errorf("batch size %d: %g samples in %d steps, %d of them mixed; want 16 passes over 36", batch, samples, len(l.descents), mixed)
		}
		must(t, m.Prepare(l))
		after, err := l.rng.MarshalBinary()
		must(t, err)
		if !slices.Equal(before, after) || !slices.Equal(theta, l.at[rehearsal.Now]) {
			t.Error("evaluating changed the run")
		}
		if !slices.Equal(apart, l.at[rehearsal.Apart]) {
			t.Error("evaluating twice gave two networks")
		}
		if got := l.accuracy(t); got < 0.8 {
			t.Errorf("batch size %d: accuracy %g", batch, got)
		}
	}
}
