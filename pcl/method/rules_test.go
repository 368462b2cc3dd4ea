package method

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// This file has worked examples and properties of the rules that read rows or half batches, or that
// keep vectors.

// pcdBase and pcdOther are the weights that PCD at τ = .02 gives to the rows of base, whose cosine
// is below τ: d ∥ u₁ + (τ−cos)u₂ at the length of J₁.
func pcdBase(cos float64) float64 {
	b := .02 - cos
	return 1 / math.Sqrt(1+2*b*cos+b*b)
}

func pcdOther(cos float64) float64 {
	return (.02 - cos) * pcdBase(cos) * math.Sqrt(18./38)
}

// TestGradDropOracle checks the example of docs/method.md §9, with U given.
func TestGradDropOracle(t *testing.T) {
	for _, c := range []struct{ leak, u float64 }{{0, .5}, {0, .7}, {.25, .5}} {
		m := &GradDrop{Leak: c.leak}
		d := m.drop([][]float64{{-4, 1, 1, 0}, {6, 1, 1, 0}}, func() float64 { return c.u })
		kept := 6.0
		if c.u > .6 {
			kept = -4
		}
		wants(t, d, []float64{c.leak*2 + (1-c.leak)*kept, 2, 2, 0}, 1e-15, "leak %g, U = %g", c.leak, c.u)
	}
}

// TestGradDropIsUnbiased: E[d] = Σ Jᵢ, exactly over a grid of U and within five standard errors for
// the method's own draws.
func TestGradDropIsUnbiased(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 20 {
		rows := gaussian(r, 2+r.IntN(7), 10)
		sum := direction(rows, slices.Repeat([]float64{1}, len(rows)))
		const n = 4000
		for _, leak := range []float64{0, .3} {
			m, mean := &GradDrop{Leak: leak}, make([]float64, 10)
			for i := range n {
				add(mean, 1./n, m.drop(rows, func() float64 { return (float64(i) + .5) / n }))
			}
			for p := range mean {
				if math.Abs(mean[p]-sum[p]) > 50./n { // at most one grid point is on the wrong side
					t.Errorf("leak %g: the mean over U is %g, the sum %g", leak, mean[p], sum[p])
				}
			}
		}
		m, s := build(t, "graddrop", nil), sample{rows: rows}.step(5)
		mean, square := make([]float64, 10), make([]float64, 10)
		for range n {
			_, d := act(t, m, s)
			for p, x := range d {
				mean[p] += x / n
				square[p] += x * x / n
			}
		}
		for p := range mean {
			if off := math.Abs(mean[p] - sum[p]); off > 5*math.Sqrt((square[p]-mean[p]*mean[p])/n)+1e-9 {
				t.Errorf("the mean of %d steps is %g, the sum %g", n, mean[p], sum[p])
			}
		}
	}
}

// TestMoDoReadsTheCrossMatrix: row i of the product is that of the first half.
func TestMoDoReadsTheCrossMatrix(t *testing.T) {
	s := sample{rows: pair}.step(1)
	s.Cross = []float64{2, -1, -3, 8}
	// λ − γ(Cλ + ρλ) = .445 .245
	if w := weigh(t, build(t, "modo", values{"gamma": .1}), s); !near(w, []float64{.6, .4}, 1e-12) {
		t.Errorf("%v, want .6 .4", w)
	}
	s.Cross[1] = math.NaN()
	if _, err := try(build(t, "modo", nil), s); err == nil {
		t.Error("a cross product that is no number: no error")
	}
}

// TestFollowersOfMGDA: on the same gradients again and again MoDo and MoCo arrive at MGDA's
// weights.
func TestFollowersOfMGDA(t *testing.T) {
	for name, p := range map[string]values{"modo": {"gamma": .01, "rho": 0}, "moco": {"gamma": .01, "gamma_decay": 0}} {
		t.Run(name, func(t *testing.T) {
			for _, rows := range [][][]float64{base, pair, three} {
				m, s, w := build(t, name, p), sample{rows: rows}.step(1), []float64(nil)
				for range 5000 {
					w = weigh(t, m, s)
				}
				wants(t, w, weigh(t, build(t, "mgda", nil), s), 1e-6, "%s on", name)
			}
		})
	}
}

