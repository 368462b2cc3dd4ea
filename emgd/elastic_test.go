package emgd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
	m, ok := e.Norm(7)
	if want := .9*2 + .1*4; !ok || math.Abs(m-want) > 1e-15 {
		t.Errorf("m_7 = %v, want %v", m, want)
	}
	if m0, _ := e.Norm(0); m0 != 5 {
		t.Errorf("m_0 = %v at first sight, want ‖J_0‖ = 5", m0)
	}
	if want := 1 / (1 + math.Exp((m-5)/5)); math.Abs(sigma[0]-want) > 1e-15 {
		t.Errorf("σ_0 = %v, want %v", sigma[0], want)
	}
	e.End(7)
	factors(t, &e, []int{7}, diagonal(9))
	if m, _ := e.Norm(7); m != 9 {
		t.Errorf("m_7 = %v after the stream ended and came back, want 9", m)
	}
	none := Elastic{Momentum: -1}
	factors(t, &none, []int{1}, diagonal(2))
	factors(t, &none, []int{1}, diagonal(3))
	if m, _ := none.Norm(1); m != 3 {
		t.Errorf("m_1 = %v without momentum, want 3", m)
	}
}

func TestTemperature(t *testing.T) {
	gram := diagonal(1, 2, 3)
	ids := []int{1, 2, 3}
	for _, rule := range []Rule{GMC, GS, LogGMC} {
		e := Elastic{Rule: rule, Tau: math.Inf(1)}
		for _, s := range factors(t, &e, ids, gram) {
			if s != 1./3 {
				t.Errorf("%v: σ = %v at τ = ∞, want 1/3", rule, s)
			}
		}
	}
	cold := factors(t, &Elastic{Tau: 1e-3}, ids, gram)
	if cold[0] != MinSigma || cold[1] != MinSigma || math.Abs(cold[0]+cold[1]+cold[2]-1) > 1e-15 {
		t.Errorf("σ = %v at τ → 0, want the smallest at %v and a sum of 1", cold, MinSigma)
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
	close6(t, "σ", sigma, factors(t, &Elastic{Tau: 2}, ids, gram))
	scaled := Elastic{AutoTau: true}
	near(t, "σ in another unit", factors(t, &scaled, ids, diagonal(1e-9, 2e-9, 3e-9)), sigma, 1e-12)
	factors(t, &e, ids[:1], diagonal(11))
	if want := .9*2 + .1*(.9*1+.1*11); math.Abs(e.temperature()-want) > 1e-15 {
		t.Errorf("τ = %v, want the moving average %v", e.temperature(), want)
	}
	double := Elastic{AutoTau: true, AutoScale: 2}
	factors(t, &double, ids, gram)
	if double.temperature() != 4 {
		t.Errorf("τ = %v with c = 2, want 4", double.temperature())
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
		e := Elastic{Rule: Rule(rapid.IntRange(0, 2).Draw(t, "rule")), Tau: math.Pow(10, rapid.Float64Range(-4, 4).Draw(t, "log τ"))}
		k := len(rows)
		ids, sigma, sum := make([]int, k), make([]float64, k), 0.0
		for i := range ids {
			ids[i] = i
		}
		if err := e.Factors(ids, of(gramOf(rows)), sigma); err != nil {
			t.Fatal(err)
		}
		for _, s := range sigma {
			if !(s >= MinSigma) {
				t.Fatalf("σ = %v has an entry below %v", sigma, MinSigma)
			}
			sum += s
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("Σσ = %v", sum)
		}
	})
}

