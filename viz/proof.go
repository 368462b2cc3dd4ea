package viz

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// tolerance is the violation of an optimality condition, relative to its scale, that is still taken
// for rounding.
const tolerance = 1e-9

// converged is the norm of a gradient, relative to the largest, below which its row is left out
// (docs/method.md §1.5).
const converged = 1e-12

// CertificateStats summarises the certificates of a run's steps.
type CertificateStats struct {
	Steps      int     // steps with a certificate
	Holding    int     // steps solved with all relative slacks ≥ −1e-9 and a relative Σλ|slack| ≤ 1e-9
	Stationary int     // steps with d = 0
	WorstSlack float64 // the lowest relative slack; positive if all were
	WorstGap   float64 // the largest relative Σλ|slack|
}

// CheckCertificates checks the certificate of each step: the slacks Jᵢ·d − σᵢ‖d‖², relative to
// ‖Jᵢ‖‖d‖ + σᵢ‖d‖², the size of the two terms of the difference (docs/method.md §2.5).
func CheckCertificates(records []results.Record) (s CertificateStats) {
	for i := range records {
		r := &records[i]
		if !certified(r) {
			continue
		}
		slack := relativeSlack(r)
		if s.Steps++; s.Steps == 1 || slack < s.WorstSlack {
			s.WorstSlack = slack
		}
		s.WorstGap = max(s.WorstGap, r.Gap)
		unsolved := r.Status == emgd.FloorInfeasible.String() || r.Status == emgd.IterationLimit.String()
		if slack >= -tolerance && r.Gap <= tolerance && !unsolved {
			s.Holding++
		}
		if r.Status == emgd.Stationary.String() {
			s.Stationary++
		}
	}
	return s
}

func certified(r *results.Record) bool {
	k := len(r.IDs)
	return k > 0 && len(r.Lambda) == k && len(r.Sigma) == k && len(r.Slacks) == k && len(r.Gram) == k*k
}

// relativeSlack returns the lowest of a step's [relativeSlacks]; 0 where there is none.
func relativeSlack(r *results.Record) float64 {
	kept := slices.DeleteFunc(relativeSlacks(r), math.IsNaN)
	if len(kept) == 0 {
		return 0
	}
	return slices.Min(kept)
}

// relativeSlacks returns the slack of each row relative to its scale; 0 where d = 0. It is NaN for
// rows whose gradient is zero next to the others: they were left out of the step and promise
// nothing.
func relativeSlacks(r *results.Record) []float64 {
	k := len(r.IDs)
	out := make([]float64, k)
	if r.Status == emgd.Stationary.String() {
		return out
	}
	lambda, gram := mat.NewVecDense(k, r.Lambda), mat.NewDense(k, k, r.Gram)
	norm2, largest := max(mat.Inner(lambda, gram, lambda), 0), 0.0
	for i := range k {
		largest = max(largest, gram.At(i, i))
	}
	for i, slack := range r.Slacks {
		square := gram.At(i, i) // ‖Jᵢ‖²
		scale := math.Sqrt(square*norm2) + r.Sigma[i]*norm2
		leftOut := r.Lambda[i] == 0 && square <= converged*converged*largest
		if out[i] = math.NaN(); !leftOut && scale > 0 {
			out[i] = slack / scale
		}
	}
	return out
}
