package method

import (
	"math"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// exchanged minimises μᵀMμ under 0 ≤ μᵢ ≤ bound and Σμᵢ = 1 for gradients of any lengths, and nearly equal ones. It
// goes to the minimum over the weights that are at no bound, holding those that meet one, and then moves weight from one
// row to another, the two that gain most, which lets both go again. It ends where no two gain, each judged by the lengths
// of its own gradients, so that the end is a minimum: the objective is convex.
func exchanged(m []float64, bound float64, k int) []float64 {
	mu, held := make([]float64, k), make([]float64, k) // held: −1 at 0, +1 at the bound, 0 free
	fill(mu, 1/float64(k))
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
			break
		}
		mu[up], mu[down] = min(mu[up]+step, bound), max(mu[down]-step, 0)
		held[up], held[down] = 0, 0
	}
	return mu
}

// exchange returns the two rows between which a move of weight lowers ‖d‖² most, and how much to move; 0 if none does but
// for rounding, or by no more than 1e-24 of it.
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

// scaledStep returns the step from μ to the minimum of μᵀMμ over the free weights, whose sum stays as it is. Rows are
// scaled to lengths in [1,2), and the shortest free one takes what the others leave. A ridge of the size of M's rounding
// keeps the system solvable, and lets weights run to a bound along directions that hardly change d.
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

// paired minimises μᵀMμ under 0 ≤ μᵢ ≤ bound and Σμᵢ = 1 by moves of weight between two rows, as support vector machines are
// trained (Fan, Chen & Lin, Working Set Selection Using Second Order Information, JMLR 6, 2005): to the row along which ‖d‖²
// falls most, from the one that then gains most. It ends at the minimum or after some hundred moves of each row.
func paired(m []float64, bound float64, k int) []float64 {
	mu := make([]float64, k)
	fill(mu, 1/float64(k))
	var slope []float64
	for n := range 200 * k {
		if n%k == 0 { // without the rounding of the moves
			if slope = times(m, mu); cappedGap(m, mu, bound) <= 1e-12 {
				break
			}
		}
		up, down := -1, -1
		for i, x := range mu {
			if x < bound && (up < 0 || slope[i] < slope[up]) {
				up = i
			}
		}
		most, step := 0.0, 0.0
		for j, x := range mu {
			fall := slope[j] - slope[up]
			if x <= 0 || fall <= 0 {
				continue
			}
			t := min(bound-mu[up], x)
			if curve := m[up*k+up] - 2*m[up*k+j] + m[j*k+j]; curve > 0 {
				t = min(t, fall/curve)
			}
			if gain := t * fall; gain > most {
				down, step, most = j, t, gain
			}
		}
		if down < 0 {
			break
		}
		mu[up], mu[down] = min(mu[up]+step, bound), max(mu[down]-step, 0)
		for i := range slope {
			slope[i] += step * (m[up*k+i] - m[down*k+i])
		}
	}
	return mu
}
