package rehearsal

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

type stateful interface {
	MarshalState() (json.RawMessage, error)
	UnmarshalState(json.RawMessage) error
}

// penaltyContext is a PenaltyContext with given parameters, and gradients that are the samples'
// pixels.
type penaltyContext struct {
	PenaltyContext
	theta, current []float32
	store          *memory.Store
}

func (l penaltyContext) Batch() int                     { return 3 }
func (l penaltyContext) Memory() *memory.Store          { return l.store }
func (l penaltyContext) Parameters() ([]float32, error) { return slices.Clone(l.theta), nil }

func (l penaltyContext) TaskGradient(samples []memory.Item) ([]float32, error) {
	mean := make([]float32, len(l.theta))
	for _, it := range samples {
		for p, x := range it.Pixels {
			mean[p] += x / float32(len(samples))
		}
	}
	return mean, nil
}

func gradientsAs(rows ...[]float32) (samples []memory.Item) {
	for _, row := range rows {
		samples = append(samples, memory.Item{Task: 1, Pixels: row})
	}
	return samples
}

func penaltyOf(t *testing.T, part Part) Penalty {
	t.Helper()
	return must.Get(New(part))(t).Penalty
}

func near(a []float64, b ...float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-6*max(1, math.Abs(y)) })
}

// TestEWCByHand: the information of two tasks, the penalty and its gradient.
func TestEWCByHand(t *testing.T) {
	e := penaltyOf(t, &EWC{Lambda: new(10.0), Decay: new(0.5)}).(*ewc)
	if _, g, err := e.Penalise(penaltyContext{theta: []float32{1, 2}}); g != nil || err != nil {
		t.Fatalf("before a task has ended: %v, %v", g, expect.Text(err))
	}
	consolidate := func(theta []float32, rows ...[]float32) {
		must.Do(t, e.Consolidate(penaltyContext{theta: theta}, 1, gradientsAs(rows...)))
	}
	consolidate([]float32{1, 2}, []float32{1, 0}, []float32{3, 4}) // squares 1 + 9 and 16, of two samples
	if !near(e.Stiffness, 5, 8) || !slices.Equal(e.Anchor, []float32{1, 2}) {
		t.Errorf("after one task F = %v, θ* = %v", e.Stiffness, e.Anchor)
	}
	// half of the old; a sample that is not counted
	consolidate([]float32{0, 1}, []float32{2, 2}, []float32{float32(math.NaN()), 1})
	if !near(e.Stiffness, 2.5+4, 4+4) || !slices.Equal(e.Anchor, []float32{0, 1}) {
		t.Errorf("after two tasks F = %v, θ* = %v", e.Stiffness, e.Anchor)
	}
	value, g, err := e.Penalise(penaltyContext{theta: []float32{2, 0}})
	switch want := 0.5 * 10 * (6.5*4 + 8*1); {
	case err != nil:
		t.Error(err)
	case math.Abs(value-want) > 1e-9:
		t.Errorf("math.Abs(value-want) is %g; want at most 1e-9", math.Abs(value-want))
	case !slices.Equal(g, []float32{130, -80}):
		t.Errorf("g is %v; want %v", g, []float32{130, -80})
	}
}

// TestEWCGroups: gradients of a group are added up before they are squared; groups are no larger
// than a batch.
func TestEWCGroups(t *testing.T) {
	rows := [][]float32{{1, 0}, {2, -1}, {-3, 1}, {5, 5}}
	for group, want := range map[float64][2]float64{1: {39.0 / 4, 27.0 / 4}, 2: {(9.0 + 4) / 4, (1.0 + 36) / 4},
		8: {25.0 / 4, 25.0 / 4}} {
		t.Run(fmt.Sprint(group), func(t *testing.T) {
			e := penaltyOf(t, &EWC{Group: group}).(*ewc)
			must.Do(t, e.Consolidate(penaltyContext{theta: make([]float32, 2)}, 1, gradientsAs(rows...)))
			if !near(e.Stiffness, want[:]...) {
				t.Errorf("groups of %g: F = %v, want %v", group, e.Stiffness, want)
			}
		})
	}
}

