package emgd

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// activeSet solves the scaled problem
//
//	minimise ½νᵀCν + qᵀν  subject to  sᵀν = τ,  ν ≥ 0
//
// for a positive semi-definite C with C_ii in [1,4) and s with maximum in [1,2) (q = 0 and τ = 1
// without a floor). It keeps a support S and a feasible ν that is 0 outside S.
//
// Each iteration minimises over the face of S, stepping to its boundary and dropping rows as long
// as a weight would turn negative, and then adds a row whose condition (Cν+q)_i ≥ κs_i fails. The
// objective never increases and no face is minimised twice, so in exact arithmetic the method is
// finite. Rounding is kept from cycling by a ban on rows that entered without progress, and the
// number of iterations is bounded in any case.
type activeSet struct {
	n       int
	c       []float64 // C, row-major n×n
	lo      []float64 // what rounding took from C; empty where it is not known
	s, q    []float64
	tau     float64
	shifted bool      // q ≠ 0
	q0      float64   // the constant of ‖d‖² = νᵀCν + 2qᵀν + q0
	least   []float64 // the floor itself, scaled like ν; q = C·least
	size0   float64   // the floor's part of Σλ_i‖J_i‖, scaled
	unit    int       // the exponent of m of [Solver.scale], for [Solver.finish]

	nu, g      []float64 // the weights, and Cν+q
	kappa      float64   // the multiplier of sᵀν = τ
	norm2      float64   // ‖d‖², scaled
	iterations int
	converged  bool

	support []int // S; the first one is the base of the face
	inside  []bool
	banned  []bool
	face    face
	x       []float64 // per position in the support: the face's minimiser, or a combination
	old     []int     // the support and the weights before an exchange
	oldNu   []float64
	norm    []float64 // √C_ii
}

func (w *activeSet) resize(n int) {
	w.n = n
	w.c, w.lo = fp.Grow(w.c, n*n), w.lo[:0]
	w.s, w.q, w.least = fp.Grow(w.s, n), fp.Grow(w.q, n), fp.Grow(w.least, n)
	w.nu, w.g = fp.Grow(w.nu, n), fp.Grow(w.g, n)
	w.x, w.norm = fp.Grow(w.x, n), fp.Grow(w.norm, n)
	w.support, w.old, w.oldNu = fp.Grow(w.support, n)[:0], fp.Grow(w.old, n)[:0], fp.Grow(w.oldNu, n)
	w.inside, w.banned = fp.Grow(w.inside, n), fp.Grow(w.banned, n)
	w.face.resize(n)
}

// size returns Σλ_i‖J_i‖, scaled.
func (w *activeSet) size() float64 {
	sum := w.size0
	for i, v := range w.nu {
		sum += v * w.norm[i]
	}
	return sum
}

// vanishes says whether d cannot be told from 0.
func (w *activeSet) vanishes() bool {
	limit := stationary(w.n) * w.size()
	return w.norm2 <= limit*limit && !math.IsInf(limit*limit, 1)
}

// solve finds the optimum, in at most 100 + 20n iterations of at most n face minimisations each.
func (w *activeSet) solve() {
	limit := 50 + 10*w.n
	best, last := math.Inf(1), -1
	w.converged = false
	w.start()
	for w.iterations = 1; w.iterations <= 2*limit; w.iterations++ {
		w.minimise()
		w.gradient()
		if len(w.lo) > 0 {
			w.refine()
		}
		if w.vanishes() {
			w.converged = true
			return
		}
		if w.norm2 < best {
			best = w.norm2
			clear(w.banned)
		} else if last >= 0 && !w.inside[last] {
			w.banned[last] = true
		}
		// Past half of the bound the lowest index enters: Bland's rule does not cycle.
		last = w.entering(w.iterations > limit)
		if last < 0 {
			w.converged = true
			return
		}
		if !w.add(last) && !w.exchange(last) {
			w.banned[last] = true
		}
	}
	w.iterations--
	w.minimise()
	w.gradient()
}

// start puts all free weight on the row that is best alone.
func (w *activeSet) start() {
	clear(w.nu)
	clear(w.inside)
	clear(w.banned)
	first, least := -1, math.Inf(1)
	for i, s := range w.s {
		if s == 0 {
			continue
		}
		v := w.tau / s
		f := 0.5 * v * v * w.c[i*w.n+i]
		if w.shifted {
			f += w.q[i] * v
		}
		if first < 0 || f < least {
			first, least = i, f
		}
	}
	w.nu[first] = w.tau / w.s[first]
	w.add(first)
}

// add puts row j into the support, or reports false if it depends on the rows there, as far as M
// can tell; its coefficients in terms of them are then in w.x.
func (w *activeSet) add(j int) bool {
	// The base is the row with the largest s, within a factor, so that s_j/s_base stays small.
	rebase := len(w.support) == 0 || w.s[j] > 4*w.s[w.support[0]]
	if !rebase && !w.face.append(w, j) {
		return false
	}
	w.support = append(w.support, j)
	w.inside[j] = true
	if rebase {
		w.rebase()
	}
	return true
}

