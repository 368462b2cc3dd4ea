package analytic

import (
	"fmt"
	"math"
)

// scale is the length of a feature vector in units of its 8-bit values: an entry of a quarter of
// the length is 255.
const scale = 1020

// Admit returns an error if features cannot be learnt from or predicted with: they must be finite
// and not negative, as those behind a ReLU are.
func Admit(x []float32) error {
	for i, v := range x {
		if !(v >= 0) || math.IsInf(float64(v), 1) {
			return fmt.Errorf("feature %d is %g; want a finite number ≥ 0, as features behind a ReLU are", i, v)
		}
	}
	return nil
}

// Quantise writes the 8-bit values of the features of one sample to q, which is as long as x.
// Bytes, that is, multiples of 1/255 up to 1, stay the bytes that they are; other vectors become
// min(255, round(v/‖v‖·1020)). The result depends on the sample alone.
func Quantise(x []float32, q []uint8) error {
	if bytes(x, q) {
		return nil
	}
	if err := Admit(x); err != nil {
		return err
	}
	square := 0.0
	for _, v := range x {
		square += float64(v) * float64(v)
	}
	length := math.Sqrt(square)
	for i, v := range x {
		q[i] = uint8(min(255, math.RoundToEven(float64(v)/length*scale)))
	}
	return nil
}

// bytes writes the bytes b of which all x are b/255 in float32; it returns false if some x is no
// such number.
func bytes(x []float32, q []uint8) bool {
	for i, v := range x {
		if !(v >= 0 && v <= 1) {
			return false
		}
		b := uint8(v*255 + 0.5)
		if float32(b)/255 != v {
			return false
		}
		q[i] = b
	}
	return true
}
