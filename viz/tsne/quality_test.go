package tsne

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
		t.Errorf("trustworthiness %v, %v; want %v with %d", got, err, want, trustExcess(x, y, 1))
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
	random := plane(len(points), 1, 2)
	got, err = Trustworthiness(points, random, 12)
	want = 1 - 2.0/float64(150*12*(300-36-1))*float64(trustExcess(points, random, 12))
	if err != nil || math.Abs(got-want) > 1e-15 || math.Abs(got-0.5) > 0.05 {
		t.Errorf("of random positions: %v, %v; want %v", got, err, want)
	}
}

// trustExcess is Σ max(r − k, 0), by counting.
func trustExcess(x [][]float64, y [][2]float64, k int) (sum int) {
	far := func(i, j int) float64 {
		s := 0.0
		for c := range x[i] {
			s += math.Pow(x[i][c]-x[j][c], 2)
		}
		return s
	}
	flat := func(i, j int) float64 { return math.Hypot(y[i][0]-y[j][0], y[i][1]-y[j][1]) }
	nearer := func(d func(i, j int) float64, i, j int) (count int) {
		for l := range x {
			if l != i && d(i, l) < d(i, j) {
				count++
			}
		}
		return count
	}
	for i := range x {
		for j := range x {
			if j != i && nearer(flat, i, j) < k {
				sum += max(nearer(far, i, j)+1-k, 0)
			}
		}
	}
	return sum
}

func TestBadPairs(t *testing.T) {
	x, _ := clusters(2, 50, 3, 3, 9)
	y := plane(len(x), 1, 1)
	bad := plane(len(x), 1, 1)
	bad[3][1] = math.NaN()
	kl := func(x [][]float64, y [][2]float64, perplexity float64) error {
		_, err := KL(x, y, perplexity)
		return err
	}
	trust := func(x [][]float64, y [][2]float64, k int) error {
		_, err := Trustworthiness(x, y, k)
		return err
	}
	for want, err := range map[string]error{
		"too few":                     kl(x, y, 40),
		"100 rows of x and 99":        kl(x, y[1:], 10),
		"99 rows of x and 100":        trust(x[1:], y, 10),
		"position 3 is":               trust(x, bad, 10),
		"for 50 neighbours of 100":    trust(x, y, 50),
		"for 0 neighbours of 100":     trust(x, y, 0),
		"no data":                     trust(nil, nil, 1),
		"every row is the same point": kl(slices.Repeat([][]float64{{3}}, 100), y, 10),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want %q", err, want)
		}
	}
}
