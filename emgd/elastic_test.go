package emgd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/internal/must"
)

func factors(t testing.TB, e *Elastic, ids []int, gram []float64) []float64 {
	t.Helper()
	sigma := make([]float64, len(ids))
	if err := e.Factors(ids, of(gram), sigma); err != nil {
		t.Fatal(err)
	}
	return sigma
}

func diagonal(norms ...float64) []float64 {
	k := len(norms)
	gram := make([]float64, k*k)
	for i, n := range norms {
		gram[i*k+i] = n * n
	}
	return gram
}

func TestMomentum(t *testing.T) {
	var e Elastic
	factors(t, &e, []int{7}, diagonal(2))
	sigma := factors(t, &e, []int{0, 7}, diagonal(5, 4)) // stream 0 is new
	m, ok := e.Norms[7]
	if want := .9*2 + .1*4; !ok || math.Abs(m-want) > 1e-15 {
		t.Errorf("m_7 = %v, want %v", m, want)
	}
	if m0 := e.Norms[0]; m0 != 5 {
		t.Errorf("m_0 = %v at first sight, want ‖J_0‖ = 5", m0)
	}
	if want := 1 / (1 + math.Exp((m-5)/5)); math.Abs(sigma[0]-want) > 1e-15 {
		t.Errorf("σ_0 = %v, want %v", sigma[0], want)
	}
	delete(e.Norms, 7)
	factors(t, &e, []int{7}, diagonal(9))
	if m := e.Norms[7]; m != 9 {
		t.Errorf("m_7 = %v after the stream ended and came back, want 9", m)
	}
	none := Elastic{Momentum: -1}
	factors(t, &none, []int{1}, diagonal(2))
	factors(t, &none, []int{1}, diagonal(3))
	if m := none.Norms[1]; m != 3 {
		t.Errorf("m_1 = %v without momentum, want 3", m)
	}
}

func TestTemperature(t *testing.T) {
	gram := diagonal(1, 2, 3)
	ids := []int{1, 2, 3}
	for _, rule := range []Rule{GMC, GS, LogGMC} {
		t.Run(fmt.Sprint(rule), func(t *testing.T) {
			e := Elastic{Rule: rule, Tau: math.Inf(1)}
			for _, s := range factors(t, &e, ids, gram) {
				if s != 1./3 {
					t.Errorf("σ = %v at τ = ∞, want 1/3", s)
				}
			}
		})
	}
	cold := factors(t, &Elastic{Tau: 1e-3}, ids, gram)
	switch {
	case cold[0] != minSigma:
		t.Errorf("cold[0] is %g; want %g", cold[0], minSigma)
	case cold[1] != minSigma:
		t.Errorf("cold[1] is %g; want %g", cold[1], minSigma)
	case math.Abs(cold[0]+cold[1]+cold[2]-1) > 1e-15:
		t.Errorf("math.Abs(cold[0]+cold[1]+cold[2]-1) is %g; want at most 1e-15", math.Abs(cold[0]+cold[1]+cold[2]-1))
	}
}

func TestAutoTau(t *testing.T) {
	gram := diagonal(1, 2, 3)
	ids := []int{1, 2, 3}
	e := Elastic{AutoTau: true}
	sigma := factors(t, &e, ids, gram)
	if e.temperature() != 2 {
		t.Errorf("τ = %v, want the mean norm 2", e.temperature())
	}
	near(t, "σ", sigma, factors(t, &Elastic{Tau: 2}, ids, gram), digits6)
	scaled := Elastic{AutoTau: true}
	near(t, "σ in another unit", factors(t, &scaled, ids, diagonal(1e-9, 2e-9, 3e-9)), sigma, 1e-12)
	factors(t, &e, ids[:1], diagonal(11))
	if want := .9*2 + .1*(.9*1+.1*11); math.Abs(e.temperature()-want) > 1e-15 {
		t.Errorf("τ = %v, want the moving average %v", e.temperature(), want)
	}
	zero := Elastic{AutoTau: true}
	for _, s := range factors(t, &zero, ids, diagonal(0, 0, 0)) {
		if s != 1./3 {
			t.Errorf("σ = %v when every gradient is 0, want 1/3", s)
		}
	}
}

func TestSimilarityOfTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 2, 2)
		e := Elastic{Rule: GS, Tau: rapid.Float64Range(1e-3, 100).Draw(t, "τ")}
		sigma := make([]float64, 2)
		if err := e.Factors([]int{0, 1}, of(gramOf(rows)), sigma); err != nil {
			t.Fatal(err)
		}
		if sigma[0] != .5 || sigma[1] != .5 {
			t.Fatalf("σ = %v, want (½, ½)", sigma)
		}
	})
}

func TestFactorsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 1, 20)
		e := Elastic{Rule: Rule(rapid.IntRange(0, 2).Draw(t, "rule")),
			Tau: math.Pow(10, rapid.Float64Range(-4, 4).Draw(t, "log τ"))}
		k := len(rows)
		ids, sigma, sum := make([]int, k), make([]float64, k), 0.0
		for i := range ids {
			ids[i] = i
		}
		if err := e.Factors(ids, of(gramOf(rows)), sigma); err != nil {
			t.Fatal(err)
		}
		for _, s := range sigma {
			if !(s >= minSigma) {
				t.Fatalf("σ = %v has an entry below %v", sigma, minSigma)
			}
			sum += s
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("Σσ = %v", sum)
		}
	})
}

func TestBadSettings(t *testing.T) {
	for _, bad := range []Elastic{{Tau: -1}, {Tau: math.NaN()}, {Momentum: 1}, {Momentum: math.Inf(-1)}, {Rule: 5},
		{Rule: GS, AutoTau: true}} {
		panics(t, bad, func() { bad.Factors([]int{1}, of(diagonal(1)), make([]float64, 1)) })
	}
}

// A restored Elastic continues bit for bit like the saved one, through arrivals and ends.
func TestElasticRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, e := range []Elastic{{}, {Tau: math.Inf(1)}, {AutoTau: true}, {Rule: GS, Tau: .5}, {Momentum: .5},
		{Rule: LogGMC}} {
		for n := range 30 {
			ids := r.Perm(8)[:1+r.IntN(6)]
			factors(t, &e, ids, gramOf(gaussian(r, len(ids), 10)))
			if n%7 == 6 {
				delete(e.Norms, ids[0])
			}
			data := must.Get(json.Marshal(e))(t)
			back := Elastic{Rule: e.Rule, Tau: e.Tau, AutoTau: e.AutoTau, Momentum: e.Momentum}
			must.Do(t, json.Unmarshal(data, &back))
			gram := gramOf(gaussian(r, len(ids), 10))
			if got, want := factors(t, &back, ids, gram), factors(t, &e, ids, gram); !slices.Equal(got, want) {
				t.Fatalf("restored from %s: σ = %v, want %v", data, got, want)
			}
		}
	}
}

// TestClone: a copy does not change with the original.
func TestClone(t *testing.T) {
	for _, e := range []*Elastic{{}, {AutoTau: true}, {Rule: GS}, {Rule: LogGMC}} {
		factors(t, e, []int{1, 2}, diagonal(3, 4))
		before, kept := must.Get(json.Marshal(e))(t), e.Clone()
		factors(t, e, []int{2, 7, 1}, diagonal(1, 8, 5))
		if after := must.Get(json.Marshal(kept))(t); !bytes.Equal(before, after) {
			t.Errorf("rule %d: %s before, %s after", e.Rule, before, after)
		}
	}
}

// TestLongestGradients: the state after gradients of the largest float64 length is finite, and can
// be saved.
func TestLongestGradients(t *testing.T) {
	for k := 1; k <= 40; k++ {
		ids, rows := make([]int, k), make([][]float64, k)
		for i := range k {
			ids[i], rows[i] = i, []float64{math.MaxFloat64}
		}
		for _, e := range []*Elastic{{}, {AutoTau: true, Momentum: -1}} {
			for range 3 {
				if err := e.Factors(ids, from(rows), make([]float64, k)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := json.Marshal(e); err != nil {
				t.Errorf("%d gradients: %v", k, err)
			}
		}
	}
}

// TestFactorsOfShortGradients: log GMC has no unit, also where lengths are below the smallest
// number of full precision.
func TestFactorsOfShortGradients(t *testing.T) {
	for _, unit := range []float64{1, 0x1p-1000, 0x1p-1030, 0x1p-1074} {
		t.Run(fmt.Sprint(unit), func(t *testing.T) {
			p := from([][]float64{{unit, 0}, {0, 3 * unit}})
			sigma := make([]float64, 2)
			if err := (&Elastic{Rule: LogGMC}).Factors([]int{1, 2}, p, sigma); err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("σ at %g", unit), sigma, []float64{0.25, 0.75}, 1e-12)
		})
	}
}
