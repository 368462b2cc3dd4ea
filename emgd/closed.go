package emgd

import "math"

// only puts all weight on row a, ν = 1/s, and writes g, kappa and norm2 for it (no floor).
func (w *activeSet) only(a int) {
	n := w.n
	clear(w.nu)
	w.nu[a] = 1 / w.s[a]
	for b := range n {
		w.g[b] = w.c[a*n+b] / w.s[a]
	}
	w.kappa = w.g[a] / w.s[a]
	w.norm2 = w.kappa
}

// pair solves the scaled problem of two rows in closed form (docs/method.md §2.4):
//
//	Λ = ‖s_2u_1 − s_1u_2‖²,  ν_1 = (s_1C_22 − s_2C_12)/Λ,  ν_2 = (s_2C_11 − s_1C_12)/Λ,
//
// or one row alone where a numerator is negative. Identical rows share equally.
func (w *activeSet) pair() {
	c11, c12, c22 := w.c[0], w.c[1], w.c[3]
	s1, s2 := w.s[0], w.s[1]
	x1 := difference(s1, c22, s2, c12)
	x2 := difference(s2, c11, s1, c12)
	const same = 1e-15
	switch {
	case math.Abs(x1) <= same*s1*c22 && math.Abs(x2) <= same*s2*c11 && c12 > 0:
		w.nu[0], w.nu[1] = 0.5/s1, 0.5/s2
		w.g[0], w.g[1] = w.nu[0]*c11+w.nu[1]*c12, w.nu[0]*c12+w.nu[1]*c22
		w.norm2 = w.nu[0]*w.g[0] + w.nu[1]*w.g[1]
		w.kappa = w.norm2
		return
	case s2 > 0 && x1 <= 0:
		w.only(1)
		return
	case s1 > 0 && x2 <= 0:
		w.only(0)
		return
	}
	lambda := s1*x1 + s2*x2
	w.nu[0], w.nu[1] = x1/lambda, x2/lambda
	w.norm2 = max(0, difference(c11, c22, c12, c12)/lambda)
	w.kappa = w.norm2
	w.g[0], w.g[1] = s1*w.kappa, s2*w.kappa
}

// difference returns a·b − c·d to within an ulp or two (Kahan).
func difference(a, b, c, d float64) float64 {
	cd := c * d
	err := math.FMA(-c, d, cd)
	return math.FMA(a, b, -cd) + err
}
