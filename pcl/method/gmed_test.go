package method

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// pixelsOf copies the pixels of all stored samples.
func pixelsOf(l *linearLab) []float32 { return slices.Clone(l.store.Pixels()) }

// TestGMEDEdits: an edit is α times the derivative of q − βℓ, by differences, and raises it.
func TestGMEDEdits(t *testing.T) {
	const alpha, beta, gamma, decay = 1e-2, 0.3, 2.0, 0.25
	l := interfered(t, "gmed", values{"alpha": alpha, "beta": beta, "gamma": gamma, "decay": decay})
	must(t, l.StepAhead(gamma))
	objective := func(it memory.Item, x []float64) float64 {
		it.Pixels = nil
		loss := func(at rehearsal.Point) float64 {
			w := slices.Clone(l.at[at])
			z, top := make([]float64, l.outputs), 0.0
			for o := range z {
				z[o] = inner(w[o*l.inputs:(o+1)*l.inputs], x)
				top += math.Exp(z[o])
			}
			return math.Log(top) - z[it.Class]
		}
		return loss(rehearsal.Ahead) - (1+beta)*loss(rehearsal.Now)
	}
	edits := make([]int, l.store.Len())
	for i := range edits {
		edits[i] = l.store.Item(i).Edits
	}
	aged := 0
	for range 12 {
		old := pixelsOf(l)
		rows := l.replays(t)
		for i := range l.store.Len() {
			before, now := wide(old[i*l.inputs:(i+1)*l.inputs]), l.store.Item(i)
			if !slices.Contains(rows[0].Indices, i) {
				if !slices.Equal(wide(now.Pixels), before) {
					t.Fatalf("sample %d was edited and not replayed", i)
				}
				continue
			}
			rate := alpha * math.Pow(1-decay, float64(edits[i]))
			for p, g := range numericGradient(before, 1e-5, func(x []float64) float64 { return objective(now, x) }) {
				if want := min(max(before[p]+rate*g, 0), 1); math.Abs(float64(now.Pixels[p])-want) > 1e-6 {
					t.Fatalf("sample %d, pixel %d after %d edits: %g, want %g", i, p, edits[i], now.Pixels[p], want)
				}
			}
			if objective(now, wide(now.Pixels)) <= objective(now, before) {
				t.Errorf("sample %d: the edit did not raise the interference", i)
			}
			if edits[i]++; now.Edits != edits[i] {
				t.Errorf("sample %d has %d edits, want %d", i, now.Edits, edits[i])
			}
			if edits[i] > 1 {
				aged++
			}
		}
	}
	if aged == 0 {
		t.Error("no sample was edited twice")
	}
}

// TestGMEDLimits: with β = 0 and θ′ = θ, or with α = 0, nothing is edited and the run is that of ER.
func TestGMEDLimits(t *testing.T) {
	want := run(t, "er", nil, perClass, 0)
	for _, p := range []values{{"beta": 0, "gamma": 0}, {"alpha": 0}} {
		got := run(t, "gmed", p, perClass, 0)
		if !slices.Equal(got.at[rehearsal.Now], want.at[rehearsal.Now]) || !slices.Equal(pixelsOf(got), pixelsOf(want)) {
			t.Errorf("%v: not the run of ER", p)
		}
		for i := range got.store.Len() {
			if got.store.Item(i).Edits != 0 {
				t.Errorf("%v: sample %d counts as edited", p, i)
			}
		}
	}
	edited := run(t, "gmed", nil, perClass, 0)
	if slices.Equal(edited.at[rehearsal.Now], want.at[rehearsal.Now]) || slices.Min(pixelsOf(edited)) < 0 || slices.Max(pixelsOf(edited)) > 1 {
		t.Error("with its defaults it edits nothing, or leaves [0,1]")
	}
}

// TestGMEDRelease: two updates per step, and an edit that lowers the loss of the model before them.
func TestGMEDRelease(t *testing.T) {
	l := interfered(t, "gmed-release", nil)
	theta, old, updates := slices.Clone(l.at[rehearsal.Now]), pixelsOf(l), l.updates
	rows := l.replays(t)
	if l.updates != updates+1 || slices.Equal(theta, l.at[rehearsal.Now]) {
		t.Error("no update was made")
	}
	for _, i := range rows[0].Indices {
		it := l.store.Item(i)
		was := it
		was.Pixels = old[i*l.inputs : (i+1)*l.inputs]
		w := l.at[rehearsal.Now]
		l.at[rehearsal.Now] = theta
		g, err := l.PixelGradients(rehearsal.Now, []memory.Item{was})
		must(t, err)
		if l.loss(theta, it, rehearsal.Loss{}) >= l.loss(theta, was, rehearsal.Loss{}) {
			t.Errorf("sample %d: the edit did not lower its loss", i)
		}
		l.at[rehearsal.Now] = w
		for p, x := range g[0] {
			if want := min(max(float64(was.Pixels[p])-.003*float64(x), 0), 1); math.Abs(float64(it.Pixels[p])-want) > 1e-7 {
				t.Errorf("pixel %d of sample %d: %g, want %g", p, i, it.Pixels[p], want)
			}
		}
	}
	first := newLinearLab(t, build(t, "gmed-release", nil), perClass)
	first.attach(20, 0, 1)
	for len(first.Running()) > 0 {
		first.step(t)
	}
	if first.updates != 0 {
		t.Errorf("%d updates before there is memory", first.updates)
	}
	first.attach(8, 2, 3)
	first.step(t)
	first.step(t)
	if first.updates != 2 || first.steps != 7 {
		t.Errorf("%d extra updates in %d steps, want 2 in 7", first.updates, first.steps)
	}
}
