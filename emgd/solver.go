package emgd

import (
	"fmt"
	"math"
	"slices"
)

// ZeroPolicy says what happens to streams whose gradient is zero next to the others (METHODS §5.6).
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
// and from the Gram matrix alone (METHODS §5.2–5.3). The zero value is ready. It reuses its memory:
// once it has seen its largest K it allocates nothing. It is not safe for concurrent use.
//
// Rows are scaled by powers of two before solving, so gradients of very different length are no
// difficulty and the scaling itself is free of rounding. K = 1 and K = 2 have closed forms; beyond,
// an active-set method solves one bordered system per support.
type Solver struct {
	// Floor is the smallest weight allowed, 0 in the paper, 1/(K+1) in the authors' code.
	Floor float64
	// Zero is what happens to gradients with ‖J_i‖ ≤ ZeroTol·max_j‖J_j‖; Drop by default.
	Zero ZeroPolicy
	// ZeroTol is 0 for DefaultZeroTol; negative treats only gradients of norm 0 as zero.
	ZeroTol float64

	cert Certificate
	rows []int     // the rows that take part
	unit []float64 // their power-of-two norms p_i
	inv  []float64 // 1/p_i
	set  activeSet
}

// underflow is the squared norm below which products of gradients lose digits to underflow; such
// gradients count as zero.
const underflow = 1e-290

// stationary is the ratio ‖d‖/Σλ_i‖J_i‖ up to which d cannot be told from 0: rounding in M alone
// moves ‖d‖² by about 1e-16·K·(Σλ_i‖J_i‖)², and below this ratio the conditions on J_i·d cannot be
// met to nine digits.
func stationary(k int) float64 { return 4e-7 * math.Sqrt(float64(k)) }

// Solve returns the weights for the Gram matrix gram = JJᵀ (row-major K×K) and the elastic factors
// sigma (length K, ≥ 0, not all 0; they need not sum to 1, and all 1 gives MGDA). The certificate
// belongs to the solver and is valid until its next call; keep one with Clone. Errors are for bad
// input only and name the entry at fault. Whatever the gradients, the weights are finite, ≥ 0 and
// satisfy Σλ_iσ_i = 1; the certificate's Status says what they are.
func (s *Solver) Solve(gram, sigma []float64) (*Certificate, error) {
	k := len(sigma)
	if err := checkGram(gram, k); err != nil {
		return nil, err
	}
	if err := checkSigma(sigma, k); err != nil {
		return nil, err
	}
	if !(s.Floor >= 0) || math.IsInf(s.Floor, 1) {
		return nil, fmt.Errorf("emgd: floor %v on the weights; want a finite number ≥ 0", s.Floor)
	}
	s.reset(sigma)
	s.choose(gram)
	if !s.feasible() {
		return s.equal(gram)
	}
	if !s.anyFactor() {
		return s.onZeroRows()
	}
	s.scale(gram)
	switch {
	case s.Floor > 0 || len(s.rows) > 2:
		s.set.solve()
		s.set.refine()
	case len(s.rows) == 2:
		s.set.pair()
	default:
		s.set.single()
	}
	return s.finish(gram)
}

func grow[T any](v []T, n int) []T {
	if cap(v) < n {
		v = make([]T, n)
	}
	return v[:n]
}

// reset prepares an empty certificate for the factors sigma.
func (s *Solver) reset(sigma []float64) {
	k := len(sigma)
	c := &s.cert
	*c = Certificate{
		Lambda: grow(c.Lambda, k), Sigma: grow(c.Sigma, k), Slacks: grow(c.Slacks, k),
		Active: grow(c.Active, k)[:0], Dropped: grow(c.Dropped, k)[:0], Floor: s.Floor,
	}
	clear(c.Lambda)
	copy(c.Sigma, sigma)
	s.rows, s.unit, s.inv = grow(s.rows, k)[:0], grow(s.unit, k), grow(s.inv, k)
}

