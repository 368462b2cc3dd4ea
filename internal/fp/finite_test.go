package fp

import (
	"math"
	"testing"
)

func TestFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		v    []float32
		want bool
	}{
		{nil, true}, {[]float32{0, -1, math.MaxFloat32, math.SmallestNonzeroFloat32}, true},
		{[]float32{1, nan}, false}, {[]float32{inf, 1}, false}, {[]float32{-inf}, false},
	} {
		if got := Finite(c.v); got != c.want {
			t.Errorf("Finite(%v) = %v", c.v, got)
		}
	}
}
