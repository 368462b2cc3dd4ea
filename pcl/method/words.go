package method

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Temperature is the temperature τ of elastic factors: a number above 0, +Inf, which makes all
// factors equal, or [AutoTau]. As text these are numbers, "inf" and "auto". The zero value stands
// for the method's default.
type Temperature float64

// AutoTau follows the moving average of the gradients' lengths. It is for [EMGDGMC] alone.
const AutoTau Temperature = -math.MaxFloat64

// MarshalText writes a number, "inf" or "auto".
func (t Temperature) MarshalText() ([]byte, error) {
	switch {
	case t == AutoTau:
		return []byte("auto"), nil
	case math.IsInf(float64(t), 1):
		return []byte("inf"), nil
	}
	return fmt.Append(nil, float64(t)), nil
}

// UnmarshalText reads what MarshalText writes.
func (t *Temperature) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*t = AutoTau
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(x > 0) {
		return fmt.Errorf("%q is not a temperature; want a number above 0, inf or auto", text)
	}
	*t = Temperature(x)
	return nil
}

// Floor is the lower bound of every weight λ of an elastic step: a number of at least 0, or
// [ReleaseFloor]. As text these are numbers and "release".
type Floor float64

// ReleaseFloor is 1/(K+1), as in the released code; it gives up the Pareto guarantee.
const ReleaseFloor Floor = -math.MaxFloat64

// MarshalText writes a number or "release".
func (f Floor) MarshalText() ([]byte, error) {
	if f == ReleaseFloor {
		return []byte("release"), nil
	}
	return fmt.Append(nil, float64(f)), nil
}

// UnmarshalText reads what MarshalText writes.
func (f *Floor) UnmarshalText(text []byte) error {
	if string(text) == "release" {
		*f = ReleaseFloor
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 1) {
		return fmt.Errorf("%q is not a floor; want a finite number of at least 0, or release", text)
	}
	*f = Floor(x)
	return nil
}

// errAutoTau is returned by rules whose factors do not depend on the lengths of the gradients, or
// only on their ratios.
var errAutoTau = errors.New("tau is auto, which follows the lengths of gradients; want a number or inf, or the " +
	"method emgd-gmc")

// AlignedMTLScale is the value to which [AlignedMTL] sets all singular values of J.
type AlignedMTLScale string

const (
	AlignedMTLMin    AlignedMTLScale = "min"    // the smallest of them
	AlignedMTLMedian AlignedMTLScale = "median" // the median, the lower of two
	AlignedMTLRMSE   AlignedMTLScale = "rmse"   // their root mean square
)

// CAGradDivisor is what [CAGrad] divides its weights by.
type CAGradDivisor string

const (
	CAGradOver1       CAGradDivisor = "1"     // nothing, as in some published codes
	CAGradOver1PlusC  CAGradDivisor = "1+c"   // 1 + c
	CAGradOver1PlusC2 CAGradDivisor = "1+c^2" // 1 + c², as in others
)

// FAMOMinLoss is the least loss of a stream, which [FAMO] subtracts from its losses.
type FAMOMinLoss string

const (
	FAMOZero    FAMOMinLoss = "zero"    // 0
	FAMOTracked FAMOMinLoss = "tracked" // the smallest loss so far, which needs an Eps as large as the noise of the losses
)

// IMTLInit is the s of a new stream, for [IMTL] and [IMTLL].
type IMTLInit string

const (
	IMTLZero IMTLInit = "zero" // 0
	IMTLLoss IMTLInit = "loss" // −log ℓ, the value at which it would no longer change
)

// GradientNorm is what [MGDA] and [MoCo] divide gradients by before they compute weights.
type GradientNorm string

const (
	NormNone   GradientNorm = "none"  // 1
	NormL2     GradientNorm = "l2"    // ‖Jᵢ‖; not for MoCo
	NormLoss   GradientNorm = "loss"  // ℓᵢ; of MoCo ‖Jᵢ‖/ℓᵢ, as in its authors' code
	NormLossL2 GradientNorm = "loss+" // ℓᵢ‖Jᵢ‖; not for MoCo
)

// PCDPrimary is the primary stream of [PCD].
type PCDPrimary string

const (
	PCDFirst PCDPrimary = "first" // the memory or, without one, the oldest task
	PCDLast  PCDPrimary = "last"  // the newest task
)

// Rescaling is how the direction d of a [Rescaled] method is scaled (docs/method.md §1.4).
type Rescaling string

const (
	RescaleNative   Rescaling = "native"    // as the method scales it
	RescaleMean     Rescaling = "mean"      // the weights are divided by |Σw|
	RescaleMatchAvg Rescaling = "match_avg" // to the length of the mean gradient
)

// RLWDistribution is the distribution of the z of [RLW].
type RLWDistribution string

const (
	RLWNormal  RLWDistribution = "normal"  // N(0,1)
	RLWUniform RLWDistribution = "uniform" // U[0,1), as in the released PCL code
)