// TestSharesOfStreamsThatComeAndGo: a new stream enters MoDo and MoCo with 1/K, the others keep
// their proportions; a step of size 0 shows the shares.
func TestSharesOfStreamsThatComeAndGo(t *testing.T) {
	for _, name := range []string{"modo", "moco"} {
		t.Run(name, func(t *testing.T) {
			m := stateful(t, build(t, name, values{"gamma": 0}))
			share := func(id int, x float64) {
				if modo, ok := m.Method.(*MoDo); ok {
					modo.memo[id] = share(x)
				} else {
					m.Method.(*MoCo).memo[id] = mocoStream{Mean: vector{1, 0, 0}, Share: x, Steps: 3}
				}
			}
			share(0, .75)
			share(1, .25)
			wants(t, weigh(t, m, sample{rows: three}.step(1)), []float64{.5, 1. / 6, 1. / 3}, 1e-12, "%s, a stream joined", name)
			m.End(1)
			s := sample{rows: base}.step(1)
			s.IDs = []int{0, 2}
			wants(t, weigh(t, m, s), []float64{.6, .4}, 1e-12, "%s, a stream left", name)
			share(0, 0)
			s = sample{rows: base[:1]}.step(1)
			s.IDs = []int{0}
			if w := weigh(t, m, s); w[0] != 1 {
				t.Errorf("%s, only a stream without share is left: %v", name, w)
			}
		})
	}
}

func TestMoCoFollowsTheGradients(t *testing.T) {
	m := build(t, "moco", values{"beta_decay": 0, "gamma": 0})
	act(t, m, sample{rows: base}.step(1))
	_, d := act(t, m, sample{rows: [][]float64{{0, 1, 3}, {6, 1, 1}}}.step(1)) // y₀ = (−2,1,2)
	wants(t, d, []float64{2, 1, 1.5}, 1e-7, "second step")
	// y follows on, at β/√3, also where the gradient is 0.
	m = build(t, "moco", values{"beta_decay": .5})
	zero := sample{rows: [][]float64{{0, 0}}}.step(1)
	act(t, m, sample{rows: [][]float64{{4, 2}}}.step(1))
	act(t, m, zero)
	_, d = act(t, m, zero)
	if left := (1 - .5/math.Sqrt2) * (1 - .5/math.Sqrt(3)); !near(d, []float64{4 * left, 2 * left}, 1e-6) {
		t.Errorf("after two zero gradients: %v", d)
	}
}

func TestDBMTLSteps(t *testing.T) {
	m, s := build(t, "db-mtl", nil), sample{rows: [][]float64{{3, 4}, {0, 2}}, losses: []float64{1, 2}}.step(1)
	act(t, m, s)
	if w, d := act(t, m, s); !near(d, []float64{.57, 1.71}, 1e-6) || !near(w, []float64{.1, .25}, 1e-6) {
		t.Errorf("second step: w = %v, d = %v", w, d)
	}
	w, d := act(t, build(t, "db-mtl", values{"beta": 0}),
		sample{rows: [][]float64{{3, 4}, {0, 0}}, losses: []float64{.5, 1}}.step(1))
	if !near(w, []float64{2, 0}, 1e-6) || !near(d, []float64{6, 8}, 1e-6) {
		t.Errorf("beside a gradient of 0: w = %v, d = %v", w, d)
	}
	if _, err := try(m, sample{rows: [][]float64{{1e32, 0}, {0, 2}}, losses: []float64{0, 2}}.step(1)); err == nil {
		t.Error("g/ℓ out of range: no error")
	}
}

func TestExcessMTLSteps(t *testing.T) {
	for _, scale := range []float64{1, 1e-12, 1e12} {
		t.Run(fmt.Sprint(scale), func(t *testing.T) {
			m := stateful(t, build(t, "excess-mtl", values{"lr": 1}))
			rows := scaled([][]float64{{-4, 1, 1}, {6, 1, 1}}, scale)
			act(t, m, sample{rows: rows}.step(1))
			scaled(rows[:1], 2) // E/E(0) = 4/√5 and 1/√2
			w, _ := act(t, m, sample{rows: rows}.step(1))
			first := 1 / (1 + math.Exp(1/math.Sqrt2-4/math.Sqrt(5)))
			wants(t, w, []float64{first, 1 - first}, 1e-6, "scale %g", scale)
			m.End(1)
			s := sample{rows: rows}.step(1)
			s.IDs = []int{0, 9} // a new stream, with λ = ½ and the risk 1; the other's root is now 3
			if w, _ := act(t, m, s); !near(w, []float64{1 / (1 + math.Exp(1-4./3)), 1 / (1 + math.Exp(4./3-1))}, 1e-6) {
				t.Errorf("scale %g: a stream joined: %v", scale, w)
			}
		})
	}
}

