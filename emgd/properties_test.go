package emgd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// drawRows draws well-conditioned gradients: the limiting cases compare weights, which near-copies
// would leave undetermined.
func drawRows(t *rapid.T, minK, maxK int) [][]float64 {
	k := rapid.IntRange(minK, maxK).Draw(t, "K")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
	rows := gaussian(r, k, k+3)
	shift := rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "shift")
	for i := range rows {
		f := math.Exp(r.NormFloat64())
		for p := range rows[i] {
			rows[i][p] = f * (rows[i][p] + shift)
		}
	}
	return rows
}

func drawSigma(t *rapid.T, k int) []float64 {
	return shares(rapid.SliceOfN(rapid.Float64Range(0.05, 1), k, k).Draw(t, "σ")...)
}

// shares are the numbers divided by their sum.
func shares(v ...float64) []float64 {
	floats.Scale(1/floats.Sum(v), v)
	return v
}

func near(t rapid.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	size := 0.0
	for _, x := range want {
		size = max(size, math.Abs(x))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*(size+1e-300)) {
			t.Fatalf("%s = %v, want %v", what, got, want)
		}
	}
}

// solveRows solves by the Gram matrix, and verifies the certificate.
func solveRows(t rapid.TB, s *Solver, rows [][]float64, sigma []float64) *Certificate {
	t.Helper()
	p := of(gramOf(rows))
	c, err := s.Solve(p, sigma)
	if err == nil {
		err = c.Verify(p, 1e-9)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.Clone()
}

func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 2, 10)
		k := len(rows)
		sigma := drawSigma(t, k)
		perm := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1)).Perm(k)
		shuffled, factors := make([][]float64, k), make([]float64, k)
		for i, j := range perm {
			shuffled[i], factors[i] = rows[j], sigma[j]
		}
		c, e := solveRows(t, &Solver{}, rows, sigma), solveRows(t, &Solver{}, shuffled, factors)
		want := make([]float64, k)
		for i, j := range perm {
			want[i] = c.Lambda[j]
		}
		near(t, "λ of permuted rows", e.Lambda, want, 1e-8)
	})
}

func TestScaleInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 1, 10)
		sigma := drawSigma(t, len(rows))
		c := solveRows(t, &Solver{}, rows, sigma)
		f := math.Pow(10, rapid.Float64Range(-15, 15).Draw(t, "log scale"))
		scaled := make([][]float64, len(rows))
		for i, row := range rows {
			for _, x := range row {
				scaled[i] = append(scaled[i], f*x)
			}
		}
		e := solveRows(t, &Solver{}, scaled, sigma)
		near(t, "λ of scaled gradients", e.Lambda, c.Lambda, 1e-8)

		// Scaling a row and its factor together leaves λ_i·(row i) unchanged.
		rowwise, factors, want := make([][]float64, len(rows)), make([]float64, len(rows)), make([]float64, len(rows))
		for i, row := range rows {
			g := math.Pow(10, rapid.Float64Range(-12, 12).Draw(t, "log row scale"))
			for _, x := range row {
				rowwise[i] = append(rowwise[i], g*x)
			}
			factors[i], want[i] = g*sigma[i], c.Lambda[i]
		}
		e = solveRows(t, &Solver{ZeroTol: -1}, rowwise, factors)
		got := make([]float64, len(rows))
		for i := range got {
			got[i] = e.Lambda[i] * factors[i] / sigma[i]
		}
		near(t, "λ of row-scaled gradients", got, want, 1e-7)
	})
}

func TestEqualFactorsAreMGDA(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 1, 10)
		k := len(rows)
		mgda := solveRows(t, &Solver{}, rows, slices.Repeat([]float64{1}, k))
		equal := solveRows(t, &Solver{}, rows, slices.Repeat([]float64{1 / float64(k)}, k))
		want := make([]float64, k)
		for i := range want {
			want[i] = float64(k) * mgda.Lambda[i]
		}
		near(t, "λ", equal.Lambda, want, 1e-9)
	})
}

