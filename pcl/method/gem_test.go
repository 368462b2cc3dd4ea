package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// memoryRows names the first n rows of a step as memory rows.
func memoryRows(s *Step, n int) *Step {
	for i := range s.IDs {
		if s.IDs[i] = i - n + 1; i < n {
			s.IDs[i] = -i - 1
		}
	}
	return s
}

func TestGEMOracles(t *testing.T) {
	conflict := [][]float64{{-.25, 1}, {2, 0}}
	for _, c := range []struct {
		params values
		rows   [][]float64
		w, d   []float64
	}{
		{values{"margin": 0, "eps": 0}, conflict, []float64{.470588, 1}, []float64{1.882353, .470588}},
		{values{"margin": .5, "eps": 0}, conflict, []float64{.5, 1}, []float64{1.875, .5}},
		{nil, conflict, []float64{.5, 1}, []float64{1.875, .5}},
		{values{"margin": 0}, conflict, []float64{.5 / 1.0635, 1}, nil},
		{values{"margin": 0, "eps": 0}, [][]float64{base[1], base[0]}, []float64{.578947, 1},
			[]float64{-.526316, 1.578947, 1.578947}},
		{nil, [][]float64{{.25, 1}, {2, 0}}, []float64{0, 1}, []float64{2, 0}},
	} {
		s := memoryRows(sample{rows: c.rows}.step(1), 1)
		w := weigh(t, build(t, "gem", c.params), s)
		if d := direction(c.rows, w); !near(w, c.w, 1e-6) || c.d != nil && !near(d, c.d, 1e-6) {
			t.Errorf("%v on %v: w = %.6f, d = %.6f; want %v, %v", c.params, c.rows, w, d, c.w, c.d)
		}
	}
}

// TestGEMOptimality checks the dual's conditions, which are a proof: v ≥ m, and (GGᵀ+εI)v + Gg is 0
// where v > m and not negative where v = m.
func TestGEMOptimality(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	repaired := 0
	for i := range 2000 {
		n, tasks := 1+r.IntN(6), 1+r.IntN(3)
		margin, eps := []float64{0, .5}[i%2], []float64{0, 1e-3, .3}[i%3]
		scale := math.Pow(10, float64(r.IntN(9)-4))
		sample := sample{rows: scaled(gaussian(r, n+tasks, 2+r.IntN(8)), scale)}
		if i%5 == 0 && n > 1 {
			sample.rows[1] = sample.rows[0]
		}
		s := memoryRows(sample.step(1), n)
		w := weigh(t, build(t, "gem", values{"margin": margin, "eps": eps}), s)
		g := make([]float64, len(w))
		for j := n; j < len(w); j++ {
			if g[j] = 1 / float64(tasks); math.Abs(w[j]-g[j]) > 1e-14 {
				t.Fatalf("a task has weight %g of %d", w[j], tasks)
			}
		}
		if slices.Min(times(s.Gram, g)[:n]) >= 0 {
			if slices.Max(w[:n]) != 0 || slices.Min(w[:n]) != 0 {
				t.Fatalf("without conflict: %v", w)
			}
			continue
		}
		repaired++
		for j, slope := range times(s.Gram, w)[:n] {
			v, size := w[j], eps*w[j]
			for k, x := range w {
				size += math.Abs(s.Gram[j*len(w)+k] * x)
			}
			slope += eps * v
			switch {
			case v < margin-1e-12:
				t.Fatalf("m=%g ε=%g: v is %g; want at least %g", margin, eps, v, margin-1e-12)
			case slope < -1e-7*size:
				t.Fatalf("m=%g ε=%g: slope is %g; want at least %g", margin, eps, slope, -1e-7*size)
			case v > margin+1e-6 && slope > 1e-7*size:
				t.Fatalf("m=%g ε=%g: v = %g with slope %g of %g", margin, eps, v, slope, size)
			}
		}
	}
	if repaired < 500 {
		t.Errorf("only %d cases with a conflict", repaired)
	}
}

// TestGEMLimits: with one reference and no margin it is A-GEM, with more EMGD with a one-hot σ.
func TestGEMLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	exact := values{"margin": 0, "eps": 0}
	for range 300 {
		s := sample{rows: gaussian(r, 2+r.IntN(3), 5)}.step(1)
		want, got := weigh(t, build(t, "a-gem", nil), s), weigh(t, build(t, "gem", exact), s)
		wants(t, got, want, 1e-9, "one reference")
		n := 1 + r.IntN(4)
		rows := gaussian(r, n+1, n+2)
		s = memoryRows(sample{rows: rows}.step(1), n)
		w := forSigma(t, s, append(make([]float64, n), 1)...)
		wants(t, direction(rows, weigh(t, build(t, "gem", exact), s)), direction(rows, w), 1e-9, "%d references", n)
	}
}
