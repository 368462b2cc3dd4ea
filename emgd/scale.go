package emgd

import (
	"math"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// scale writes the problem of the chosen rows into the active set: with p_i a power of two near
// ‖J_i‖ and m a power of two near max_i σ_i/p_i,
//
//	C_ij = M_ij/(p_i p_j),  s_i = σ_i/(p_i m),  ν_i = (λ_i − floor) p_i m,
//
// the problem is min ½νᵀCν + qᵀν subject to sᵀν = 1 − floor·Σσ and ν ≥ 0, where q_i is the floor's
// share J_i·(floor·ΣJ_j)·m/p_i. All divisions are exact. After this function only [Solver.finish]
// knows of p_i and m: it scales the solution back. They are kept as exponents, since p_i·m may
// overflow float64 even where λ does not.
func (s *Solver) scale() {
	w, p, n := &s.set, s.problem, len(s.rows)
	w.resize(n)
	if p.lo != nil {
		w.lo = fp.Grow(w.lo, n*n)
	}
	w.unit = math.MinInt
	for _, i := range s.rows { // one of which has a factor
		if sigma := s.cert.Sigma[i]; sigma > 0 {
			w.unit = max(w.unit, math.Ilogb(sigma)-p.exp[i])
		}
	}
	for a, i := range s.rows {
		s.shift[a] = p.exp[i] + w.unit
		if w.s[a] = math.Ldexp(s.cert.Sigma[i], -s.shift[a]); w.s[a] < negligible {
			w.s[a] = 0
		}
		for b, j := range s.rows {
			w.c[a*n+b] = p.c[i*p.k+j]
			if p.lo != nil {
				w.lo[a*n+b] = p.lo[i*p.k+j]
			}
		}
		w.norm[a] = math.Sqrt(w.c[a*n+a])
	}
	s.raise()
}

// negligible is the size of s_i below which it counts as 0, where the largest s_i is about 1. Such
// a row could change ‖d‖² only by what rounds to 0. It then only bounds d: J_i·d ≥ 0.
const negligible = 0x1p-200

// raise writes the part of the scaled problem that comes from the floor.
func (s *Solver) raise() {
	w := &s.set
	w.tau, w.q0, w.size0, w.shifted = 1, 0, 0, s.Floor > 0
	if !w.shifted {
		return
	}
	n := len(s.rows)
	w.tau = max(0, 1-s.Floor*s.factors())
	for a := range n {
		w.least[a] = math.Ldexp(s.Floor, s.shift[a])
		w.size0 += w.least[a] * w.norm[a]
	}
	for a := range n {
		w.q[a] = dot(w.c[a*n:][:n], w.least)
		w.q0 += w.q[a] * w.least[a]
	}
	w.q0 = max(0, w.q0)
}