// TestEWCFromMemory: a task of which no samples were collected has those that the memory holds of
// it, and one without any changes nothing.
func TestEWCFromMemory(t *testing.T) {
	e, store := penaltyOf(t, &EWC{}).(*ewc), storeOf(t)
	store.Put(store.Len(), memory.Item{Task: 1, Pixels: []float32{3}})
	store.Put(store.Len(), memory.Item{Task: 2, Pixels: []float32{5}})
	for _, end := range []struct {
		task  int
		theta float32
	}{{1, 7}, {3, 8}} { // the memory holds task 1, and nothing of task 3
		must.Do(t, e.Consolidate(penaltyContext{theta: []float32{end.theta}, store: store}, end.task, nil))
		if !near(e.Stiffness, 9) || !slices.Equal(e.Anchor, []float32{7}) {
			t.Errorf("after task %d: F = %v, θ* = %v; want 9 and 7", end.task, e.Stiffness, e.Anchor)
		}
	}
}

// TestSIByHand: two steps, an end, and a step of the next task.
func TestSIByHand(t *testing.T) {
	s := penaltyOf(t, &SI{C: new(3.0), Xi: 0.5}).(*si)
	step := func(from, to, g []float32) (float64, []float32) {
		value, gradient, err := s.Penalise(penaltyContext{theta: from})
		if err != nil {
			t.Fatal(err)
		}
		must.Do(t, s.AfterUpdate(penaltyContext{theta: to}, func() ([]float32, error) { return g, nil }))
		return value, gradient
	}
	step([]float32{0, 0}, []float32{-1, 1}, []float32{2, 1})  // ω = 2, −1
	step([]float32{-1, 1}, []float32{-2, 1}, []float32{1, 9}) // ω = 3, −1
	if _, g := step([]float32{-2, 1}, []float32{-2, 1}, []float32{float32(math.NaN()), 0}); g != nil ||
		!near(s.Path, 3, -1) {
		t.Errorf("before an end: gradient %v, sums %v", g, s.Path)
	}
	must.Do(t, s.Consolidate(penaltyContext{theta: []float32{-2, 1}}, 1, nil))
	switch {
	case !near(s.Stiffness, 3/(4+0.5), 0):
		t.Error("near(s.Stiffness, 3/(4+0.5), 0) is false")
	case !slices.Equal(s.Anchor, []float32{-2, 1}):
		t.Errorf("s.Anchor is %v; want %v", s.Anchor, []float32{-2, 1})
	case !near(s.Path, 0, 0):
		t.Error("near(s.Path, 0, 0) is false")
	}
	value, g := step([]float32{-1, 5}, []float32{-1, 5}, []float32{0, 0})
	switch want := 3 * 3 / 4.5; {
	case math.Abs(value-want) > 1e-9:
		t.Errorf("math.Abs(value-want) is %g; want at most 1e-9", math.Abs(value-want))
	case math.Abs(float64(g[0])-2*want) > 1e-6:
		t.Errorf("math.Abs(float64(g[0])-2*want) is %g; want at most 1e-6", math.Abs(float64(g[0])-2*want))
	case g[1] != 0:
		t.Errorf("g[1] is %g; want 0", g[1])
	}
}

// TestPenaltyGradient compares it with finite differences of the penalty.
func TestPenaltyGradient(t *testing.T) {
	s := quadraticPenalty{Stiffness: []float64{0, .3, 20}, Anchor: []float32{1, -2, 0.5}}
	theta := []float32{0, -1, .75}
	_, g, err := s.pull(penaltyContext{theta: theta}, 4)
	if err != nil {
		t.Fatal(err)
	}
	g = slices.Clone(g)
	const h = 1.0 / 64 // exact in float32; the penalty is a square, so that differences are exact
	for p := range theta {
		at := func(by float32) float64 {
			moved := slices.Clone(theta)
			moved[p] += by
			value, _, _ := s.pull(penaltyContext{theta: moved}, 4)
			return value
		}
		if want := (at(h) - at(-h)) / (2 * h); math.Abs(float64(g[p])-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("parameter %d: gradient %g, by differences %g", p, g[p], want)
		}
	}
	if _, _, err := s.pull(penaltyContext{theta: theta[:2]}, 1); err == nil {
		t.Error("fewer parameters than the penalty has: no error")
	}
}

