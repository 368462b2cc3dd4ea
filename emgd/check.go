package emgd

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/internal/fp"
)

const (
	// symTol is the largest asymmetry and the largest excess over the Cauchy–Schwarz bound that is
	// taken for rounding, relative to ‖J_i‖‖J_j‖. Gram matrices accumulated in float32 pass.
	symTol = 1e-5
	// underflown bounds what the square of a short gradient may have lost to underflow; it is allowed
	// for next to gradients whose square is above longSquare.
	underflown, longSquare = 0x1p-1050, 0x1p-900
)

// checkGram verifies that gram may be a k×k Gram matrix; an error names the entry at fault.
func checkGram(gram []float64, k int) error {
	if k == 0 {
		return fmt.Errorf("emgd: no gradients: the Gram matrix is 0×0")
	}
	if len(gram) != k*k {
		return fmt.Errorf("emgd: the Gram matrix has %d entries for %d gradients; want %d", len(gram), k, k*k)
	}
	top := 0.0
	for i := range k {
		row := gram[i*k : i*k+k]
		for j, v := range row {
			if v-v != 0 {
				return fmt.Errorf("emgd: Gram entry (%d,%d) is %v; leave streams without a finite gradient out", i, j, v)
			}
		}
		if row[i] < 0 {
			return fmt.Errorf("emgd: Gram entry (%d,%d) = %v is negative; a diagonal entry is the squared norm of gradient %d", i, i, row[i], i)
		}
		top = max(top, row[i])
	}
	lost := 0.0
	if top > longSquare {
		lost = underflown
	}
	for i := range k {
		ni := math.Sqrt(gram[i*k+i] + lost)
		for j := range i {
			a, b := gram[i*k+j], gram[j*k+i]
			bound := ni * math.Sqrt(gram[j*k+j]+lost)
			if a != b && !(math.Abs(a-b) <= symTol*bound) {
				return fmt.Errorf("emgd: the Gram matrix is not symmetric: entry (%d,%d) = %v but (%d,%d) = %v%s", i, j, a, j, i, b, underflowHint(top))
			}
			if !(math.Abs(a) <= (1+symTol)*bound) {
				return fmt.Errorf("emgd: Gram entry (%d,%d) = %v exceeds ‖J_%d‖‖J_%d‖ = %v; no gradients have such inner products%s", i, j, a, i, j, bound, underflowHint(top))
			}
		}
	}
	return nil
}

// underflowHint says why a Gram matrix with the largest diagonal entry top may contradict itself.
func underflowHint(top float64) string {
	if top >= fp.Smallest {
		return ""
	}
	return "; entries below 2e-308 have lost their digits: scale the gradients up before multiplying them"
}

// checkSigma verifies the elastic factors of k gradients.
func checkSigma(sigma []float64, k int) error {
	if len(sigma) != k {
		return fmt.Errorf("emgd: %d elastic factors for %d gradients", len(sigma), k)
	}
	some := false
	for i, v := range sigma {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("emgd: elastic factor σ_%d = %v; want a finite number ≥ 0", i, v)
		}
		some = some || v > 0
	}
	if !some {
		return fmt.Errorf("emgd: every elastic factor is 0; at least one must be positive for Σλ_iσ_i = 1")
	}
	return nil
}