// TestPCDIsTheProjection compares with all sets of binding constraints, and over steps with the
// moving averages written out.
func TestPCDIsTheProjection(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	const beta = .7
	for range 300 {
		k := 2 + r.IntN(5)
		tau := r.Float64() / 2
		m, squares := build(t, "pcd", values{"tau": tau, "beta": beta}), make([]float64, k)
		for n := 1; n <= 3; n++ {
			s := sample{rows: gaussian(r, k, k+2)}.step(1)
			g := make([][]float64, k)
			for i, row := range s.Rows {
				squares[i] = beta*squares[i] + (1-beta)*inner(row, row)
				g[i] = scaled([][]float64{slices.Clone(row)}, 1/math.Sqrt(squares[i]/(1-math.Pow(beta, float64(n)))))[0]
			}
			want := nearestProgress(g, tau)
			scaled([][]float64{want}, math.Sqrt(inner(s.Rows[0], s.Rows[0])/inner(want, want)))
			if _, d := act(t, m, s); !near(d, want, 1e-7) {
				t.Fatalf("step %d, %d rows, τ = %g: d = %v, want %v", n, k, tau, d, want)
			}
		}
	}
}

// nearestProgress is the d nearest to g₀ with gⱼ·d ≥ τ‖gⱼ‖² for the others, by enumeration.
func nearestProgress(g [][]float64, tau float64) (best []float64) {
	least := math.Inf(1)
	for set := range 1 << (len(g) - 1) {
		var at []int
		for j := 1; j < len(g); j++ {
			if set>>(j-1)&1 == 1 {
				at = append(at, j)
			}
		}
		d := slices.Clone(g[0])
		if n := len(at); n > 0 {
			a, b, mu := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
			for x, i := range at {
				for y, j := range at {
					a.Set(x, y, inner(g[i], g[j]))
				}
				b.SetVec(x, tau*inner(g[i], g[i])-inner(g[i], g[0]))
			}
			if mu.SolveVec(a, b) != nil {
				continue
			}
			for x, i := range at {
				add(d, mu.AtVec(x), g[i])
			}
		}
		distance, holds := 0.0, true
		for p := range d {
			distance += (d[p] - g[0][p]) * (d[p] - g[0][p])
		}
		for _, row := range g[1:] {
			holds = holds && inner(row, d) >= (tau-1e-10)*inner(row, row)
		}
		if holds && distance < least {
			least, best = distance, d
		}
	}
	return best
}

// TestScalarGradients compares PBI and COSMOS with finite differences of what they descend on.
func TestScalarGradients(t *testing.T) {
	pbiLoss := func(l []float64) float64 {
		k, along, off := float64(len(l)), total(l)/math.Sqrt(float64(len(l))), 0.0
		for _, x := range l {
			off += (x - along/math.Sqrt(k)) * (x - along/math.Sqrt(k))
		}
		return along + 5*math.Sqrt(off)
	}
	cosmosLoss := func(l []float64) float64 {
		return total(l)/float64(len(l)) - total(l)/math.Sqrt(float64(len(l))*inner(l, l))
	}
	for name, f := range map[string]func([]float64) float64{"pbi": pbiLoss, "cosmos": cosmosLoss} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(2, 9))
			for k := 2; k <= 8; k++ {
				l, want := make([]float64, k), make([]float64, k)
				for i := range l {
					l[i] = .1 + 3*r.Float64()
				}
				for i := range l {
					const h = 1e-6
					up, down := slices.Clone(l), slices.Clone(l)
					up[i] += h
					down[i] -= h
					want[i] = (f(up) - f(down)) / (2 * h)
				}
				wants(t, weigh(t, build(t, name, nil), sample{rows: gaussian(r, k, 3), losses: l}.step(1)), want, 1e-7,
					"%s at", name)
			}
		})
	}
}

func TestToSimplex(t *testing.T) {
	for _, c := range [][2][]float64{
		{{.2, .8}, {.2, .8}}, {{3}, {1}}, {{1e30, -1e30}, {1, 0}}, {{1, 1, 1}, {1. / 3, 1. / 3, 1. / 3}},
		{{1e20, 1e20, 0}, {.5, .5, 0}}, {{.5, .4, -3}, {.55, .45, 0}},
	} {
		y := slices.Clone(c[0])
		if toSimplex(y); !near(y, c[1], 1e-12) {
			t.Errorf("%v: %v, want %v", c[0], y, c[1])
		}
	}
}

// TestRowsOfAnotherLength: a state with a value of every parameter fits no other network.
func TestRowsOfAnotherLength(t *testing.T) {
	for _, name := range []string{"moco", "db-mtl", "excess-mtl"} {
		t.Run(name, func(t *testing.T) {
			m := build(t, name, nil)
			weigh(t, m, sample{rows: base, losses: []float64{1, 1}}.step(1))
			if _, err := try(m, sample{rows: pair, losses: []float64{1, 1}}.step(1)); err == nil {
				t.Error("no error")
			}
		})
	}
}
