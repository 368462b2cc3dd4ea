package method

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() { Register(cappedMGDAInfo, CappedMGDA{}) }

var cappedMGDAInfo = Info{
	Name: "capped-mgda", Title: "Capped MGDA", Family: "mtl",
	Rule:   "d = Σ μᵢJᵢ with the μ on the simplex, none larger than c, that minimises ‖Σ μᵢJᵢ‖²",
	Source: "Hu, Ho & Yu, A Unified Framework for Gradient Aggregation in Multi-Objective Optimization, arXiv 2605.30452",
	Cost:   "K(F+B) + Gram O(K²P)", State: "none", SumW: "1",
	NeedsGram: true,
}

// CappedMGDA is MGDA with an upper bound on the weights (docs/method.md §4.2). Where MGDA keeps to the bound it is
// MGDA, to the bit.
type CappedMGDA struct {
	Cap float64 `param:"cap" default:"0.5" range:"(0,1]" doc:"c in (0, 1], the largest weight: 1 gives MGDA, and 1/K or less the mean"`

	solver emgd.Solver
	ones   []float64
}

func (m *CappedMGDA) Weights(s *Step, w []float64) (Outcome, error) {
	r := keep(s, w)
	if r.k() == 0 {
		return r.outcome(), nil
	}
	m.ones = fp.Grow(m.ones, s.K())
	fill(m.ones, 1)
	out, err := solve(&m.solver, s, m.ones, w)
	if err != nil {
		return Outcome{}, err
	}
	largest := 0.0
	for _, x := range w {
		largest = max(largest, x)
	}
	bound := max(m.Cap, 1/float64(r.k()))
	if largest <= bound {
		return out, nil
	}
	r.level()
	mu, err := capped(r.gram, bound, r.k())
	if err != nil {
		return Outcome{}, fmt.Errorf("method capped-mgda: %w", err)
	}
	clear(w)
	return r.write(mu, w), nil
}

// capped returns the μ with 0 ≤ μᵢ ≤ bound and Σμᵢ = 1 that minimises μᵀMμ. Of many rows [paired] finds it, where its steps
// are enough, which cost less. Where the active-set method fails or stops
// too early, because lengths differ by many powers of ten or gradients are nearly equal, [exchanged] takes its place. Where d
// is 0 but for rounding, there is nothing to be relative to.
func capped(m []float64, bound float64, k int) ([]float64, error) {
	if k > fewRows {
		if mu := paired(m, bound, k); cappedGap(m, mu, bound) <= 1e-9 {
			return mu, nil
		}
	}
	if mu, err := released(m, bound, k); err == nil && cappedGap(m, mu, bound) <= 1e-9 {
		return mu, nil
	}
	mu, size := exchanged(m, bound, k), 0.0
	for i, x := range mu {
		size += x * math.Sqrt(m[i*k+i])
	}
	if !(cappedGap(m, mu, bound) <= unsolved) && normOf(m, mu) > cancelled*size {
		return nil, errUnsolved
	}
	return mu, nil
}

// cappedGap is the largest d·(d − Σ sᵢJᵢ) over the weights s within the bound, less what may be rounding, relative to
// ‖d‖². It is 0 at the minimum, and d is nowhere farther from the shortest one than the root of it, relative to ‖d‖.
func cappedGap(m, mu []float64, bound float64) float64 {
	k, slope := len(mu), times(m, mu)
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(slope[i], slope[j]) })
	gap, moved, size, left := 0.0, 0.0, 0.0, 1.0
	for _, i := range order { // the lowest slopes get as much weight as the bound allows
		s := min(bound, left)
		left -= s
		length := math.Sqrt(m[i*k+i])
		gap += (mu[i] - s) * slope[i]
		moved += math.Abs(mu[i]-s) * length
		size += mu[i] * length
	}
	if gap -= 1e-13 * moved * size; gap <= 0 {
		return 0
	}
	return gap / max(inner(mu, slope), 0)
}

// released is a primal active-set method. From equal weights it goes to the minimum over those that are free, until one
// meets a bound, which then holds it, and lets the weight go whose bound holds it against the slope most. The objective
// never rises. Its tolerances are relative to the longest gradient, and a weight may pass its bound by rounding.
func released(m []float64, bound float64, k int) ([]float64, error) {
	mu, held := make([]float64, k), make([]float64, k) // held: −1 at 0, +1 at the bound, 0 free
	fill(mu, 1/float64(k))
	if bound*float64(k) <= 1+1e-14 {
		return mu, nil
	}
	scale := longest(m, k)
	for range 50 * k {
		way, err := freeStep(m, mu, held)
		if err != nil {
			return nil, err
		}
		if at, part := blocked(mu, way, held, bound); at >= 0 {
			for i := range mu {
				mu[i] += part * way[i]
			}
			held[at], mu[at] = 1, bound
			if way[at] < 0 {
				held[at], mu[at] = -1, 0
			}
			continue
		}
		for i := range mu {
			mu[i] += way[i]
		}
		free := release(times(m, mu), held, 1e-13*scale)
		if free < 0 {
			return mu, nil
		}
		held[free] = 0
	}
	return nil, errUnsolved
}

// freeStep returns the step from μ to the minimum of μᵀMμ over the free weights, whose sum stays as it is.
func freeStep(m, mu, held []float64) ([]float64, error) {
	var free []int
	for i, h := range held {
		if h == 0 {
			free = append(free, i)
		}
	}
	way, n := make([]float64, len(mu)), len(free)
	if n < 2 {
		return way, nil
	}
	slope := times(m, mu)
	h, b := make([]float64, (n-1)*(n-1)), make([]float64, n-1) // with the coordinates way[free[a]] for a > 0; way[free[0]] is what is left
	at := func(i, j int) float64 { return m[free[i]*len(mu)+free[j]] }
	for a := 1; a < n; a++ {
		b[a-1] = slope[free[0]] - slope[free[a]]
		for c := 1; c < n; c++ {
			h[(a-1)*(n-1)+c-1] = at(a, c) - at(a, 0) - at(0, c) + at(0, 0)
		}
	}
	if longest(h, n-1) == 0 { // all free gradients are equal
		return way, nil
	}
	step, err := spectral(h, b, func(values []float64) []float64 {
		out := make([]float64, len(values))
		for i, v := range values {
			out[i] = 1 / v
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	for a, x := range step {
		way[free[a+1]] = x
		way[free[0]] -= x
	}
	return way, nil
}

// blocked returns the first free weight that meets a bound on the way, and the part of the way until then; −1 if none
// does.
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

// release returns the held weight that would lower the objective most per unit if it were free, or −1 if none would.
// Where no weight is free, any pair that would gain counts.
func release(slope, held []float64, tolerance float64) int {
	level, n := 0.0, 0.0
	for i, h := range held {
		if h == 0 {
			level, n = level+slope[i], n+1
		}
	}
	if n > 0 {
		level /= n
	} else { // between the lowest slope of those at 0 and the highest of those at the bound
		low, high := math.Inf(1), math.Inf(-1)
		for i, h := range held {
			if h < 0 {
				low = min(low, slope[i])
			} else {
				high = max(high, slope[i])
			}
		}
		level = low/2 + high/2
	}
	best, most := -1, tolerance
	for i, h := range held {
		if gain := h * (slope[i] - level); h != 0 && gain > most {
			best, most = i, gain
		}
	}
	return best
}
