package features

import (
	"fmt"
	"math"
)

// Width is how many values features of EfficientNet-Lite0 have.
const Width = 1280

// Scale is the code of a value of 1: a code c stands for c/Scale of a vector of length 1. One that
// is above a quarter of that length, as 4 in 100,000 are, is cut to it.
const Scale = 1020

// Encode writes the codes of the values of a backbone to codes, each a function of this picture
// alone: min(255, round(1020·v/|v|)). Values below 0, which a backbone that ends in a ReLU doesn't
// have, become 0. It returns an error if a value is not finite, or none is above 0.
func Encode(codes []uint8, values []float32) error {
	sum := 0.0
	for i, v := range values {
		if v-v != 0 {
			return fmt.Errorf("features: value %d is %g; want a finite number", i, v)
		}
		if v > 0 {
			sum += float64(v) * float64(v)
		}
	}
	if sum == 0 {
		return fmt.Errorf("features: none of %d values is above 0; want a larger size, or pictures without this one",
			len(values))
	}
	length := math.Sqrt(sum)
	for i, v := range values {
		codes[i] = uint8(min(255, math.Round(max(0, float64(v))/length*Scale)))
	}
	return nil
}

// Codes writes the codes that a sample stands for. A sample holds c/255 for a code c, as those of a
// data set of features do. It returns an error if a value is none of these.
func Codes(codes []uint8, sample []float32) error {
	for i, v := range sample {
		c := math.Round(float64(v) * 255)
		if !(c >= 0 && c <= 255) || float32(c)/255 != v {
			return fmt.Errorf("features: value %d is %g; want c/255 for a code c from 0 to 255", i, v)
		}
		codes[i] = uint8(c)
	}
	return nil
}