func TestDegenerate(t *testing.T) {
	tests := []struct {
		name   string
		rows   [][]float64
		sigma  []float64
		solver Solver
		lambda []float64
		norm2  float64
		status Status
	}{
		{"one", [][]float64{{3, 4}}, []float64{.25}, Solver{}, []float64{4}, 400, Optimal},
		{"identical", [][]float64{{1, 2}, {1, 2}}, []float64{1, 1}, Solver{}, []float64{.5, .5}, 5, Optimal},
		{"opposite", [][]float64{{1, 2}, {-1, -2}}, []float64{.5, .5}, Solver{}, []float64{1, 1}, 0, Stationary},
		{"opposite lengths", [][]float64{{1, 2}, {-2, -4}}, []float64{1, 1}, Solver{}, []float64{2. / 3, 1. / 3}, 0,
			Stationary},
		{"opposite constraints", [][]float64{{1, 1}, {0, 2}, {0, -3}}, []float64{1, 0, 0}, Solver{}, nil, 1, Optimal},
		{"zero dropped", [][]float64{{1, 2}, {0, 0}}, []float64{.5, .5}, Solver{}, []float64{2, 0}, 20, RowsDropped},
		{"zero dropped without a factor", [][]float64{{1, 2}, {0, 0}}, []float64{.5, 0}, Solver{}, []float64{2, 0},
			20, Optimal},
		{"tiny dropped", [][]float64{{1, 2}, {1e-13, 0}}, []float64{.5, .5}, Solver{}, []float64{2, 0}, 20, RowsDropped},
		{"tiny dropped and gaining", [][]float64{{1, 2}, {1e-13, 0}}, []float64{.5, 1e-14}, Solver{}, []float64{2, 0},
			20, Optimal},
		{"tiny dropped and losing", [][]float64{{1, 2}, {-1e-13, 0}}, []float64{.5, 0}, Solver{}, []float64{2, 0}, 20,
			RowsDropped},
		{"tiny proposed", [][]float64{{1, 2}, {1e-13, 0}}, []float64{0, 1}, Solver{}, []float64{0, 1}, 1e-26, Optimal},
		{"tiny proposed against a long one", [][]float64{{1, 0}, {-1e-13, 1e-13}}, []float64{0, 1}, Solver{},
			[]float64{1e-13, 1}, 1e-26, Optimal},
		{"tiny kept", [][]float64{{1, 2}, {1e-13, 0}}, []float64{1, 1}, Solver{ZeroTol: -1}, []float64{0, 1}, 1e-26, Optimal},
		{"all zero", [][]float64{{0, 0}, {0, 0}}, []float64{.5, .5}, Solver{}, []float64{1, 1}, 0, Stationary},
		{"proposed zero", [][]float64{{0, 0}, {1, 0}}, []float64{1, 0}, Solver{}, []float64{1, 0}, 0, Stationary},
		{"origin inside", [][]float64{{1, 0}, {-1, 1}, {-1, -1}}, []float64{1, 1, 1}, Solver{}, []float64{.5, .25, .25}, 0,
			Stationary},
		{"floor at its limit", [][]float64{{1, 0}, {0, 1}}, []float64{.5, .5}, Solver{Floor: 1}, []float64{1, 1}, 2,
			FloorBinding},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := solveRows(t, &tt.solver, tt.rows, tt.sigma)
			if tt.lambda != nil {
				near(t, "λ", c.Lambda, tt.lambda, 1e-12)
			}
			if math.Abs(c.Norm2-tt.norm2) > 1e-12*tt.norm2 || c.Status != tt.status {
				t.Errorf("‖d‖² = %v, status %v; want %v, %v", c.Norm2, c.Status, tt.norm2, tt.status)
			}
			if !(c.Cancellation >= 0 && c.Cancellation <= 1) {
				t.Errorf("cancellation %v", c.Cancellation)
			}
		})
	}
}

func TestVerifyRejects(t *testing.T) {
	gram := gramOf(threeRows)
	for name, spoil := range map[string]func(*Certificate){
		"weights": func(c *Certificate) { c.Lambda[0] *= 1.001 },
		"support": func(c *Certificate) { copy(c.Lambda, []float64{0, 0, 2}); c.Norm2, c.Level = 36, 36 },
		"status":  func(c *Certificate) { c.Status = Stationary },
		"level":   func(c *Certificate) { c.Level *= 1.001 },
		"norm":    func(c *Certificate) { c.Norm2 *= 1.001 },
		"slacks":  func(c *Certificate) { c.Slacks[2] += 1 },
		"active":  func(c *Certificate) { c.Active = []int{7, -3} },
		"rows":    func(c *Certificate) { c.Active = c.Active[:1] },
		"dropped": func(c *Certificate) { c.Dropped, c.Status = []int{0, 1, 2}, RowsDropped },
		"floor":   func(c *Certificate) { c.Status = FloorBinding },
		"loser":   func(c *Certificate) { c.Status = RowsDropped },
		"number":  func(c *Certificate) { c.Status = 99 },
	} {
		t.Run(name, func(t *testing.T) {
			c := solveRows(t, &Solver{}, threeRows, []float64{.2, .3, .5})
			spoil(c)
			if c.Verify(of(gram), 1e-9) == nil {
				t.Errorf("a certificate with wrong %s passes", name)
			}
		})
	}
	floor := Certificate{Floor: .1, Sigma: []float64{.5, .5}, Lambda: []float64{1.5, .5}, Norm2: 2.5,
		Slacks: []float64{1.5, .5}, Status: Optimal}
	if floor.Verify(of([]float64{1, 0, 0, 1}), 1e-9) == nil { // the optimum is (1, 1)
		t.Error("a certificate that names no active rows passes")
	}
	stationary := []float64{1, -1, -1, 1}
	c, err := new(Solver).Solve(of(stationary), []float64{1, 1})
	if err != nil || c.Verify(of(stationary), 1e-9) != nil {
		t.Fatalf("a stationary point: %v", expect.Text(err))
	}
	if c.Status = Optimal; c.Verify(of(stationary), 1e-9) == nil {
		t.Error("a stationary point passes as optimal")
	}
	binding := []float64{1, 0, 0, 100}
	switch c, err = (&Solver{Floor: .3}).Solve(of(binding), []float64{1, 1}); {
	case err != nil:
		t.Fatalf("a floor that binds: %v", err)
	case c.Status != FloorBinding:
		t.Fatalf("a floor that binds: c.Status is %v; want %v", c.Status, FloorBinding)
	case c.Verify(of(binding), 1e-9) != nil:
		t.Fatalf("a floor that binds: %v", c.Verify(of(binding), 1e-9))
	}
	if c.Status = Optimal; c.Verify(of(binding), 1e-9) == nil {
		t.Error("a floor that binds passes as optimal")
	}
	invented := Certificate{Lambda: []float64{5, 0, 0}, Sigma: []float64{.2, .3, .5}, Slacks: make([]float64, 3),
		Norm2: 100, Level: 100, Dropped: []int{0, 1, 2}}
	for _, invented.Status = range []Status{Optimal, RowsDropped, IllConditioned, FloorBinding} {
		if invented.Verify(of([]float64{4, -1, 1, -1, 9, 1, 1, 1, 1}), 1e-9) == nil {
			t.Errorf("an invented certificate passes as %v", invented.Status)
		}
	}
}

