package rehearsal

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// interfered is a ctx with a full memory and a running task.
func interfered(t *testing.T) *smallModel {
	t.Helper()
	l := newSmallModel(t, 6, 12, memory.Config{Policy: "fixed_total", Budget: 60})
	for p := range l.at[Current] {
		l.at[Current][p] = 0.3 * l.rng.NormFloat64()
	}
	for _, it := range l.drawn(60) {
		l.store.Put(l.store.Len(), it)
	}
	l.current = [][]memory.Item{l.drawn(8)}
	return l
}

// TestMIRInterference: for a short step the rise is −γ∇ℓ_cur·∇ℓ_x.
func TestMIRInterference(t *testing.T) {
	const gamma = 1e-5
	l := interfered(t)
	g, all := l.now(), everyIndex(l.store)
	rise := must.Get(filled(t, MIR{Gamma: new(gamma)}).interference(l, all))(t)
	if len(rise) != 60 {
		t.Fatalf("%d numbers for 60 samples", len(rise))
	}
	for i := range all {
		want := -gamma * inner(g, l.mean(l.at[Current], l.store.Items([]int{i})))
		if math.Abs(rise[i]-want) > 1e-3*math.Abs(want)+1e-12 {
			t.Errorf("sample %d: the loss rises by %g, want %g", i, rise[i], want)
		}
	}
}

// TestMIRBestLoss measures against the smallest loss met so far, which the store keeps.
func TestMIRBestLoss(t *testing.T) {
	l := interfered(t)
	all := everyIndex(l.store)
	m, samples := filled(t, MIR{BestLoss: true}), l.store.Items(all)
	for i := range all {
		l.store.SetScore(i, 0)
	}
	before := must.Get(l.Losses(Current, samples))(t)
	must.Get(m.interference(l, all))(t)
	for p := range l.at[Current] { // many losses rise
		l.at[Current][p] *= -1
	}
	rise := must.Get(m.interference(l, all))(t)
	after := must.Get(l.Losses(Virtual, samples))(t)
	now := must.Get(l.Losses(Current, samples))(t)
	rose := 0
	for i := range all {
		if before[i] < now[i] {
			rose++
		}
		best := min(before[i], now[i])
		if math.Abs(rise[i]-(after[i]-best)) > 1e-12 || math.Abs(l.store.Item(i).Score-1-best) > 1e-12 {
			t.Errorf("sample %d: rise %g and best %g, want %g and %g", i, rise[i], l.store.Item(i).Score-1, after[i]-best, best)
		}
	}
	if rose == 0 {
		t.Error("no loss rose, so nothing was tested")
	}
}

// TestMIRBestLossIsFinite: a loss that is not finite is not noted, and the best one so far stays.
func TestMIRBestLossIsFinite(t *testing.T) {
	l := interfered(t)
	all := everyIndex(l.store)
	m := filled(t, MIR{BestLoss: true})
	for i := range all {
		l.store.SetScore(i, float64(i%2)*1.5)
	}
	for p := range l.at[Current] {
		l.at[Current][p] = math.NaN()
	}
	must.Get(m.interference(l, all))(t)
	for i := range all {
		if got := l.store.Item(i).Score; got != float64(i%2)*1.5 {
			t.Errorf("sample %d has the score %g", i, got)
		}
	}
}

// TestMIRReplays the candidates whose losses rise most.
func TestMIRReplays(t *testing.T) {
	l := interfered(t)
	m := filled(t, MIR{Candidates: 100})
	rise := must.Get(m.interference(l, everyIndex(l.store)))(t)
	got := must.Get(m.draw(l))(t)
	least := math.Inf(1)
	for _, i := range got {
		least = min(least, rise[i])
	}
	for i, x := range rise {
		if !slices.Contains(got, i) && x > least {
			t.Errorf("sample %d rises by %g and is not replayed, others by %g", i, x, least)
		}
	}
	if len(got) != l.batch {
		t.Errorf("%d samples", len(got))
	}
}
