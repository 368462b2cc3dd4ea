package emgd

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
	sigma, sum := make([]float64, k), 0.0
	for i := range sigma {
		sigma[i] = rapid.Float64Range(0.05, 1).Draw(t, "σ")
		sum += sigma[i]
	}
	for i := range sigma {
		sigma[i] /= sum
	}
	return sigma
}

func constant(k int, v float64) []float64 {
	out := make([]float64, k)
	for i := range out {
		out[i] = v
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
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

func must(t rapid.TB, s *Solver, rows [][]float64, sigma []float64) *Certificate {
	t.Helper()
	gram := gramOf(rows)
	c, err := s.Solve(of(gram), sigma)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Verify(of(gram), 1e-9); err != nil {
		t.Fatal(err)
	}
	return c.Clone()
}

func TestBounds(t *testing.T) { // docs/method.md §2.6
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 1, 12)
		sigma := drawSigma(t, len(rows))
		c := must(t, &Solver{}, rows, sigma)
		lo, hi, sum, norm := math.Inf(1), 0.0, 0.0, math.Sqrt(c.Norm2)
		gain := 0.0
		d := step(rows, c.Lambda)
		for i, s := range sigma {
			lo, hi = min(lo, 1/s), max(hi, 1/s)
			sum += c.Lambda[i]
			gain += dot(rows[i], d)
			if length := math.Sqrt(dot(rows[i], rows[i])) / s; norm > length*(1+1e-9) {
				t.Fatalf("‖d‖ = %v exceeds ‖J_%d‖/σ = %v", norm, i, length)
			}
		}
		if sum < lo*(1-1e-9) || sum > hi*(1+1e-9) {
			t.Fatalf("Σλ = %v outside [1/σ_max, 1/σ_min] = [%v, %v]", sum, lo, hi)
		}
		if gain < c.Norm2*(1-1e-9) {
			t.Fatalf("ΣJ_i·d = %v is less than ‖d‖² = %v", gain, c.Norm2)
		}
		if len(c.Active) == len(rows) && math.Abs(gain-c.Norm2) > 1e-8*c.Norm2 {
			t.Fatalf("all active, but ΣJ_i·d = %v is not ‖d‖² = %v", gain, c.Norm2)
		}
	})
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
		c, e := must(t, &Solver{}, rows, sigma), must(t, &Solver{}, shuffled, factors)
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
		c := must(t, &Solver{}, rows, sigma)
		f := math.Pow(10, rapid.Float64Range(-15, 15).Draw(t, "log scale"))
		scaled := make([][]float64, len(rows))
		for i, row := range rows {
			for _, x := range row {
				scaled[i] = append(scaled[i], f*x)
			}
		}
		e := must(t, &Solver{}, scaled, sigma)
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
		e = must(t, &Solver{ZeroTol: -1}, rowwise, factors)
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
		mgda := must(t, &Solver{}, rows, constant(k, 1))
		equal := must(t, &Solver{}, rows, constant(k, 1/float64(k)))
		want := make([]float64, k)
		for i := range want {
			want[i] = float64(k) * mgda.Lambda[i]
		}
		near(t, "λ", equal.Lambda, want, 1e-9)
	})
}

// One-hot factors project the chosen gradient onto the cone of the others' half-spaces (GEM); for
// K = 2 that is A-GEM.
func TestOneHotIsGEM(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 2, 2)
		c := must(t, &Solver{}, rows, []float64{1, 0})
		g, ref := rows[0], rows[1]
		want := append([]float64(nil), g...)
		if p := dot(g, ref); p < 0 {
			for i := range want {
				want[i] -= p / dot(ref, ref) * ref[i]
			}
		}
		near(t, "d", step(rows, c.Lambda), want, 1e-9)
	})
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 3, 8)
		hot := make([]float64, len(rows))
		hot[0] = 1
		d := step(rows, must(t, &Solver{}, rows, hot).Lambda)
		// d is the projection of g iff d ∈ cone and (g−d) ⟂ d with g−d in the polar cone.
		residual := make([]float64, len(d))
		for p := range d {
			residual[p] = d[p] - rows[0][p]
		}
		size := dot(rows[0], rows[0])
		if math.Abs(dot(residual, d)) > 1e-8*size {
			t.Fatalf("(d−g)·d = %v", dot(residual, d))
		}
		for i, row := range rows[1:] {
			if dot(row, d) < -1e-8*math.Sqrt(dot(row, row)*size) {
				t.Fatalf("constraint %d is broken: %v", i, dot(row, d))
			}
		}
	})
}

