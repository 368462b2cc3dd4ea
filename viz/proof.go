package viz

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// tolerance is the violation of an optimality condition, relative to its scale, that is still taken for
// rounding.
const tolerance = 1e-9

// converged is the norm of a gradient, relative to the largest, below which its row is left out
// (docs/method.md §1.5).
const converged = 1e-12

// CertificateStats summarises the certificates of a run's steps.
type CertificateStats struct {
	Steps      int // steps with a certificate
	Holding    int // of them, those solved with every relative slack ≥ −1e-9 and Σλ|slack|, relative, ≤ 1e-9
	Stationary int // of them, those with d = 0
	// WorstSlack is the lowest slack relative to its scale; positive if none was negative.
	WorstSlack float64
	WorstGap   float64 // the largest Σλ|slack|, relative
}

// CheckCertificates compares each step's slacks Jᵢ·d − σᵢ‖d‖² with scaleᵢ = ‖Jᵢ‖‖d‖ + σᵢ‖d‖², the size of the
// two terms of the difference (docs/method.md §2.5). If the record has no Gram matrix, |Jᵢ·d| takes the place
// of ‖Jᵢ‖‖d‖, which is stricter.
func CheckCertificates(records []results.Record) CertificateStats {
	s := CertificateStats{WorstSlack: math.Inf(1)}
	for i := range records {
		r := &records[i]
		if !certified(r) {
			continue
		}
		s.Steps++
		slack := relativeSlack(r)
		unsolved := r.Status == "floor-infeasible" || r.Status == "iteration-limit"
		if slack >= -tolerance && r.Gap <= tolerance && !unsolved {
			s.Holding++
		}
		if r.Status == "stationary" {
			s.Stationary++
		}
		s.WorstSlack = math.Min(s.WorstSlack, slack)
		s.WorstGap = math.Max(s.WorstGap, r.Gap)
	}
	if s.Steps == 0 {
		s.WorstSlack = 0
	}
	return s
}

func certified(r *results.Record) bool {
	k := len(r.IDs)
	return k > 0 && len(r.Lambda) == k && len(r.Sigma) == k && len(r.Slacks) == k
}

// floorBinds says whether a floor on λ kept the step from its optimum: then σᵢ‖d‖² is no guarantee.
func floorBinds(r *results.Record) bool {
	return r.Status == emgd.FloorBinding.String() || r.Status == emgd.FloorInfeasible.String()
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
// rows whose gradient is zero next to the others: they were left out of the step and promise nothing.
func relativeSlacks(r *results.Record) []float64 {
	k := len(r.IDs)
	out := make([]float64, k)
	if r.Status == "stationary" {
		return out
	}
	norm2, largest, withGram := r.NormD*r.NormD, 0.0, len(r.Gram) == k*k
	if withGram {
		norm2 = max(form(r.Lambda, r.Gram, r.Lambda), 0)
		for i := range k {
			largest = max(largest, r.Gram[i*k+i])
		}
	}
	for i, slack := range r.Slacks {
		out[i] = math.NaN()
		if withGram && r.Lambda[i] == 0 && r.Gram[i*k+i] <= converged*converged*largest {
			continue
		}
		share := r.Sigma[i] * norm2
		scale := math.Abs(slack+share) + share
		if withGram {
			scale = math.Sqrt(r.Gram[i*k+i]*norm2) + share
		}
		if scale > 0 {
			out[i] = slack / scale
		}
	}
	return out
}

// form is uᵀMv of a Gram matrix M.
func form(u, gram, v []float64) (sum float64) {
	for i, x := range u {
		for j, y := range v {
			sum += x * gram[i*len(u)+j] * y
		}
	}
	return sum
}
