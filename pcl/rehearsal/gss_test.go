package rehearsal

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// opposed is a ctx whose model is 0 and tells two classes apart, with samples whose gradients are
// equal, opposite or orthogonal to that of the first.
func opposed(t *testing.T, part GSS) (l *smallModel, m *GSS, first, opposite, orthogonal memory.Item) {
	t.Helper()
	l, m = newSmallModel(t, 2, 12, memory.Config{Policy: "per_class", Budget: 4}), filled(t, part)
	x, y := make([]float32, l.inputs), make([]float32, l.inputs)
	x[0], y[1] = 1, 1
	return l, m, memory.Item{Task: 1, Class: 0, Pixels: x}, memory.Item{Task: 1, Class: 1, Pixels: x},
		memory.Item{Task: 1, Class: 0, Pixels: y}
}

func TestGSSScores(t *testing.T) {
	l, _, first, opposite, orthogonal := opposed(t, GSS{})
	part := must.Get(l.Gradient(Current, []memory.Item{first, first}))(t)
	for want, it := range map[float64]memory.Item{2: first, 0: opposite, 1: orthogonal} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			got := must.Get(score(l, []memory.Item{it}, [][]float32{part}))(t)
			if math.Abs(got-want) > 1e-7 {
				t.Errorf("score %g, want %g", got, want)
			}
		})
	}
	other := must.Get(l.Gradient(Current, []memory.Item{orthogonal}))(t)
	if got := must.Get(score(l, []memory.Item{opposite}, [][]float32{part, other}))(t); math.Abs(got-1) > 1e-7 {
		t.Errorf("score %g, want that with the nearest part, 1", got)
	}
	if got := cosine32([]float32{0, 0}, []float32{1, 2}); got != 0 {
		t.Errorf("a gradient of 0 has cosine %g", got)
	}
}

// TestGSSDraws in proportion to the scores, and never a score of 0.
func TestGSSDraws(t *testing.T) {
	l, _, it, _, _ := opposed(t, GSS{})
	for _, c := range []float64{0, 2, 0, 1, 0} {
		it.Score = c
		l.store.Put(l.store.Len(), it)
	}
	var drawn [5]int
	for k := range 300 {
		drawn[drawByScore(l.store, float64(k)/300)]++
	}
	if drawn != [5]int{0, 200, 0, 100, 0} {
		t.Errorf("drawn %v times", drawn)
	}
	for i := range 5 {
		l.store.SetScore(i, 0)
	}
	if got := drawByScore(l.store, 0.5); got != -1 {
		t.Errorf("drew %d where all scores are 0", got)
	}
}

// TestGSSKeeps: samples go in while there is room; then a batch like the stored ones changes
// nothing, and an opposite one replaces, each sample where the draw says so.
func TestGSSKeeps(t *testing.T) {
	l, m, first, opposite, orthogonal := opposed(t, GSS{})
	keep := func(it memory.Item, n int) {
		t.Helper()
		l.current = [][]memory.Item{slices.Repeat([]memory.Item{it}, n)}
		must.Do(t, m.store(l, l.current))
	}
	class := func(c int) (n int) {
		for i := range l.store.Len() {
			if l.store.Item(i).Class == c {
				n++
			}
		}
		return n
	}
	keep(first, 6)
	switch {
	case l.store.Len() != 4:
		t.Errorf("l.store.Len() is %d; want 4", l.store.Len())
	case l.store.Item(0).Score != gssFirst:
		t.Errorf("l.store.Item(0).Score is %g; want %g", l.store.Item(0).Score, gssFirst)
	case l.gradients != 0:
		t.Errorf("l.gradients is %d; want 0", l.gradients)
	}
	keep(first, 8)
	keep(orthogonal, 8)
	if class(0) != 4 || l.gradients != 2*11 {
		t.Errorf("%d samples are left of the class after %d gradients; want 4, 22", class(0), l.gradients)
	}
	// The first of a new class makes room for four; opposite ones have c = 0 and replace what they
	// meet.
	keep(opposite, 4)
	if class(0) != 4 || class(1) != 4 {
		t.Errorf("%d and %d samples, want 4 each", class(0), class(1))
	}
	for i := range 8 {
		l.store.Put(i, memory.Item{Task: 1, Class: 0, Pixels: first.Pixels, Score: 2})
	}
	keep(opposite, 8)
	if class(1) == 0 || l.store.Len() != 8 {
		t.Errorf("%d of %d samples are opposite", class(1), l.store.Len())
	}
	for i := range 8 {
		if it := l.store.Item(i); math.Abs(it.Score-2*float64(1-it.Class)) > 1e-7 {
			t.Errorf("class %d has score %g", it.Class, it.Score)
		}
	}
}

// TestGSSScoresAll: with score_all samples that find room are compared as well.
func TestGSSScoresAll(t *testing.T) {
	l, m, first, opposite, _ := opposed(t, GSS{ScoreAll: true})
	for _, c := range []struct {
		item memory.Item
		want float64
	}{{first, gssFirst}, {first, 2}, {opposite, 0}} {
		l.current = [][]memory.Item{{c.item}}
		must.Do(t, m.store(l, l.current))
		if got := l.store.Item(l.store.Len() - 1).Score; math.Abs(got-c.want) > 1e-7 {
			t.Errorf("score %g, want %g", got, c.want)
		}
	}
}

// TestGSSReplaces with probability cᵢ/(cᵢ+c): a stored sample of score 1.5 yields to one of score
// .5 in three of four cases.
func TestGSSReplaces(t *testing.T) {
	replaced := 0.0
	const rounds = 4000
	l, m, first, _, _ := opposed(t, GSS{})
	g := must.Get(l.Gradient(Current, []memory.Item{first}))(t)
	// A part at 120° to the gradient: cosine −½.
	part, size := make([]float32, len(g)), 0.0
	for p, x := range g {
		part[p] = -x
		size += float64(x) * float64(x)
	}
	part[len(part)-1] = float32(math.Sqrt(3 * size))
	first.Score = 1.5
	l.store.Put(l.store.Len(), first)
	for range rounds {
		l.store.Put(0, first)
		m.replace(l, []memory.Item{first}, [][]float32{part})
		if c := l.store.Item(0).Score; math.Abs(c-.5) < 1e-6 {
			replaced++
		} else if c != 1.5 {
			t.Fatalf("score %g", c)
		}
	}
	if part := replaced / rounds; math.Abs(part-.75) > .03 {
		t.Errorf("replaced in %g of the cases, want .75", part)
	}
}
