package emgd

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// ZeroPolicy says what happens to streams whose gradient is zero next to the others (docs/method.md §1.5).
type ZeroPolicy int

const (
	// Drop leaves them out (λ_i = 0); the other streams move on. The factors of the remaining rows
	// are used as given: renormalise them first if they are to sum to 1 over the remaining rows.
	Drop ZeroPolicy = iota
	// Keep leaves them in. A zero gradient with σ_i > 0 then makes d = 0: training stalls until the
	// stream moves again.
	Keep
)

// DefaultZeroTol is the relative norm below which a gradient counts as zero.
const DefaultZeroTol = 1e-12

// Solver finds the weights λ that minimise ‖Σλ_iJ_i‖² subject to Σλ_iσ_i = 1 and λ ≥ Floor, exactly
// and from a [Problem], the Gram matrix, alone (docs/method.md §2.3, §2.4). The zero value is ready. It reuses its memory:
// once it has seen its largest K, Solve allocates nothing. It is not safe for concurrent use.
//
// Gradients of very different lengths cause no difficulty. K = 1 and K = 2 have closed forms; beyond, an active-set
// method solves one bordered system per support.
type Solver struct {
	// Floor is the smallest weight allowed, 0 in the paper, 1/(K+1) in the authors' code.
	Floor float64
	// Zero is what happens to gradients with ‖J_i‖ ≤ ZeroTol·max_j‖J_j‖; Drop by default. Such a gradient
	// stays all the same if it is not 0 and all gradients above the bound have σ = 0.
	Zero ZeroPolicy
	// ZeroTol is 0 for DefaultZeroTol; negative treats only gradients of norm 0 as zero.
	ZeroTol float64

	cert    Certificate
	problem *Problem
	rows    []int // the rows that take part
	exp     []int // the exponent of their length
	set     activeSet
}

// stationary is the ratio ‖d‖/Σλ_i‖J_i‖ up to which d cannot be told from 0: rounding in M alone
// moves ‖d‖² by about 1e-16·K·(Σλ_i‖J_i‖)², and below this ratio the conditions on J_i·d cannot be
// met to nine digits.
func stationary(k int) float64 { return 4e-7 * math.Sqrt(float64(k)) }

// Solve returns the weights for a problem of K gradients and the elastic factors
// sigma (length K, ≥ 0, not all 0; they need not sum to 1, and all 1 gives MGDA). The certificate
// belongs to the solver and is valid until its next call; keep one with Clone. Errors are for factors out of
// their range, and for weights that float64 cannot hold; they name the entry at fault. Otherwise the weights
// are finite, ≥ 0 and satisfy Σλ_iσ_i = 1; the certificate's Status says what they are. Solve panics if sigma has
// another length or a setting is out of its range.
func (s *Solver) Solve(p *Problem, sigma []float64) (*Certificate, error) {
	if len(sigma) != p.k {
		panic(fmt.Sprintf("emgd: %d elastic factors for %d gradients", len(sigma), p.k))
	}
	if !(s.Floor >= 0) || math.IsInf(s.Floor, 1) || s.ZeroTol-s.ZeroTol != 0 || s.ZeroTol >= 1 || s.Zero != Drop && s.Zero != Keep {
		panic(fmt.Sprintf("emgd: Floor %v, ZeroTol %v, Zero %d; want a finite number ≥ 0, one below 1, and Drop or Keep", s.Floor, s.ZeroTol, int(s.Zero)))
	}
	c, err := s.solve(p, sigma)
	if err == nil && p.rows != nil && c.Status != Stationary && c.Cancellation < delicate {
		return s.solve(p.exact(), sigma)
	}
	return c, err
}

// delicate is the cancellation in d below which the rounding of the Gram matrix, 1e-16 over its square in
// ‖d‖², begins to show in the certificate.
const delicate = 1e-3

func (s *Solver) solve(p *Problem, sigma []float64) (*Certificate, error) {
	if err := checkSigma(sigma); err != nil {
		return nil, err
	}
	s.problem = p
	defer func() { s.problem = nil }() // its gradients are the caller's
	s.reset(sigma)
	s.choose()
	if !s.anyFactor() {
		return s.onZeroRows()
	}
	s.scale()
	switch {
	case !s.feasible():
		s.equal()
		return s.finish(FloorInfeasible)
	case s.Floor > 0 || len(s.rows) > 2:
		s.set.solve()
		s.set.refine()
	case len(s.rows) == 2:
		s.set.pair()
		if p.lo != nil && s.set.cancels() {
			s.set.solve()
			s.set.refine()
		}
	default:
		s.set.single()
	}
	return s.finish(Optimal)
}

