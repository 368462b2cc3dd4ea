package method

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestDERWithoutLogitsIsER: α = 0 trains as ER with weights 1 : β.
func TestDERWithoutLogitsIsER(t *testing.T) {
	for _, beta := range []float64{.5, 1} {
		got := newLinearLab(t, build(t, "der-pp", values{"alpha": 0, "beta": beta}), perClass).oneByOne(t)
		want := newLinearLab(t, build(t, "constant", values{"memory": beta, "task": 1}), perClass).oneByOne(t)
		if !near(got.at[rehearsal.Now], want.at[rehearsal.Now], 1e-12) {
			t.Errorf("β = %g: not the parameters of ER", beta)
		}
		if other := newLinearLab(t, build(t, "der-pp", nil), perClass).oneByOne(t); near(other.at[rehearsal.Now], want.at[rehearsal.Now], 1e-3) {
			t.Error("the logits change nothing")
		}
	}
}

// TestDERRows: two rows, the second 0 for the model that stored the logits, of all its outputs.
func TestDERRows(t *testing.T) {
	l := newLinearLab(t, build(t, "der-pp", values{"alpha": .3, "beta": .5}), perClass)
	l.attach(4, 0, 1)
	l.step(t)
	for _, it := range l.store.Items(everyIndex(l.store)) {
		if len(it.Logits) != l.outputs {
			t.Fatalf("%d logits are stored, want %d", len(it.Logits), l.outputs)
		}
	}
	l.attach(4, 2, 3)
	s, w := l.step(t)
	if !slices.Equal(s.IDs, []int{0, -1, 2}) || !slices.Equal(w, []float64{1, 1, 1}) {
		t.Errorf("rows %v have weights %v", s.IDs, w)
	}
	if s.Losses[1] > 1e-12 {
		t.Errorf("an unchanged model is %g off its logits", s.Losses[1])
	}
	all := l.store.Items(everyIndex(l.store))
	z, err := l.Logits(rehearsal.Now, all)
	must(t, err)
	mse := 0.0
	for i, it := range all {
		for o, x := range it.Logits {
			mse += math.Pow(float64(z[i][o]-x), 2) / float64(len(it.Logits)*len(all))
		}
	}
	if got := l.mean(l.at[rehearsal.Now], all, l.lossOf(stored)); mse < 1e-6 || math.Abs(got-.3*mse) > 1e-6*mse {
		t.Errorf("the row's loss is %g, want 0.3·%g", got, mse)
	}
	if ce := l.mean(l.at[rehearsal.Now], all, rehearsal.Loss{}); math.Abs(l.mean(l.at[rehearsal.Now], all, l.lossOf(Memory))-.5*ce) > 1e-12 {
		t.Error("the cross-entropy of the memory does not have the factor β")
	}
}

// TestDERDrawsAreIndependent: two batches of 8 from 24 share 8·8/24 samples on average.
func TestDERDrawsAreIndependent(t *testing.T) {
	l := newLinearLab(t, build(t, "der-pp", nil), memory.Config{Policy: memory.PerClass, Budget: 24})
	for i := range 24 {
		l.store.Put(memory.Item{Pixels: []float32{float32(i)}})
	}
	const rounds = 3000
	shared := 0.0
	for range rounds {
		rows := l.replays(t)
		for _, i := range rows[0].Indices {
			if slices.Contains(rows[1].Indices, i) {
				shared++
			}
		}
	}
	if mean := shared / rounds; math.Abs(mean-8./3) > 0.1 { // 4 standard deviations
		t.Errorf("the batches share %g samples, want %g", mean, 8./3)
	}
}

func TestDERAlone(t *testing.T) {
	if _, err := New("der-pp", values{"alpha": 0, "beta": 0}); err == nil || !strings.Contains(err.Error(), "alpha and beta") {
		t.Errorf("no rehearsal at all: error %v", err)
	}
	l := newLinearLab(t, build(t, "der-pp", values{"beta": 0}), perClass)
	l.attach(4, 0, 1)
	l.step(t)
	if rows := l.replays(t); len(rows) != 1 || rows[0].ID != stored {
		t.Errorf("β = 0: rows %v, want the logits' alone", rows)
	}
}