// choose fills rows and the certificate's Dropped.
func (s *Solver) choose(gram []float64) {
	k := len(s.cert.Sigma)
	top := 0.0
	for i := range k {
		top = max(top, gram[i*k+i])
	}
	tol := s.ZeroTol
	if tol == 0 {
		tol = DefaultZeroTol
	}
	bound := underflow
	if tol > 0 {
		bound = max(bound, tol*tol*top)
	}
	for i, sigma := range s.cert.Sigma {
		m := gram[i*k+i]
		switch {
		case m > bound, s.Zero == Keep && (m > underflow || sigma > 0):
			s.rows = append(s.rows, i)
		default:
			s.cert.Dropped = append(s.cert.Dropped, i)
		}
	}
}

// feasible says whether some λ ≥ Floor has Σλσ = 1 over the rows that take part.
func (s *Solver) feasible() bool {
	sum := 0.0
	for _, i := range s.rows {
		sum += s.cert.Sigma[i]
	}
	return s.Floor*sum <= 1+1e-12
}

func (s *Solver) anyFactor() bool {
	return slices.ContainsFunc(s.rows, func(i int) bool { return s.cert.Sigma[i] > 0 })
}

// onZeroRows answers when every row with σ_i > 0 has a zero gradient: d = 0 with equal weights
// there.
func (s *Solver) onZeroRows() (*Certificate, error) {
	c := &s.cert
	sum := 0.0
	for _, sigma := range c.Sigma {
		sum += sigma
	}
	for i, sigma := range c.Sigma {
		if sigma > 0 {
			c.Lambda[i] = 1 / sum
			c.Active = append(c.Active, i)
		}
	}
	c.Status = Stationary
	clear(c.Slacks)
	return c, s.finite()
}

// equal answers with equal weights over the rows that take part, for want of a feasible floor.
func (s *Solver) equal(gram []float64) (*Certificate, error) {
	c := &s.cert
	k, sum := len(c.Sigma), 0.0
	for _, i := range s.rows {
		sum += c.Sigma[i]
	}
	for _, i := range s.rows {
		c.Lambda[i] = 1 / sum
	}
	for i := range k {
		c.Slacks[i] = 0
		for j, l := range c.Lambda {
			c.Slacks[i] += gram[i*k+j] * l
		}
		c.Norm2 += c.Lambda[i] * c.Slacks[i]
	}
	c.Norm2 = max(c.Norm2, 0)
	c.Level = c.Norm2
	c.Status = FloorInfeasible
	s.measure(gram)
	return c, s.finite()
}

// measure turns the gains J_i·d in Slacks into slacks, and judges them. It reads Lambda, Norm2 and
// Level.
func (s *Solver) measure(gram []float64) {
	c := &s.cert
	k := len(c.Sigma)
	norm := math.Sqrt(c.Norm2)
	level := max(c.Norm2, math.Abs(c.Level))
	size, gap, total := 0.0, 0.0, 0.0
	for i, l := range c.Lambda {
		ni := math.Sqrt(gram[i*k+i])
		size += l * ni
		c.Slacks[i] -= c.Sigma[i] * c.Level
		scale := ni*norm + c.Sigma[i]*level
		free := l - s.Floor
		if scale == 0 || l == 0 && slices.Contains(c.Dropped, i) {
			continue
		}
		breach := -c.Slacks[i]
		if free > 0 && slices.Contains(c.Active, i) {
			breach = math.Abs(breach)
			gap += free * breach
			total += free * scale
		}
		c.Violation = max(c.Violation, breach/scale)
	}
	if total > 0 {
		c.Gap = gap / total
	}
	if size > 0 {
		c.Cancellation = min(1, norm/size)
	}
}

// finite guards against factors and gradients so extreme that the result leaves float64.
func (s *Solver) finite() error {
	c := &s.cert
	sum := c.Norm2 + c.Level
	for i := range c.Lambda {
		sum += c.Lambda[i] + c.Slacks[i]
	}
	if sum-sum != 0 {
		return fmt.Errorf("emgd: the weights leave the range of float64; rescale the factors σ or the gradients")
	}
	return nil
}
