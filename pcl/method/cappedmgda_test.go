package method

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCappedIsMGDA where that keeps to the bound, to the bit, with its certificate; and the mean at
// a bound of 1/K.
func TestCappedIsMGDA(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			for _, z := range zoo(kind) {
				s, k := z.step(1), len(z.rows)
				want := weigh(t, build(t, "mgda", nil), s)
				w, out := outcome(t, build(t, "capped-mgda", values{"cap": 1}), s)
				if !slices.Equal(w, want) {
					t.Errorf("%s: %v, MGDA %v", z.name, w, want)
				}
				if out.Certificate == nil && len(out.Dropped) < k {
					t.Errorf("%s: no certificate", z.name)
				}
			}
		})
	}
}

func quadraticForm(m, w []float64) float64 { return inner(w, times(m, w)) }

// TestCappedManyRows: the optimality conditions hold for up to 24 rows, and a larger bound never
// gives a longer d.
func TestCappedManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	for range 60 {
		k := 2 + r.IntN(23)
		rows := make([][]float64, k)
		size := 10 + r.IntN(2)*30
		for i := range rows {
			rows[i] = make([]float64, size)
			for p := range rows[i] {
				rows[i][p] = r.NormFloat64() + .3
			}
		}
		s, before := sample{rows: rows}.step(1), math.Inf(1)
		for _, bound := range []float64{min(1, 1.2/float64(k)), min(1, 2/float64(k)), 1} {
			w := weigh(t, build(t, "capped-mgda", values{"cap": bound}), s)
			slope, scale := times(s.Gram, w), longest(s.Gram, k)
			low, high := math.Inf(-1), math.Inf(1) // of the slopes where a weight may fall, and where it may rise
			for i, x := range w {
				if x > 1e-12 {
					low = max(low, slope[i])
				}
				if x < bound-1e-12 {
					high = min(high, slope[i])
				}
			}
			if low > high+1e-9*scale {
				t.Fatalf("%d rows, bound %g: slopes up to %g and from %g at weights %v", k, bound, low, high, w)
			}
			size := quadraticForm(s.Gram, w)
			if size > before+1e-12*scale {
				t.Errorf("%d rows: ‖d‖² is %g with a bound of %g and was %g with a smaller one", k, size, bound, before)
			}
			before = size
		}
	}
}

// TestCappedFarApart: rows beside one that is up to 10¹¹ times as long. Where the bound does not
// need that one, d is no longer than without it, and everywhere the conditions hold, each by the
// lengths of its own two rows.
func TestCappedFarApart(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	for n := range 600 {
		k, spread := 3+r.IntN(5), 11*r.Float64()
		rows := make([][]float64, k)
		for i := range rows {
			s := math.Pow(10, -spread)
			if i == 0 {
				s = 1
			} else if n%2 == 0 {
				s = math.Pow(10, -spread*r.Float64())
			}
			rows[i] = make([]float64, 8)
			for p := range rows[i] {
				rows[i][p] = s * r.NormFloat64()
			}
		}
		bound := .5
		w := weigh(t, build(t, "capped-mgda", values{"cap": bound}), sample{rows: rows}.step(1))
		without := weigh(t, build(t, "capped-mgda", values{"cap": bound}), sample{rows: rows[1:]}.step(1))
		if a, b := direction(rows, w), direction(rows[1:], without); inner(a, a) > inner(b, b)*(1+1e-9) {
			t.Fatalf("problem %d: ‖d‖² is %g, and %g without the first of the rows %v", n, inner(a, a), inner(b, b), rows)
		}
		if gap := worstExchange(rows, w, bound); gap > 1e-6 {
			t.Fatalf("problem %d: a gap of %g at the weights %v of %v", n, gap, w, rows)
		}
	}
}

// TestCappedNearlyEqual: gradients that differ by as little as the Gram matrix can tell have
// weights.
func TestCappedNearlyEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	for n := range 600 {
		noise := math.Pow(10, -4-8*r.Float64())
		rows := make([][]float64, 6)
		same := make([]float64, 8)
		for p := range same {
			same[p] = r.NormFloat64()
		}
		for i := range rows {
			f := noise * math.Pow(10, -3*r.Float64())
			rows[i] = slices.Clone(same)
			for p := range rows[i] {
				rows[i][p] += f * r.NormFloat64()
			}
		}
		w := weigh(t, build(t, "capped-mgda", values{"cap": .5}), sample{rows: rows}.step(1))
		switch {
		case slices.Max(w) > .5+1e-12:
			t.Fatalf("problem %d: slices.Max(w) is %g; want at most %g", n, slices.Max(w), .5+1e-12)
		case slices.Min(w) < -1e-15:
			t.Fatalf("problem %d: slices.Min(w) is %g; want at least -1e-15", n, slices.Min(w))
		case math.Abs(total(w)-1) > 1e-12:
			t.Fatalf("problem %d: weights %v", n, w)
		}
		if gap := worstExchange(rows, w, .5); gap > 1e-6 {
			t.Fatalf("problem %d: a gap of %g at the weights %v", n, gap, w)
		}
	}
}

// worstExchange is the largest (Jⱼ − Jᵢ)·d of two rows between which weight may move from j to i,
// relative to ‖d‖ and to their lengths, or to ‖d‖ and what may be moved if that is less.
func worstExchange(rows [][]float64, w []float64, bound float64) (worst float64) {
	d := direction(rows, w)
	size := math.Sqrt(inner(d, d))
	for i, up := range rows {
		for j, down := range rows {
			room, fall := min(bound-w[i], w[j]), inner(down, d)-inner(up, d)
			if room > 1e-14 && fall > 0 {
				scale := math.Sqrt(inner(up, up)) + math.Sqrt(inner(down, down))
				worst = max(worst, min(fall/scale, room*fall/size)/size)
			}
		}
	}
	return worst
}

// TestCappedCancelling: two gradients that cancel each other give d = 0, also beside others 10¹⁰
// times as long.
func TestCappedCancelling(t *testing.T) {
	w := weigh(t, build(t, "capped-mgda", nil), sample{rows: [][]float64{
		{-10290.91514401359, 7973.7040822200934}, {0.39918790132356269, -23.223489677423451},
		{-15549.451132569769, -9637.2029696717236},
		{4.5958823778537987e-07, 1.8291078032949533e-07}, {-4.5958823778537987e-07, -1.8291078032949533e-07},
	}, losses: make([]float64, 5)}.step(1))
	wants(t, w, []float64{0, 0, 0, .5, .5}, 1e-15, "weights")
}

// cappedGap is the largest d·(d − Σ sᵢJᵢ) over the weights s within the bound, less what may be
// rounding, relative to ‖d‖². It is 0 at the minimum, and d is nowhere farther from the shortest
// one than the root of it, relative to ‖d‖.
func cappedGap(m, mu []float64, bound float64) float64 {
	k, slope := len(mu), times(m, mu)
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(slope[i], slope[j]) })
	gap, moved, size, left := 0.0, 0.0, 0.0, 1.0
	for _, i := range order { // the lowest slopes get as much weight as the bound allows
		s := min(bound, left)
		left -= s
		length := math.Sqrt(m[i*k+i])
		gap += (mu[i] - s) * slope[i]
		moved += math.Abs(mu[i]-s) * length
		size += mu[i] * length
	}
	if gap -= 1e-13 * moved * size; gap <= 0 {
		return 0
	}
	return gap / max(inner(mu, slope), 0)
}