func TestElasticErrorsChangeNothing(t *testing.T) {
	e := Elastic{}
	factors(t, &e, []int{1}, diagonal(2))
	for _, bad := range []Elastic{{Tau: -1}, {Tau: math.NaN()}, {Momentum: 1}, {Momentum: math.Inf(-1)}, {Rule: 5}, {Rule: GS, AutoTau: true}, {AutoScale: -1}} {
		bad.norms = e.norms
		if err := bad.Factors([]int{1}, of(diagonal(1)), make([]float64, 1)); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	if m, _ := e.Norm(1); m != 2 {
		t.Errorf("m_1 = %v after failed calls, want 2", m)
	}
}

// A restored Elastic continues bit for bit like the saved one, through arrivals and ends.
func TestElasticRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, e := range []Elastic{{}, {Tau: math.Inf(1)}, {AutoTau: true, AutoScale: .7}, {Rule: GS, Tau: .5}, {Momentum: .5}, {Rule: LogGMC}} {
		for n := range 30 {
			ids := r.Perm(8)[:1+r.IntN(6)]
			factors(t, &e, ids, gramOf(gaussian(r, len(ids), 10)))
			if n%7 == 6 {
				e.End(ids[0])
			}
			data, err := json.Marshal(&e)
			if err != nil {
				t.Fatal(err)
			}
			if value, err := json.Marshal(e); err != nil || !bytes.Equal(value, data) {
				t.Fatalf("by value it is %s (%v), by pointer %s", value, err, data)
			}
			var back Elastic
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			gram := gramOf(gaussian(r, len(ids), 10))
			got, want := factors(t, &back, ids, gram), factors(t, &e, ids, gram)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("restored from %s: σ = %v, want %v", data, got, want)
				}
			}
		}
	}
	for _, bad := range []string{`{`, `{"rule":"gmx"}`, `{"rule":"gmc","tau":-1}`, `{"rule":"gmc","norms":{"1":-2}}`, `{"rule":"gmc","auto_tau":true,"level":-2,"seen":true}`} {
		var e Elastic
		if err := json.Unmarshal([]byte(bad), &e); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestNames(t *testing.T) {
	for _, r := range []Rule{GMC, GS, LogGMC} {
		var back Rule
		text, err := r.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != r || r.String() != string(text) {
			t.Errorf("rule %v becomes %q and %v", r, text, back)
		}
	}
	for s := Optimal; s <= RowsDropped; s++ {
		var back Status
		text, err := s.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != s || len(s.Message()) < 20 {
			t.Errorf("status %v becomes %q and %v", s, text, back)
		}
	}
	if _, err := Status(99).MarshalText(); err == nil {
		t.Error("an unknown status has a name")
	}
	c := solveRows(t, &Solver{}, threeRows, []float64{.2, .3, .5})
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back Certificate
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.Verify(of(gramOf(threeRows)), 1e-9) != nil || !strings.Contains(string(data), `"status":"optimal"`) {
		t.Errorf("the certificate does not survive JSON: %s", data)
	}
}

// TestClone: what is learnt after a copy was made leaves no trace in it.
func TestClone(t *testing.T) {
	for _, e := range []*Elastic{{}, {AutoTau: true}, {Rule: GS}, {Rule: LogGMC}} {
		factors(t, e, []int{1, 2}, diagonal(3, 4))
		before, kept := marshalled(json.Marshal(e)), e.Clone()
		factors(t, e, []int{2, 7, 1}, diagonal(1, 8, 5))
		if after := marshalled(json.Marshal(kept)); !bytes.Equal(before, after) {
			t.Errorf("%s: %s before, %s after", e.Rule, before, after)
		}
	}
}

// TestLongestGradients: what is remembered of gradients as long as float64 can say is a number, and can be saved.
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
			if data, err := json.Marshal(e); err != nil || json.Unmarshal(data, new(Elastic)) != nil {
				t.Errorf("%d gradients: %v", k, err)
			}
		}
	}
}

func marshalled(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// TestFactorsOfShortGradients: log GMC has no unit, also where lengths are below the smallest number of full precision.
func TestFactorsOfShortGradients(t *testing.T) {
	for _, unit := range []float64{1, 0x1p-1000, 0x1p-1030, 0x1p-1074} {
		p := from([][]float64{{unit, 0}, {0, 3 * unit}})
		sigma := make([]float64, 2)
		if err := (&Elastic{Rule: LogGMC}).Factors([]int{1, 2}, p, sigma); err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("σ at %g", unit), sigma, []float64{0.25, 0.75}, 1e-12)
	}
}