func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ gram, sigma []float64 }{
		{nil, nil},
		{[]float64{1, 0, 0}, []float64{1, 1}},
		{[]float64{1, nan, 0, 1}, []float64{1, 1}},
		{[]float64{1, 0, inf, 1}, []float64{1, 1}},
		{[]float64{1, 0, 0, -1}, []float64{1, 1}},
		{[]float64{1, .5, .2, 1}, []float64{1, 1}},
		{[]float64{1, 2, 2, 1}, []float64{1, 1}},
		{[]float64{0, 2, 2, 1}, []float64{1, 1}},
		{[]float64{5e-324, 2e-323, 2e-323, 5e-324}, []float64{1, 1}}, // of gradients of length 1e-162, after rounding
		{[]float64{1, 0, 0, 1}, []float64{1, -1}},
		{[]float64{1, 0, 0, 1}, []float64{nan, 1}},
		{[]float64{1, 0, 0, 1}, []float64{inf, 1}},
		{[]float64{1, 0, 0, 1}, []float64{0, 0}},
		{[]float64{1}, []float64{1e-320}},
		{[]float64{0}, []float64{1e-320}},
	} {
		p, err := NewProblem(c.gram)
		if err == nil {
			_, err = new(Solver).Solve(p, c.sigma)
		}
		if err == nil {
			t.Errorf("Solve(%v, %v): no error", c.gram, c.sigma)
		}
	}
	for _, rows := range [][][]float64{nil, {{1, 2}, {3}}, {{1, nan}}} {
		if _, err := FromGradients(rows); err == nil {
			t.Errorf("FromGradients(%v): no error", rows)
		}
	}
	for _, s := range []*Solver{{Floor: -1}, {Floor: nan}, {ZeroTol: nan}, {ZeroTol: 1}, {ZeroTol: -inf}} {
		panics(t, s, func() { s.Solve(of([]float64{1, 0, 0, 1}), []float64{1, 1}) })
	}
}

func panics(t *testing.T, setting any, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%+v: no panic", setting)
		}
	}()
	call()
}

func TestNoAllocations(t *testing.T) {
	for _, k := range []int{1, 2, 5, 20} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			gram, sigma := benchmarkProblem(k)
			p := of(gram)
			for _, floor := range []float64{0, 1 / float64(k+1)} {
				s := Solver{Floor: floor}
				if n := testing.AllocsPerRun(20, func() {
					if _, err := s.Solve(p, sigma); err != nil {
						t.Fatal(err)
					}
				}); n != 0 {
					t.Errorf("K=%d: %v allocations per solve", k, n)
				}
			}
		})
	}
}

// A solver that has seen other problems answers like a new one, and a clone outlives the next call.
func TestReuse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var used Solver
	var last, kept *Certificate
	for range 2000 {
		p := randomProblem(r)
		problem := of(gramOf(p.rows))
		used.Floor, used.ZeroTol = p.solver.Floor, p.solver.ZeroTol
		fresh, again := must.Get(p.solver.Solve(problem, p.sigma))(t), must.Get(used.Solve(problem, p.sigma))(t)
		if !slices.Equal(fresh.Lambda, again.Lambda) || !slices.Equal(fresh.Slacks, again.Slacks) {
			t.Fatalf("a used solver gives λ = %v, a new one %v", again.Lambda, fresh.Lambda)
		}
		if last != nil && (kept.Lambda[0] != last.Lambda[0] || kept.Status != last.Status) {
			t.Fatal("a clone changed")
		}
		last, kept = fresh.Clone(), again.Clone()
	}
}