// σ ∝ ‖J_i‖ with every row active is ConFIG: d has the same cosine with every gradient, and
// ‖d‖ = ΣJ_i·d̂.
func TestNormFactorsAreConFIG(t *testing.T) {
	interior := 0
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 2, 6)
		squares := make([]float64, len(rows))
		for i, row := range rows {
			squares[i] = dot(row, row)
		}
		c := must(t, &Solver{}, rows, proportional(squares...))
		if len(c.Active) < len(rows) {
			return
		}
		interior++
		d := step(rows, c.Lambda)
		length, along := math.Sqrt(dot(d, d)), 0.0
		for i, row := range rows {
			along += dot(row, d) / length
			cos, first := dot(row, d)/math.Sqrt(squares[i]), dot(rows[0], d)/math.Sqrt(squares[0])
			if math.Abs(cos-first) > 1e-8*math.Abs(first) {
				t.Fatalf("cosines differ: %v and %v", cos, first)
			}
		}
		if math.Abs(along-length) > 1e-8*length {
			t.Fatalf("‖d‖ = %v, ΣJ_i·d̂ = %v", length, along)
		}
	})
	if interior == 0 {
		t.Error("no problem had every row active")
	}
}

func TestInterior(t *testing.T) { // λ = M⁻¹σ/(σᵀM⁻¹σ) where that is positive
	interior := 0
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 2, 6)
		k := len(rows)
		sigma := drawSigma(t, k)
		gram := gramOf(rows)
		a := make([][]float64, k)
		for i := range a {
			a[i] = append(append([]float64(nil), gram[i*k:i*k+k]...), sigma[i])
		}
		x := eliminate(a)
		if x == nil {
			return
		}
		for _, v := range x {
			if v <= 0 {
				return
			}
		}
		interior++
		scale := dot(x, sigma)
		for i := range x {
			x[i] /= scale
		}
		c := must(t, &Solver{}, rows, sigma)
		near(t, "λ", c.Lambda, x, 1e-7)
		if math.Abs(c.Norm2*scale-1) > 1e-7 {
			t.Fatalf("‖d‖² = %v, want %v", c.Norm2, 1/scale)
		}
	})
	if interior == 0 {
		t.Error("no problem was interior")
	}
}

