package method

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(Info{
		Name: "capped-mgda", Title: "Capped MGDA", Family: "mtl",
		Rule:   "d = Σ μᵢJᵢ with the μ on the simplex, none larger than c, that minimises ‖Σ μᵢJᵢ‖²",
		Source: "Hu, Ho & Yu, A Unified Framework for Gradient Aggregation in Multi-Objective Optimization, arXiv 2605.30452",
		Cost:   "K(F+B) + Gram O(K²P)", State: "none", SumW: "1",
	}, func() Method { return new(CappedMGDA) })
}

// CappedMGDA is MGDA with an upper bound on the weights (docs/method.md §4.2). Where MGDA keeps to
// the bound it is MGDA, to the bit.
type CappedMGDA struct {
	Cap float64 `param:"cap" default:"0.5" range:"(0,1]" doc:"c in (0, 1], the largest weight: 1 gives MGDA, and 1/K or less the mean"`

	setup
	solver emgd.Solver
}

// Needs asks for the Gram matrix.
func (*CappedMGDA) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *CappedMGDA) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	r := keep(s, w)
	if r.k() == 0 {
		return r.outcome(), nil
	}
	out, err := solve(&m.solver, s, ones(s.k()), w)
	if err != nil {
		return out, err
	}
	bound := max(m.Cap, 1/float64(r.k()))
	if slices.Max(w) <= bound {
		return out, nil
	}
	r.level()
	clear(w)
	mu, err := capped(r.gram, bound, r.k())
	if err != nil {
		return Outcome{}, err
	}
	return r.write(mu, w), nil
}

// capped minimises μᵀMμ under 0 ≤ μᵢ ≤ bound and Σμᵢ = 1, for gradients of any lengths, and nearly
// equal ones. It goes to the minimum over the weights that are at no bound, holding those that meet
// one, and then moves weight from one row to another, the two that gain most, which lets both go
// again. It ends where no two gain, each judged by the lengths of its own gradients. That is a
// minimum, because the objective is convex.
func capped(m []float64, bound float64, k int) ([]float64, error) {
	mu, held := even(k), make([]float64, k) // held: −1 at 0, +1 at the bound, 0 free
	for range 50 * k {
		for range k {
			way := scaledStep(m, mu, held)
			at, part := blocked(mu, way, held, bound)
			for i := range mu {
				mu[i] = min(max(mu[i]+part*way[i], 0), bound)
			}
			if at < 0 {
				break
			}
			held[at], mu[at] = 1, bound
			if way[at] < 0 {
				held[at], mu[at] = -1, 0
			}
		}
		up, down, step := exchange(m, mu, bound)
		if step == 0 {
			return mu, nil
		}
		mu[up], mu[down] = min(mu[up]+step, bound), max(mu[down]-step, 0)
		held[up], held[down] = 0, 0
	}
	return nil, errUnsolved
}

// exchange returns the two rows between which a move of weight lowers ‖d‖² most, and how much to
// move; 0 if none does but for rounding, or by no more than 1e-24 of it.
func exchange(m, mu []float64, bound float64) (up, down int, step float64) {
	k, slope, size := len(mu), times(m, mu), 0.0
	length := make([]float64, k)
	for i, x := range mu {
		length[i] = math.Sqrt(m[i*k+i])
		size += x * length[i]
	}
	most := 1e-24 * max(inner(mu, slope), 0)
	for i := range k {
		for j := range k {
			fall := slope[j] - slope[i]
			if mu[i] >= bound || mu[j] <= 0 || fall <= 4e-16*float64(k)*size*(length[i]+length[j]) {
				continue
			}
			t := min(bound-mu[i], mu[j])
			curve := m[i*k+i] - m[i*k+j] - m[j*k+i] + m[j*k+j]
			if curve > 0 {
				t = min(t, fall/curve)
			}
			if gain := t * (2*fall - t*curve); gain > most {
				up, down, step, most = i, j, t, gain
			}
		}
	}
	return up, down, step
}

// scaledStep returns the step from μ to the minimum of μᵀMμ over the free weights, whose sum stays
// as it is. Rows are scaled to lengths in [1,2), and the shortest free one takes what the others
// leave. A ridge of the size of M's rounding keeps the system solvable, and lets weights run to a
// bound along directions that hardly change d.
func scaledStep(m, mu, held []float64) []float64 {
	k, way, last := len(mu), make([]float64, len(mu)), -1
	for i, h := range held {
		if h == 0 && (last < 0 || m[i*k+i] < m[last*k+last]) {
			last = i
		}
	}
	var free []int
	for i, h := range held {
		if h == 0 && i != last {
			free = append(free, i)
		}
	}
	n, slope := len(free), times(m, mu)
	if n == 0 {
		return way
	}
	unit, b := make([]float64, n), make([]float64, n)
	for a, i := range free {
		unit[a] = fp.PowerOfTwo(math.Sqrt(m[i*k+i]))
		b[a] = (slope[last] - slope[i]) / unit[a]
	}
	h := make([]float64, n*n)
	for ridge := 4e-16 * float64(k); ; ridge *= 16 {
		for a, i := range free {
			for c, j := range free {
				h[a*n+c] = (m[i*k+j] - m[i*k+last] - m[last*k+j] + m[last*k+last]) / unit[a] / unit[c]
			}
			h[a*n+a] += ridge
		}
		if cholesky(h, n) {
			break
		}
	}
	substitute(h, b)
	for a, i := range free {
		way[i] = b[a] / unit[a]
		way[last] -= way[i]
	}
	return way
}

// blocked returns the first free weight that meets a bound on the way, and the part of the way
// until then; −1 if none does.
func blocked(mu, way, held []float64, bound float64) (at int, part float64) {
	at, part = -1, 1
	for i, x := range way {
		if held[i] != 0 || x == 0 {
			continue
		}
		room := bound - mu[i]
		if x < 0 {
			room = mu[i]
		}
		if t := room / math.Abs(x); t < part {
			at, part = i, max(t, 0)
		}
	}
	return at, part
}