// reset prepares an empty certificate for the factors sigma.
func (s *Solver) reset(sigma []float64) {
	k := len(sigma)
	c := &s.cert
	*c = Certificate{
		Lambda: fp.Grow(c.Lambda, k), Sigma: fp.Grow(c.Sigma, k), Slacks: fp.Grow(c.Slacks, k),
		Active: fp.Grow(c.Active, k)[:0], Dropped: fp.Grow(c.Dropped, k)[:0], Floor: s.Floor,
	}
	clear(c.Lambda)
	clear(c.Slacks)
	copy(c.Sigma, sigma)
	s.rows, s.exp = fp.Grow(s.rows, k)[:0], fp.Grow(s.exp, k)
}

// choose fills rows and the certificate's Dropped. Where all rows with a factor would be dropped, those
// of them that are not 0 stay: they are short next to rows that only bound them.
func (s *Solver) choose() {
	s.sift(false)
	if !s.anyFactor() {
		s.sift(true)
	}
}

func (s *Solver) sift(keepFactors bool) {
	c, p, far := &s.cert, s.problem, math.MinInt
	s.rows, c.Dropped = s.rows[:0], c.Dropped[:0]
	for i := range p.k {
		if m := p.square(i); m > 0 {
			far = max(far, math.Ilogb(m)+2*p.exp[i])
		}
	}
	top := 0.0 // the largest squared length, over 2^far as the others
	for i := range p.k {
		top = max(top, s.relative(i, far))
	}
	tol := s.ZeroTol
	if tol == 0 {
		tol = DefaultZeroTol
	}
	for i, sigma := range c.Sigma {
		moves := p.square(i) > 0
		long := moves && (tol < 0 || s.relative(i, far) > tol*tol*top)
		if long || keepFactors && moves && sigma > 0 || s.Zero == Keep && (moves || sigma > 0) {
			s.rows = append(s.rows, i)
		} else {
			c.Dropped = append(c.Dropped, i)
		}
	}
}

// relative is ‖J_i‖²/2^far.
func (s *Solver) relative(i, far int) float64 {
	return math.Ldexp(s.problem.square(i), 2*s.problem.exp[i]-far)
}

// feasible says whether some λ ≥ Floor has Σλσ = 1 over the rows that take part.
func (s *Solver) feasible() bool {
	sum, least := s.factors()
	return s.Floor == 0 || s.Floor*sum*least <= 1+1e-12
}

// factors returns Σσ over the rows that take part as a product of two numbers; the second one is 1
// unless the sum leaves the range of float64.
func (s *Solver) factors() (sum, unit float64) {
	for _, i := range s.rows {
		sum += s.cert.Sigma[i]
	}
	if !math.IsInf(sum, 1) {
		return sum, 1
	}
	const part = 0x1p-40
	sum = 0
	for _, i := range s.rows {
		sum += s.cert.Sigma[i] * part
	}
	return sum, 1 / part
}

func (s *Solver) anyFactor() bool {
	return slices.ContainsFunc(s.rows, func(i int) bool { return s.cert.Sigma[i] > 0 })
}

// onZeroRows answers when every row with σ_i > 0 has a zero gradient: d = 0 with equal weights
// there.
func (s *Solver) onZeroRows() (*Certificate, error) {
	c := &s.cert
	s.rows = s.rows[:0]
	for i, sigma := range c.Sigma {
		if sigma > 0 {
			s.rows = append(s.rows, i)
		}
	}
	sum, unit := s.factors()
	for _, i := range s.rows {
		c.Lambda[i] = 1 / sum / unit
		c.Active = append(c.Active, i)
	}
	c.Status = Stationary
	return c, s.finite()
}

// equal puts equal weights on the rows that take part, for want of a feasible floor.
func (s *Solver) equal() {
	w, n := &s.set, len(s.rows)
	sum, unit := s.factors()
	w.tau, w.q0, w.size0, w.shifted, w.iterations, w.norm2 = 1, 0, 0, false, 0, 0
	for a := range n {
		w.nu[a] = math.Ldexp(1/sum/unit, s.exp[a]+w.unit)
	}
	for a := range n {
		w.g[a] = 0
		for b, v := range w.nu {
			w.g[a] += w.c[a*n+b] * v
		}
	}
	for a, v := range w.nu {
		w.norm2 += v * w.g[a]
	}
	w.norm2 = max(w.norm2, 0)
	w.kappa = w.norm2
}

// checkSigma refuses factors that no problem can have.
func checkSigma(sigma []float64) error {
	some := false
	for i, v := range sigma {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("entry %d of sigma is %g: an elastic factor is a finite number, and not negative", i+1, v)
		}
		some = some || v > 0
	}
	if !some {
		return fmt.Errorf("every entry of sigma is 0; at least one elastic factor must be positive for Σλ_iσ_i = 1")
	}
	return nil
}
