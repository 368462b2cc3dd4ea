package method

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

func follow(t *testing.T, m Method, s *Step, losses ...float64) {
	t.Helper()
	f, ok := as[Follower](t, m)
	if !ok {
		t.Fatal("no Follower")
	}
	must.Do(t, f.Follow(s.IDs, losses))
}

// TestFAMOStep works out a first step: δ = (0, log 2), so Adam moves ξ by lr towards the first
// task.
func TestFAMOStep(t *testing.T) {
	m, s := build(t, "famo", nil), sample{rows: base, losses: []float64{1, 4}}.step(1)
	wants(t, weigh(t, m, s), []float64{.8, .2}, 1e-7, "uniform ξ")
	follow(t, m, s, 1, 2)
	s.Losses = []float64{1, 1}
	z := 1 / (1 + math.Exp(-0.05))
	wants(t, weigh(t, m, s), []float64{z, 1 - z}, 1e-6, "after a step")
}

// TestFAMODecay: with no change of the losses only the decay moves ξ, back to 0.
func TestFAMODecay(t *testing.T) {
	for decay, back := range map[float64]bool{0: false, 0.5: true} {
		t.Run(fmt.Sprint(decay), func(t *testing.T) {
			m, s := build(t, "famo", values{"decay": decay}), sample{rows: base, losses: []float64{1, 1}}.step(1)
			weigh(t, m, s)
			follow(t, m, s, 1, .5)
			famo := m.(*FAMO)
			start := famo.memo[0].Xi
			for range 2000 {
				weigh(t, m, s)
				follow(t, m, s, 1, 1)
			}
			if now := famo.memo[0].Xi; start <= 0 || back != (math.Abs(now) < start/10) {
				t.Errorf("decay %g: ξ from %g to %g", decay, start, now)
			}
		})
	}
}

// TestFAMOHelpsTheSlow: a task whose loss halves each time gives its weight to one that stands
// still.
func TestFAMOHelpsTheSlow(t *testing.T) {
	m, s := build(t, "famo", nil), sample{rows: base, losses: []float64{1, 1}}.step(1)
	before := math.Inf(1)
	for range 50 {
		w := weigh(t, m, s)
		if w[0] >= before {
			t.Fatalf("the fast task's weight rose from %g to %g", before, w[0])
		}
		before = w[0]
		follow(t, m, s, .5, 1)
	}
	if before > 0.15 {
		t.Errorf("the fast task has weight %g after 50 steps", before)
	}
	// A third stream has the mean ξ, so its share is the geometric mean of the others'.
	s = sample{rows: three, losses: []float64{1, 1, 1}}.step(1)
	if w := weigh(t, m, s); math.Abs(w[2]*w[2]-w[0]*w[1]) > 1e-12 {
		t.Errorf("with a new stream: %v", w)
	}
}

func TestFAMOTracksTheLowestLoss(t *testing.T) {
	m, s := build(t, "famo", values{"min_loss": "tracked", "eps": .5}), sample{rows: base, losses: []float64{2, 2}}.step(1)
	wants(t, weigh(t, m, s), []float64{.5, .5}, 1e-15, "at the lowest losses")
	s.Losses = []float64{3, 2.5} // D = 1.5 and 1
	wants(t, weigh(t, m, s), []float64{.4, .6}, 1e-14, "above them")
	follow(t, m, s, 1, 1) // below the lowest: D = ε
	s.Losses = []float64{1, 1}
	if w := weigh(t, m, s); !(w[0] < .5) {
		t.Errorf("the first fell further, and has %v", w)
	}
}

func TestFAMOFollowsItsOwnStep(t *testing.T) {
	m, s := build(t, "famo", nil), sample{rows: base, losses: []float64{1, 4}}.step(1)
	f, _ := as[Follower](t, m)
	if err := f.Follow([]int{0, 1}, []float64{1, 1}); err == nil {
		t.Error("losses before any step: no error")
	}
	weigh(t, m, s)
	if err := f.Follow([]int{0, 2}, []float64{1, 1}); err == nil {
		t.Error("other streams: no error")
	}
	want := weigh(t, m, s)
	follow(t, m, s, 1, math.NaN())
	wants(t, weigh(t, m, s), want, 0, "a step that diverged moved the weights from")
}

// TestFAMOKeepsItsStep: a step may be saved before the losses after it are known; an empty state
// lacks it.
func TestFAMOKeepsItsStep(t *testing.T) {
	m, s := build(t, "famo", nil), sample{rows: base, losses: []float64{1, 4}}.step(1)
	weigh(t, m, s)
	saved := must.Get(stateful(t, m).MarshalState())(t)
	other := build(t, "famo", nil)
	must.Do(t, stateful(t, other).UnmarshalState(saved))
	follow(t, m, s, 1, 2)
	follow(t, other, s, 1, 2)
	if got, want := weigh(t, other, s), weigh(t, m, s); !slices.Equal(got, want) {
		t.Errorf("%v after a state was restored, %v without", got, want)
	}
	for _, old := range []string{"{}", "null", `{"1":{"xi":0.5,"m":0,"v":0,"moves":1,"least":2}}`} {
		t.Run(old, func(t *testing.T) {
			must.Do(t, stateful(t, other).UnmarshalState([]byte(old)))
			if f, _ := as[Follower](t, other); f.Follow(s.IDs, []float64{1, 2}) == nil {
				t.Errorf("a step is followed that the state %s does not have", old)
			}
		})
	}
}
