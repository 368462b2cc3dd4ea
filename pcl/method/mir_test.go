package method

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// interfered is a lab with a full memory and a running task.
func interfered(t *testing.T, name string, p values) *linearLab {
	t.Helper()
	l := newLinearLab(t, build(t, name, p), memory.Config{Policy: memory.PerClass, Budget: 15})
	l.attach(20, 0, 1)
	l.attach(20, 2, 3)
	for len(l.Running()) > 0 {
		l.step(t)
	}
	l.attach(20, 4, 5)
	return l
}

// TestMIRPicksConflicts: for a short step the rise is −γ∇ℓ_cur·∇ℓ_x, so the samples with the most
// negative inner products are replayed.
func TestMIRPicksConflicts(t *testing.T) {
	const gamma = 1e-4
	l := interfered(t, "mir", values{"gamma": gamma, "candidates": 100})
	g, all := l.current(), everyIndex(l.store)
	along := make([]float64, len(all))
	for i := range along {
		along[i] = inner(g, l.gradient(l.at[rehearsal.Now], l.store.Items([]int{i}), rehearsal.Loss{}))
	}
	rows := l.replays(t)
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(along[a], along[b]) })
	if got := sortedInts(rows[0].Indices); rows[0].ID != Memory || !slices.Equal(got, sortedInts(all[:8])) {
		t.Errorf("replayed %v, want %v", got, sortedInts(all[:8]))
	}
}

// TestMIRWithoutAStep: γ = 0 makes all scores 0, and the choice uniform.
func TestMIRWithoutAStep(t *testing.T) {
	l := interfered(t, "mir", values{"gamma": 0, "candidates": 3})
	counts := make([]float64, l.store.Len())
	const rounds = 3000
	for range rounds {
		rows := l.replays(t)
		for _, i := range rows[0].Indices {
			counts[i]++
		}
	}
	want := 8. / float64(len(counts))
	for i, n := range counts {
		if math.Abs(n/rounds-want) > .03 { // 5 standard deviations
			t.Errorf("sample %d was replayed in %g of the steps, want %g", i, n/rounds, want)
		}
	}
}

// TestMIROfFew: where the memory fits into the batch, it is ER with the gradients summed.
func TestMIROfFew(t *testing.T) {
	few := memory.Config{Policy: memory.PerClass, Budget: 1}
	got := newLinearLab(t, build(t, "mir", nil), few).oneByOne(t)
	want := newLinearLab(t, build(t, "constant", values{"memory": 1, "task": 1}), few).oneByOne(t)
	if !near(got.at[rehearsal.Now], want.at[rehearsal.Now], 1e-12) {
		t.Error("not the parameters of ER")
	}
	if got.at[rehearsal.Ahead] != nil {
		t.Error("a virtual step was made for nothing")
	}
}
