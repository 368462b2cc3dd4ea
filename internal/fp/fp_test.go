package fp

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPowers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 100_000 {
		x := math.Float64frombits(r.Uint64N(0x7ff0 << 48)) // of any size
		switch i {
		case 0:
			x = math.SmallestNonzeroFloat64
		case 1:
			x = math.MaxFloat64
		case 2:
			x = Smallest
		}
		if x == 0 {
			continue
		}
		e := HalfExponent(x)
		if q := math.Ldexp(math.Ldexp(x, -e), -e); !(1 <= q && q < 4) {
			t.Fatalf("HalfExponent(%g) = %d, which leaves %g", x, e, q)
		}
	}
}

func TestGrow(t *testing.T) {
	v := Grow([]int(nil), 3)
	v[0] = 7
	if w := Grow(v, 5); len(w) != 5 || w[0] != 7 {
		t.Errorf("%v in the same memory, want length 5 and 7 first", w)
	}
	if w := Grow(v, 7); len(w) != 7 {
		t.Errorf("length %d, want 7", len(w))
	}
}

func TestLog(t *testing.T) {
	for e := -1074; e <= 1023; e++ {
		if got, want := Log(math.Ldexp(1, e)), float64(e)*math.Ln2; math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("Log(2^%d) = %v, want %v", e, got, want)
		}
	}
}
