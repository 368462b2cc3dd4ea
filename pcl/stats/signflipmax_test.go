package stats

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// TestSignFlipMaxOfOne: with one rival that is ahead it is the sign-flip test.
func TestSignFlipMaxOfOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quarters := rapid.SliceOfN(rapid.IntRange(-12, 20), minPairs, 10).Draw(t, "differences")
		d, sum := make([]float64, len(quarters)), 0
		for i, x := range quarters {
			d[i] = float64(x) / 4
			sum += x
		}
		if sum < 0 { // turned round, the rival is ahead
			floats.Scale(-1, d)
		}
		want := signFlip(d, make([]float64, len(d)))
		if p := SignFlipMax(above0(d)); math.Abs(p-want) > 1e-9 {
			t.Errorf("p = %v, want %v", p, want)
		}
	})
}

// TestSumsOfZero: where rivals are ahead as much as behind, choices of signs with the same sum, 0
// but for rounding, are as far.
func TestSumsOfZero(t *testing.T) {
	for _, quarters := range [][]float64{{19, -5, 6, -2, -6, -12}, {1, 1, 1, -1, -1, -1}, {7, -3, -4, 11, -11, 0, 3, -3}} {
		d := slices.Clone(quarters)
		floats.Scale(0.25, d)
		if p := SignFlipMax(above0(d)); p != 1 {
			t.Errorf("%v: p = %v, want 1", d, p)
		}
	}
}

// above0 is the scores of rivals of a method whose scores are 0.
func above0(ahead ...[]float64) (a, b [][]float64) {
	for _, own := range ahead {
		b = append(b, make([]float64, len(own)))
	}
	return ahead, b
}

// TestRoundingIsNoLead: scores that differ by rounding are equal, beside others that differ and
// alone.
func TestRoundingIsNoLead(t *testing.T) {
	own, near, far := make([]float64, 9), make([]float64, 9), make([]float64, 9)
	for i := range own {
		own[i] = 50.1 + float64(i)
		near[i], far[i] = math.Nextafter(own[i], 100), own[i]+float64(i%3)-1
	}
	if p := SignFlipMax([][]float64{near}, [][]float64{own}); p != 1 {
		t.Errorf("alone: p = %v, want 1", p)
	}
	want := SignFlipMax([][]float64{far}, [][]float64{own})
	if p := SignFlipMax([][]float64{far, near}, [][]float64{own, own}); p != want {
		t.Errorf("beside another: p = %v, want %v", p, want)
	}
}

// TestSignFlipMaxByHand: all of nine situations are ahead, with other rivals that are the same,
// behind, or of another sign.
func TestSignFlipMaxByHand(t *testing.T) {
	ahead := slices.Repeat([]float64{2}, 9)
	behind := slices.Repeat([]float64{-2}, 9)
	small := []float64{1, -1, 1, -1, 1, -1, 1, -1, 0}
	for _, c := range []struct {
		ahead [][]float64
		want  float64
	}{
		{[][]float64{ahead, ahead, ahead}, 2.0 / 512}, // rivals that are alike cost nothing
		{[][]float64{small, ahead}, 2.0 / 512},
		{[][]float64{ahead, behind}, 4.0 / 512}, // the second one is as far ahead with all signs turned
		{[][]float64{behind}, 1},
	} {
		if p := SignFlipMax(above0(c.ahead...)); math.Abs(p-c.want) > 1e-12 {
			t.Errorf("%v: p = %v, want %v", c.ahead, p, c.want)
		}
	}
	long := slices.Repeat([]float64{1}, maxFlips+1)
	if p := SignFlipMax(above0(long)); p > 2e-5 || p <= 0 {
		t.Errorf("%d situations: p = %v", len(long), p)
	}
}
