package emgd

import "math"

// scale writes the problem of the chosen rows into the active set: with p_i a power of two near
// ‖J_i‖ and m a power of two near max_i σ_i/p_i,
//
//	C_ij = M_ij/(p_i p_j),  s_i = σ_i/(p_i m),  ν_i = (λ_i − floor) p_i m,
//
// the problem is min ½νᵀCν + qᵀν subject to sᵀν = 1 − floor·Σσ and ν ≥ 0, where q_i is the floor's
// share J_i·(floor·ΣJ_j)·m/p_i. All divisions are exact. A row of norm 0 gets the p_i that makes
// s_i = 1.
func (s *Solver) scale(gram []float64) {
	w, k, n := &s.set, len(s.cert.Sigma), len(s.rows)
	w.resize(n)
	top := 0.0
	for a, i := range s.rows {
		s.unit[a], s.inv[a] = powerOfTwo(gram[i*k+i])
		w.s[a] = s.cert.Sigma[i] * s.inv[a]
		if gram[i*k+i] > 0 {
			top = max(top, w.s[a])
		}
	}
	if top == 0 { // only rows of norm 0 have a factor
		for a := range n {
			top = max(top, w.s[a])
		}
	}
	w.unit = math.Ldexp(1, math.Ilogb(top))
	for a, i := range s.rows {
		w.s[a] /= w.unit
		if gram[i*k+i] == 0 {
			s.unit[a], s.inv[a], w.s[a] = s.cert.Sigma[i]/w.unit, w.unit/s.cert.Sigma[i], 1
		}
	}
	for a, i := range s.rows {
		row := gram[i*k : i*k+k]
		for b, j := range s.rows[:a] {
			v := 0.5*row[j] + 0.5*gram[j*k+i]
			v = v * s.inv[a] * s.inv[b]
			w.c[a*n+b], w.c[b*n+a] = v, v
		}
		w.c[a*n+a] = row[i] * s.inv[a] * s.inv[a]
		w.norm[a] = math.Sqrt(w.c[a*n+a])
	}
	s.shift(gram)
}

// shift writes the part of the scaled problem that comes from the floor.
func (s *Solver) shift(gram []float64) {
	w := &s.set
	w.tau, w.q0, w.size0, w.shifted = 1, 0, 0, s.Floor > 0
	if !w.shifted {
		return
	}
	n := len(s.rows)
	f := s.Floor * w.unit
	sum := 0.0
	for _, i := range s.rows {
		sum += s.cert.Sigma[i]
	}
	w.tau = max(0, 1-s.Floor*sum)
	for a := range n {
		w.least[a] = f * s.unit[a]
		w.size0 += w.least[a] * w.norm[a]
	}
	for a := range n {
		q := 0.0
		for b, v := range w.least {
			q += w.c[a*n+b] * v
		}
		w.q[a] = q
		w.q0 += q * w.least[a]
	}
	w.q0 = max(0, w.q0)
}

// powerOfTwo returns 2^⌊e/2⌋ and its inverse for m = x·2^e with 1 ≤ x < 2, and 1, 1 for m = 0.
func powerOfTwo(m float64) (p, inv float64) {
	if m < underflow {
		return 1, 1
	}
	e := (int(math.Float64bits(m)>>52) - 1023) >> 1
	return math.Float64frombits(uint64(1023+e) << 52), math.Float64frombits(uint64(1023-e) << 52)
}

// finish takes the solution of the scaled problem back to λ and writes the certificate.
func (s *Solver) finish(gram []float64) (*Certificate, error) {
	w, c := &s.set, &s.cert
	k, n := len(c.Sigma), len(s.rows)
	clear(c.Slacks)
	for a, i := range s.rows {
		c.Lambda[i] = s.Floor + w.nu[a]*s.inv[a]/w.unit
		c.Slacks[i] = w.g[a] * s.unit[a] / w.unit // J_i·d
		if w.nu[a] > 0 {
			c.Active = append(c.Active, i)
		}
	}
	for _, i := range c.Dropped {
		for _, j := range s.rows {
			c.Slacks[i] += gram[i*k+j] * c.Lambda[j]
		}
	}
	c.Iterations = w.iterations
	if w.vanishes() {
		c.Status = Stationary
		c.Cancellation = min(1, math.Sqrt(max(0, w.norm2))/w.size())
		clear(c.Slacks)
		return c, s.finite()
	}
	c.Norm2 = w.norm2 / w.unit / w.unit
	c.Level = w.kappa / w.unit / w.unit
	s.measure(gram)
	switch {
	case !w.converged && c.Violation > rough:
		c.Status = IterationLimit
	case c.Violation > exact:
		c.Status = IllConditioned
	case s.Floor > 0 && len(c.Active) < n:
		c.Status = FloorBinding
	}
	return c, s.finite()
}

const (
	// exact is the largest violation of an optimal status.
	exact = 1e-9
	// rough is the violation beyond which the iteration limit is to blame, and not rounding.
	rough = 1e-6
)
