package method

import (
	"math"

	"github.com/parallelcl/parallelcl/emgd"
)

// Rules ask the solver of the EMGD dual (docs/method.md §2.2) by the functions of this file. Many
// rules are special cases of that dual (docs/method.md §2.7).

// solve runs the dual solver, copies λ into w and names the streams left out.
func solve(solver *emgd.Solver, s *Step, sigma, w []float64) (Outcome, error) {
	p, err := s.problem()
	if err != nil {
		return Outcome{}, err
	}
	cert, err := solver.Solve(p, sigma)
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

// solveGram solves for a Gram matrix that a rule made. It fails if the solver stopped at its
// iteration bound with weights that are not even accurate to the sixth digit.
func solveGram(solver *emgd.Solver, p *emgd.Problem, sigma []float64) (*emgd.Certificate, error) {
	cert, err := solver.Solve(p, sigma)
	if err == nil && cert.Status == emgd.IterationLimit && cert.Violation > unsolved {
		err = errUnsolved
	}
	return cert, err
}

// lambdas are the weights that solveGram finds for a Gram matrix; they belong to the solver.
func lambdas(solver *emgd.Solver, gram, sigma []float64) ([]float64, error) {
	p, err := emgd.NewProblem(gram)
	if err != nil {
		return nil, err
	}
	cert, err := solveGram(solver, p, sigma)
	if err != nil {
		return nil, err
	}
	return cert.Lambda, nil
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
