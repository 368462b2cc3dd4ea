package method

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
)

// How rules ask the solver of the EMGD dual (docs/method.md §2.2), which many of them are special cases of (docs/method.md §2.7).

// solve runs the dual solver, copies λ into w and names the streams left out.
func solve(solver *emgd.Solver, s *Step, sigma, w []float64) (Outcome, error) {
	cert, err := s.dual(solver, sigma)
	if err != nil {
		return Outcome{}, err
	}
	copy(w, cert.Lambda)
	out := Outcome{Certificate: cert}
	for _, i := range cert.Dropped {
		out.Dropped = append(out.Dropped, s.IDs[i])
	}
	return out, nil
}

// dual solves from the rows, if the step has them, when their squares are too inaccurate: the rows that
// vanish in the Gram matrix may be the ones with a factor.
func (s *Step) dual(solver *emgd.Solver, sigma []float64) (*emgd.Certificate, error) {
	if s.extreme() {
		return solver.SolveRows(s.Rows, sigma)
	}
	cert, err := solver.Solve(s.Gram, sigma)
	switch {
	case err != nil || cert.Status == emgd.Stationary:
	case cert.Cancellation < delicate && len(s.Rows) == s.K():
		return solver.SolveRows(s.Rows, sigma)
	default:
		cert.Exponent += s.Exponent
	}
	return cert, err
}

// delicate is the cancellation in d below which the rounding of the Gram matrix, 1e-16 over its square in
// ‖d‖², begins to show in the certificate.
const delicate = 1e-3

// extreme says whether the step has rows with squares that leave the range in which products keep their
// digits.
func (s *Step) extreme() bool {
	k := s.K()
	if len(s.Rows) != k {
		return false
	}
	for i, row := range s.Rows {
		ordinary := smallSquare <= s.Gram[i*k+i] && s.Gram[i*k+i] <= largeSquare
		if (s.Exponent != 0 || !ordinary) && slices.ContainsFunc(row, func(x float64) bool { return x != 0 }) {
			return true
		}
	}
	return false
}

// solved returns an error if a solver stopped at its iteration bound with weights that are not even accurate
// to the sixth digit.
func solved(cert *emgd.Certificate, err error) (*emgd.Certificate, error) {
	if err == nil && cert.Status == emgd.IterationLimit && cert.Violation > unsolved {
		return nil, errUnsolved
	}
	return cert, err
}

// bounded brings the entries of a Gram matrix that was computed from another one back within
// |Mᵢⱼ| ≤ √(MᵢᵢMⱼⱼ), which rounding may have broken where rows nearly cancel.
func bounded(gram []float64, k int) {
	for i := range k {
		gram[i*k+i] = max(gram[i*k+i], 0)
	}
	for i := range k {
		for j := range i {
			most := math.Sqrt(gram[i*k+i]) * math.Sqrt(gram[j*k+j])
			v := min(max(gram[i*k+j], -most), most)
			gram[i*k+j], gram[j*k+i] = v, v
		}
	}
}
