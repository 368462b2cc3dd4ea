package tsne

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestKL compares with the definition written out.
func TestKL(t *testing.T) {
	x, _ := clusters(3, 30, 4, 2, 1)
	whole := dense(affinitiesOf(t, x, 12, len(x)-1))
	for _, size := range []float64{1e-3, 1, 100, 1e6} {
		y := plane(len(x), size, 2)
		got, err := KL(x, y, 12)
		want := objectiveValue(whole, y, 1)
		if err != nil || math.Abs(got-want) > 1e-9*want {
			t.Errorf("size %v: KL = %v, %v; want %v", size, got, err, want)
		}
	}
}

func TestTrustworthiness(t *testing.T) {
	// On a line the two ends change places: nearest to the first is now the sixth point, its fifth
	// nearest in x, and to the sixth the first, its sixth nearest; so at the other end.
	x := [][]float64{{0}, {1}, {2.1}, {3.3}, {4.2}, {5}, {6}}
	y := [][2]float64{{5.7, 0}, {1, 0}, {2.1, 0}, {3.3, 0}, {4.2, 0}, {5, 0}, {0.2, 0}}
	got, err := Trustworthiness(x, y, 1)
	want := 1 - 2.0/(7*1*(2*7-3*1-1))*(4+5+4+5)
	if err != nil || math.Abs(got-want) > 1e-15 {
		t.Errorf("trustworthiness %v, %v; want %v", got, err, want)
	}

	r := rand.New(rand.NewPCG(1, 1))
	points := gaussian(r, 150, 2)
	same := make([][2]float64, len(points))
	for i, p := range points {
		same[i] = [2]float64{3 * p[1], -3 * p[0]} // turned and scaled
	}
	if got, err := Trustworthiness(points, same, 12); err != nil || got != 1 {
		t.Errorf("of a turned copy: %v, %v; want 1", got, err)
	}
}

func TestBadPairs(t *testing.T) {
	x, _ := clusters(2, 50, 3, 3, 9)
	y, bad := plane(len(x), 1, 1), plane(len(x), 1, 1)
	bad[3][1] = math.NaN()
	for name, c := range map[string]struct {
		x [][]float64
		y [][2]float64
		k int
	}{"lengths": {x[1:], y, 10}, "NaN": {x, bad, 10}, "half of the points": {x, y, 50}, "no neighbours": {x, y, 0}, "no points": {nil, nil, 1}} {
		if _, err := Trustworthiness(c.x, c.y, c.k); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := KL(x, y, 40); err == nil {
		t.Error("a perplexity of 40 for 100 points: no error")
	}
}