func TestOneStream(t *testing.T) {
	c := solveRows(t, &Solver{}, [][]float64{{3, 4}}, []float64{.25})
	if c.Lambda[0] != 4 || c.Norm2 != 400 || c.Status != Optimal {
		t.Errorf("λ = %v, ‖d‖² = %v, status %v; want 4, 400, optimal", c.Lambda, c.Norm2, c.Status)
	}
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
		{"identical", [][]float64{{1, 2}, {1, 2}}, []float64{1, 1}, Solver{}, []float64{.5, .5}, 5, Optimal},
		{"opposite", [][]float64{{1, 2}, {-1, -2}}, []float64{.5, .5}, Solver{}, []float64{1, 1}, 0, Stationary},
		{"opposite lengths", [][]float64{{1, 2}, {-2, -4}}, []float64{1, 1}, Solver{}, []float64{2. / 3, 1. / 3}, 0, Stationary},
		{"opposite constraints", [][]float64{{1, 1}, {0, 2}, {0, -3}}, []float64{1, 0, 0}, Solver{}, nil, 1, Optimal},
		{"zero dropped", [][]float64{{1, 2}, {0, 0}}, []float64{.5, .5}, Solver{}, []float64{2, 0}, 20, RowsDropped},
		{"zero dropped without a factor", [][]float64{{1, 2}, {0, 0}}, []float64{.5, 0}, Solver{}, []float64{2, 0}, 20, Optimal},
		{"zero kept", [][]float64{{1, 2}, {0, 0}}, []float64{.5, .5}, Solver{Zero: Keep}, []float64{0, 2}, 0, Stationary},
		{"zero constraint", [][]float64{{1, 2}, {0, 0}}, []float64{1, 0}, Solver{Zero: Keep}, []float64{1, 0}, 5, Optimal},
		{"tiny dropped", [][]float64{{1, 2}, {1e-13, 0}}, []float64{.5, .5}, Solver{}, []float64{2, 0}, 20, RowsDropped},
		{"tiny dropped and gaining", [][]float64{{1, 2}, {1e-13, 0}}, []float64{.5, 1e-14}, Solver{}, []float64{2, 0}, 20, Optimal},
		{"tiny dropped and losing", [][]float64{{1, 2}, {-1e-13, 0}}, []float64{.5, 0}, Solver{}, []float64{2, 0}, 20, RowsDropped},
		{"tiny proposed", [][]float64{{1, 2}, {1e-13, 0}}, []float64{0, 1}, Solver{}, []float64{0, 1}, 1e-26, Optimal},
		{"tiny proposed against a long one", [][]float64{{1, 0}, {-1e-13, 1e-13}}, []float64{0, 1}, Solver{}, []float64{1e-13, 1}, 1e-26, Optimal},
		{"tiny kept", [][]float64{{1, 2}, {1e-13, 0}}, []float64{1, 1}, Solver{ZeroTol: -1}, []float64{0, 1}, 1e-26, Optimal},
		{"all zero", [][]float64{{0, 0}, {0, 0}}, []float64{.5, .5}, Solver{}, []float64{1, 1}, 0, Stationary},
		{"proposed zero", [][]float64{{0, 0}, {1, 0}}, []float64{1, 0}, Solver{}, []float64{1, 0}, 0, Stationary},
		{"origin inside", [][]float64{{1, 0}, {-1, 1}, {-1, -1}}, []float64{1, 1, 1}, Solver{}, []float64{.5, .25, .25}, 0, Stationary},
		{"floor at its limit", [][]float64{{1, 0}, {0, 1}}, []float64{.5, .5}, Solver{Floor: 1}, []float64{1, 1}, 2, FloorBinding},
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

func TestInfeasibleFloor(t *testing.T) {
	s := Solver{Floor: 0.6}
	c, err := s.Solve(of([]float64{1, 0, 0, 1}), []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if c.Status != FloorInfeasible || c.Lambda[0] != .5 || c.Lambda[1] != .5 {
		t.Errorf("status %v, λ = %v; want floor-infeasible with equal weights", c.Status, c.Lambda)
	}
	if c.Verify(of([]float64{1, 0, 0, 1}), 1e-9) == nil {
		t.Error("Verify accepts weights that no floor allows")
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
		c := solveRows(t, &Solver{}, threeRows, []float64{.2, .3, .5}).Clone()
		spoil(c)
		if c.Verify(of(gram), 1e-9) == nil {
			t.Errorf("a certificate with wrong %s passes", name)
		}
	}
	floor := Certificate{Floor: .1, Sigma: []float64{.5, .5}, Lambda: []float64{1.5, .5}, Norm2: 2.5, Slacks: []float64{1.5, .5}, Status: Optimal}
	if floor.Verify(of([]float64{1, 0, 0, 1}), 1e-9) == nil { // the optimum is (1, 1)
		t.Error("a certificate that names no active rows passes")
	}
	stationary := []float64{1, -1, -1, 1}
	c, err := new(Solver).Solve(of(stationary), []float64{1, 1})
	if err != nil || c.Verify(of(stationary), 1e-9) != nil {
		t.Fatalf("a stationary point: %v", err)
	}
	if c.Status = Optimal; c.Verify(of(stationary), 1e-9) == nil {
		t.Error("a stationary point passes as optimal")
	}
	binding := []float64{1, 0, 0, 100}
	if c, err = (&Solver{Floor: .3}).Solve(of(binding), []float64{1, 1}); err != nil || c.Status != FloorBinding || c.Verify(of(binding), 1e-9) != nil {
		t.Fatalf("a floor that binds: %v (%v)", c, err)
	}
	if c.Status = Optimal; c.Verify(of(binding), 1e-9) == nil {
		t.Error("a floor that binds passes as optimal")
	}
	invented := Certificate{Lambda: []float64{5, 0, 0}, Sigma: []float64{.2, .3, .5}, Slacks: make([]float64, 3), Norm2: 100, Level: 100, Dropped: []int{0, 1, 2}}
	for _, invented.Status = range []Status{Optimal, RowsDropped, IllConditioned, FloorBinding} {
		if invented.Verify(of([]float64{4, -1, 1, -1, 9, 1, 1, 1, 1}), 1e-9) == nil {
			t.Errorf("an invented certificate passes as %v", invented.Status)
		}
	}
}

func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		gram, sigma []float64
		floor       float64
		want        string
	}{
		{nil, nil, 0, "no gradients"},
		{[]float64{1, 0, 0}, []float64{1, 1}, 0, "3 entries, which"},
		{[]float64{1, nan, 0, 1}, []float64{1, 1}, 0, "row 1, entry 2 is NaN"},
		{[]float64{1, 0, inf, 1}, []float64{1, 1}, 0, "row 2, entry 1 is +Inf"},
		{[]float64{1, 0, 0, -1}, []float64{1, 1}, 0, "entry 2 is -1: the square"},
		{[]float64{1, .5, .2, 1}, []float64{1, 1}, 0, "not symmetric"},
		{[]float64{1, 2, 2, 1}, []float64{1, 1}, 0, "have such a product"},
		{[]float64{0, 2, 2, 1}, []float64{1, 1}, 0, "have such a product"},
		{[]float64{1, 0, 0, 1}, []float64{1, -1}, 0, "entry 2 of sigma is -1"},
		{[]float64{1, 0, 0, 1}, []float64{nan, 1}, 0, "entry 1 of sigma is NaN"},
		{[]float64{1, 0, 0, 1}, []float64{inf, 1}, 0, "entry 1 of sigma is +Inf"},
		{[]float64{1, 0, 0, 1}, []float64{0, 0}, 0, "every entry of sigma is 0"},
		{[]float64{1}, []float64{1e-320}, 0, "range of float64"},
	}
	for _, tt := range tests {
		s := Solver{Floor: tt.floor}
		p, err := NewProblem(tt.gram)
		if err == nil {
			_, err = s.Solve(p, tt.sigma)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Solve(%v, %v): error %v, want one with %q", tt.gram, tt.sigma, err, tt.want)
		}
	}
	for _, s := range []*Solver{{Floor: -1}, {Floor: nan}, {ZeroTol: nan}, {ZeroTol: 1}, {ZeroTol: -inf}, {Zero: 2}} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "want a finite number") {
					t.Errorf("%+v: panic %q", s, text)
				}
			}()
			s.Solve(of([]float64{1, 0, 0, 1}), []float64{1, 1})
		}()
	}
}

func TestNoAllocations(t *testing.T) {
	for _, k := range []int{1, 2, 5, 20} {
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
	}
}

// A solver that has seen other problems answers like a new one, and a clone outlives the next call.
func TestReuse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var used Solver
	var last, kept *Certificate
	for range 2000 {
		p := randomProblem(r, 12)
		fresh := p.solver()
		used.Floor, used.Zero, used.ZeroTol = p.floor, p.zero, p.zeroTol
		a, errA := fresh.Solve(of(p.gram), p.sigma)
		b, errB := used.Solve(of(p.gram), p.sigma)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for i := range a.Lambda {
			if a.Lambda[i] != b.Lambda[i] || a.Slacks[i] != b.Slacks[i] {
				t.Fatalf("a used solver gives λ = %v, a new one %v", b.Lambda, a.Lambda)
			}
		}
		if last != nil && (kept.Lambda[0] != last.Lambda[0] || kept.Status != last.Status) {
			t.Fatal("a clone changed")
		}
		last, kept = a.Clone(), b.Clone()
	}
}
