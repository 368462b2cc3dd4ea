package weigh

import (
	"slices"
	"strings"
	"testing"
)

// TestFailedCallOfSmoothed: a call that fails changes nothing, also where a method that can undo its step is wrapped by
// one with a state of its own.
func TestFailedCallOfSmoothed(t *testing.T) {
	first := &Problem{Rows: [][]float64{{-4, 1, 1}, {6, 1, 1}}, Losses: []float64{1, 1}}
	second := &Problem{Rows: [][]float64{{1, 3, 1}, {2, -1, 1}}, Losses: []float64{1, 1}}
	bad := &Problem{Rows: [][]float64{{1.5e308, 0, 0}, {1.5e308, 1e292, 0}}, Losses: []float64{1, 1}}
	for _, inner := range []string{"emgd-gmc", "emgd-gs"} {
		var ends [2][]float64
		for i := range ends {
			r, err := New("cr-mogm", map[string]any{"method": inner}, 0)
			if err != nil {
				t.Fatal(err)
			}
			w := make([]float64, 2)
			if _, err := r.Weights(first, w); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				if _, err := r.Weights(bad, w); err == nil {
					t.Fatalf("%s: rows beyond the range were accepted", inner)
				}
			}
			if _, err := r.Weights(second, w); err != nil {
				t.Fatal(err)
			}
			ends[i] = w
		}
		if !slices.Equal(ends[0], ends[1]) {
			t.Errorf("%s: weights %v, after a failed call %v", inner, ends[0], ends[1])
		}
	}
}

// TestRefusedState: a state of which a later part is wrong changes nothing.
func TestRefusedState(t *testing.T) {
	rule := func() *Rule {
		r, err := New("emgd-gmc+ewc", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	saved := func(r *Rule) string {
		text, err := r.State()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	from, to := rule(), rule()
	if _, err := from.Weights(&Problem{Rows: [][]float64{{-4, 1, 1}, {6, 1, 1}}}, make([]float64, 2)); err != nil {
		t.Fatal(err)
	}
	before, wrong := saved(to), strings.Replace(saved(from), `"parts":[{}]`, `"parts":[{"stiffness":"AAAAAAAAAAA="}]`, 1)
	if err := to.SetState([]byte(wrong)); err == nil || saved(to) != before {
		t.Errorf("error %v; the state is %s, was %s", err, saved(to), before)
	}
	if got := to.LeavesOut(); !slices.Contains(got, "its penalty on the parameters") {
		t.Errorf("ewc leaves out %v", got)
	}
}

// TestRefusedCallBeforeFollow: the losses after a step are still those of its streams when a call was refused in between.
func TestRefusedCallBeforeFollow(t *testing.T) {
	r, w := opened(t, "famo", nil), make([]float64, 2)
	if _, err := r.Weights(&Problem{Rows: rows, Losses: []float64{1, 2}}, w); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Weights(&Problem{Rows: rows, Losses: []float64{1, -2}}, w); err == nil {
		t.Fatal("a negative loss is not refused")
	}
	if err := r.Follow(nil, []float64{.9, 1.5}); err != nil {
		t.Error(err)
	}
}
