package emgd

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// DefaultZeroTol is the length, relative to the longest gradient, up to which a gradient is left
// out.
const DefaultZeroTol = 1e-12

// Solver finds the weights λ that minimise ‖Σλ_iJ_i‖² subject to Σλ_iσ_i = 1 and λ ≥ Floor, exactly
// and from a [Problem] alone (docs/method.md §2.3, §2.4). The zero value is ready. It reuses its
// memory: once it has seen its largest K, Solve allocates nothing. It is not safe for concurrent
// use.
//
// Gradients of very different lengths cause no difficulty. K = 1 and K = 2 have closed forms;
// beyond, an active-set method solves one bordered system per support.
type Solver struct {
	// Floor is the smallest weight allowed, 0 in the paper, 1/(K+1) in the authors' code.
	Floor float64
	// ZeroTol says which gradients are left out (λ_i = 0, docs/method.md §1.5): those with ‖J_i‖ ≤
	// ZeroTol·max_j‖J_j‖, or, if it is negative, only those of length 0; 0 stands for
	// DefaultZeroTol. The factors of the others are used as given. If all gradients above the bound
	// have σ = 0, those below it with σ > 0 stay, unless they are 0.
	ZeroTol float64

	cert    Certificate
	problem *Problem
	rows    []int // the rows that take part
	shift   []int // λ_i = floor + ν_i/2^shift_i takes the solution of the scaled problem back; see scale
	set     activeSet
}

// Solve returns the weights for a problem of K gradients and the elastic factors sigma (length K, ≥
// 0, not all 0; they need not sum to 1, and all 1 gives MGDA). The certificate belongs to the
// solver and is valid until its next call; keep one with Clone. Errors are for factors out of their
// range, and for weights that float64 cannot hold; they name the entry at fault. Otherwise the
// weights are finite, ≥ 0 and satisfy Σλ_iσ_i = 1; the certificate's Status says what they are.
// Solve panics if sigma has another length or a setting is out of its range.
func (s *Solver) Solve(p *Problem, sigma []float64) (*Certificate, error) {
	if len(sigma) != p.k {
		panic(fmt.Sprintf("emgd: %d elastic factors for %d gradients", len(sigma), p.k))
	}
	if !(s.Floor >= 0) || math.IsInf(s.Floor, 1) || s.ZeroTol-s.ZeroTol != 0 || s.ZeroTol >= 1 {
		panic(fmt.Sprintf("emgd: Floor %v, ZeroTol %v; want a finite number ≥ 0, and one below 1", s.Floor, s.ZeroTol))
	}
	if err := checkSigma(sigma); err != nil {
		return nil, err
	}
	c, err := s.solve(p, sigma)
	if err == nil && p.rows != nil && p.lo == nil && c.Status != Stationary && c.Cancellation < delicate {
		return s.solve(p.exact(), sigma)
	}
	return c, err
}

// delicate is the cancellation in d below which the rounding of the Gram matrix, 1e-16 over its
// square in ‖d‖², begins to show in the certificate.
const delicate = 1e-3

func checkSigma(sigma []float64) error {
	for i, v := range sigma {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("entry %d of sigma is %g: an elastic factor is a finite number, and not negative", i+1, v)
		}
	}
	if slices.Max(sigma) == 0 {
		return errors.New("every entry of sigma is 0; at least one elastic factor must be positive for Σλ_iσ_i = 1")
	}
	return nil
}

func (s *Solver) solve(p *Problem, sigma []float64) (*Certificate, error) {
	s.problem = p
	defer func() { s.problem = nil }() // its gradients are the caller's
	s.reset(sigma)
	s.choose()
	moves := s.anyFactor()
	if !moves { // only rows of length 0 have one: d = 0, with equal weights there
		s.rows = s.rows[:0]
		for i, v := range sigma {
			if v > 0 {
				s.rows = append(s.rows, i)
			}
		}
	}
	s.scale()
	w := &s.set
	w.iterations, w.converged = 0, true
	switch {
	case !moves:
		s.equal()
		return s.finish(Stationary)
	case s.Floor*s.factors() > 1+1e-12:
		s.equal()
		return s.finish(FloorInfeasible)
	case s.Floor > 0 || len(s.rows) > 2:
		w.solve()
		w.refine()
	case len(s.rows) == 2:
		w.pair()
		if p.lo != nil && w.cancels() {
			w.solve()
			w.refine()
		}
	default:
		w.only(0)
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
	s.rows, s.shift = fp.Grow(s.rows, k)[:0], fp.Grow(s.shift, k)
}

// choose fills rows and the certificate's Dropped. Where all rows with a factor would be dropped,
// those of them that are not 0 stay: they are short next to rows that only bound them.
func (s *Solver) choose() {
	s.sift(false)
	if !s.anyFactor() {
		s.sift(true)
	}
}

func (s *Solver) sift(keepFactors bool) {
	c, p := &s.cert, s.problem
	s.rows, c.Dropped = s.rows[:0], c.Dropped[:0]
	unit, _ := p.longest()
	top := 0.0 // the largest squared length, over 4^unit as the others
	for i := range p.k {
		top = max(top, p.relative(i, unit))
	}
	tol := s.ZeroTol
	if tol == 0 {
		tol = DefaultZeroTol
	}
	for i, sigma := range c.Sigma {
		moves := p.square(i) > 0
		long := moves && (tol < 0 || p.relative(i, unit) > tol*tol*top)
		if long || keepFactors && moves && sigma > 0 {
			s.rows = append(s.rows, i)
		} else {
			c.Dropped = append(c.Dropped, i)
		}
	}
}

// factors returns Σσ over the rows that take part, which may be infinite: any floor is then too
// high.
func (s *Solver) factors() (sum float64) {
	for _, i := range s.rows {
		sum += s.cert.Sigma[i]
	}
	return sum
}

// share returns 1/Σσ, the weight of each row if all have the same.
func (s *Solver) share() float64 {
	sum := s.factors()
	if !math.IsInf(sum, 1) {
		return 1 / sum
	}
	const part = 0x1p-40
	sum = 0
	for _, i := range s.rows {
		sum += s.cert.Sigma[i] * part
	}
	return part / sum
}

func (s *Solver) anyFactor() bool {
	return slices.ContainsFunc(s.rows, func(i int) bool { return s.cert.Sigma[i] > 0 })
}

// equal puts equal weights on the rows that take part, because no weights reach the floor or none
// count.
func (s *Solver) equal() {
	w, n, lambda := &s.set, len(s.rows), s.share()
	w.shifted, w.norm2 = false, 0
	for a := range n {
		w.nu[a] = math.Ldexp(lambda, s.shift[a])
	}
	for a := range n {
		w.g[a] = dot(w.c[a*n:][:n], w.nu)
		w.norm2 += w.nu[a] * w.g[a]
	}
	w.norm2 = max(w.norm2, 0)
	w.kappa = w.norm2
}