// drop removes the row at position k of the support.
func (w *activeSet) drop(k int) {
	i := w.support[k]
	w.nu[i], w.inside[i] = 0, false
	copy(w.support[k:], w.support[k+1:])
	w.support = w.support[:len(w.support)-1]
	switch {
	case len(w.support) == 0:
	case k == 0 || w.face.raised:
		w.rebase()
	default:
		w.face.drop(k)
	}
}

// rebase makes the row with the largest s the base and factors the face anew.
func (w *activeSet) rebase() {
	top := 0
	for k, i := range w.support {
		if w.s[i] > w.s[w.support[top]] {
			top = k
		}
	}
	w.support[0], w.support[top] = w.support[top], w.support[0]
	if w.s[w.support[0]] > 0 { // else a row with s > 0 is about to enter
		w.face.factor(w)
	}
}

// minimise moves ν to the minimiser over the face of the support, dropping rows on the way.
func (w *activeSet) minimise() {
	for {
		w.face.minimiser(w)
		if len(w.support) == 1 && !(w.x[0] >= 0) {
			return // cannot be, except by overflow
		}
		step, at := 1.0, -1
		for k, i := range w.support {
			x, old := w.x[k], w.nu[i]
			if x >= 0 {
				continue
			}
			if t := old / (old - x); at < 0 || t < step {
				step, at = t, k
			}
		}
		if at < 0 {
			for k, i := range w.support {
				w.nu[i] = w.x[k]
			}
			return
		}
		for k, i := range w.support {
			w.nu[i] = max(0, w.nu[i]+step*(w.x[k]-w.nu[i]))
		}
		w.drop(at)
	}
}

// gradient computes g = Cν + q, the multiplier κ and ‖d‖².
func (w *activeSet) gradient() {
	n, g := w.n, w.g
	if w.shifted {
		copy(g, w.q)
	} else {
		clear(g)
	}
	for _, i := range w.support {
		floats.AddScaled(g, w.nu[i], w.c[i*n:][:n])
	}
	dot := 0.0
	for _, i := range w.support {
		dot += w.nu[i] * g[i]
	}
	w.norm2, w.kappa = dot, dot
	if w.shifted {
		w.norm2 += w.q0
		for _, i := range w.support {
			w.norm2 += w.nu[i] * w.q[i]
		}
		w.shiftedMultiplier()
	}
}

// shiftedMultiplier sets κ in the presence of a floor.
func (w *activeSet) shiftedMultiplier() {
	if w.tau == 0 {
		w.kappa = math.Inf(1)
		for i, s := range w.s {
			if s > 0 {
				w.kappa = min(w.kappa, w.g[i]/s)
			}
		}
		return
	}
	w.kappa = w.g[w.support[0]] / w.s[w.support[0]]
}

// entering returns the row that breaks its condition most (the first one that does, if lowest), or
// −1 if all hold to rounding.
func (w *activeSet) entering(lowest bool) int {
	tol := 2e-12*math.Sqrt(max(0, w.norm2)) + 8*eps*w.size()
	worst, at := -tol, -1
	for i, g := range w.g {
		if w.inside[i] || w.banned[i] {
			continue
		}
		if v := g - w.kappa*w.s[i]; v < worst {
			worst, at = v, i
			if lowest {
				return at
			}
		}
	}
	return at
}

// exchange puts row j, which depends on the support, in the place of another row: weight moves from
// the support to j along the combination in w.x, which changes neither d nor sᵀν, until a row is
// used up and leaves. Two gradients of one direction but different s are the usual case. It reports
// false, and changes nothing, if no row is ever used up (j and the support then cancel each other,
// and M does not say how nearly).
func (w *activeSet) exchange(j int) bool {
	w.old = append(w.old[:0], w.support...)
	copy(w.oldNu, w.nu)
	for {
		if !w.shiftWeight(j) {
			w.restore()
			return false
		}
		if w.add(j) {
			return true
		}
	}
}

// shiftWeight makes one step of exchange. If no coefficient is large, all are taken for rounding;
// but the base's, which is a sum and not the solution of a system, may be small and still be right.
// Opposite gradients with small s > 0 are such a case: the base leaves and d becomes 0.
func (w *activeSet) shiftWeight(j int) bool {
	const tiny = 1e-3
	step, at := math.Inf(1), -1
	genuine := w.x[0] > tiny*w.face.terms
	for k, i := range w.support {
		a := w.x[k]
		if a > 0 && w.nu[i] < step*a {
			step, at = w.nu[i]/a, k
		}
		genuine = genuine || a > tiny
	}
	if !genuine {
		return false
	}
	for k, i := range w.support {
		w.nu[i] = max(0, w.nu[i]-step*w.x[k])
	}
	w.nu[j] += step
	w.drop(at)
	return true
}

// restore takes back the steps of an exchange.
func (w *activeSet) restore() {
	if len(w.support) == len(w.old) {
		return
	}
	w.support = append(w.support[:0], w.old...)
	copy(w.nu, w.oldNu)
	for _, i := range w.support {
		w.inside[i] = true
	}
	w.face.factor(w)
}
