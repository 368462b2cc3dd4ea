// Package limits checks parameters and says what is wrong with them.
package limits

import (
	"fmt"
	"math"
)

// Within returns an error unless least ≤ x ≤ most and x is finite.
func Within(what string, x, least, most float64) error {
	if !(x >= least && x <= most) || math.IsInf(x, 0) {
		return fmt.Errorf("%s is %g; want a number from %g to %g", what, x, least, most)
	}
	return nil
}
