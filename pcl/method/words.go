package method

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Temperature is the temperature τ of elastic factors: a number above 0, +Inf, which makes all factors equal, or [AutoTau].
// As text these are numbers, "inf" and "auto". The zero value stands for the method's default.
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

// Floor is the lower bound of every weight λ of an elastic step: a number of at least 0, or [ReleaseFloor]. As text these are
// numbers and "release".
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

// errAutoTau is returned by rules whose factors do not depend on the lengths of the gradients, or only on their ratios.
var errAutoTau = errors.New("tau is auto, which follows the lengths of gradients; want a number or inf, or the method emgd-gmc")