// TestPenaltyState: a saved state goes on to the same bits, before the first end and after it;
// damaged states are refused and change nothing.
func TestPenaltyState(t *testing.T) {
	ctx := penaltyContext{theta: []float32{0.1, -7}, current: []float32{1.0 / 3, 2}}
	for _, part := range []Part{&EWC{}, &SI{}} {
		for ends := range 3 {
			a, b := penaltyOf(t, part), penaltyOf(t, part)
			for range ends {
				if _, _, err := a.Penalise(ctx); err != nil {
					t.Fatal(err)
				}
				must.Do(t, a.AfterUpdate(penaltyContext{theta: []float32{0.7, 1e-9}}, func() ([]float32, error) {
					return ctx.current, nil
				}))
				must.Do(t, a.Consolidate(ctx, 1, gradientsAs([]float32{1.0 / 7, 3})))
			}
			must.Do(t, b.(stateful).UnmarshalState(must.Get(a.(stateful).MarshalState())(t)))
			far := penaltyContext{theta: []float32{5, 5}}
			va, ga, _ := a.Penalise(far)
			vb, gb, _ := b.Penalise(far)
			again, _ := b.(stateful).MarshalState()
			switch other, _ := a.(stateful).MarshalState(); {
			case va != vb:
				t.Errorf("%s after %d ends: va is %g; want %g", Describe(part).Name, ends, va, vb)
			case !slices.Equal(ga, gb):
				t.Errorf("%s after %d ends: ga is %v; want %v", Describe(part).Name, ends, ga, gb)
			case string(again) != string(other):
				t.Errorf("%s after %d ends: string(again) is %q; want %q", Describe(part).Name, ends, string(again), string(other))
			case (ga == nil) != (ends == 0):
				t.Errorf("%s after %d ends: (ga == nil) is %t; want %t", Describe(part).Name, ends, (ga == nil), (ends == 0))
			}
		}
		for _, bad := range []string{
			`{"stiffness": "AAAAAAAA8D8="}`, `{"stiffness": "AAAAAAAA8L8=", "anchor": "AACAPw==", "path": "AAAAAAAA8D8="}`,
			`{"stiffness": "AAAAAAAA8H8=", "anchor": "AACAPw=="}`, `{"stiffness": "AAA=", "anchor": ""}`, `{"stiffness": 3}`,
			`[]`, `{"unknown": 3}`,
		} {
			p := penaltyOf(t, part)
			if err := p.(stateful).UnmarshalState(json.RawMessage(bad)); err == nil {
				t.Errorf("%s took up %s: %v", Describe(part).Name, bad, expect.Text(err))
			}
			if _, g, _ := p.Penalise(penaltyContext{theta: []float32{1}}); g != nil {
				t.Errorf("%s: a state that was refused left something", Describe(part).Name)
			}
		}
	}
}

// TestReplacedParameters: the anchors move to given parameters, Ω and F stay, and the sums begin
// anew.
func TestReplacedParameters(t *testing.T) {
	to := penaltyContext{theta: []float32{8, 9}}
	e := &ewc{quadraticPenalty: quadraticPenalty{Stiffness: []float64{1, 2}, Anchor: []float32{3, 4}}}
	s := &si{quadraticPenalty: quadraticPenalty{Stiffness: []float64{1, 2}, Anchor: []float32{3, 4},
		Path: []float64{5, 6}}}
	for _, p := range []Penalty{e, s, &ewc{}, &si{}} {
		must.Do(t, p.AfterReplace(to))
	}
	for _, x := range []quadraticPenalty{e.quadraticPenalty, s.quadraticPenalty} {
		if !slices.Equal(x.Anchor, to.theta) || !near(x.Stiffness, 1, 2) {
			t.Errorf("anchors %v, held as firmly as %v", x.Anchor, x.Stiffness)
		}
	}
	if !near(s.Path, 0, 0) {
		t.Errorf("the sums are %v", s.Path)
	}
}
