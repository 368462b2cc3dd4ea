package method

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// orthogonal is a step with unit gradients in different directions, except for the lengths given.
func orthogonal(ids []int, lengths map[int]float64) *Step {
	k := len(ids)
	s := &Step{IDs: ids, Gram: make([]float64, k*k), Losses: slices.Repeat([]float64{1}, k)}
	for i, id := range ids {
		s.Gram[i*k+i] = 1
		if x, ok := lengths[id]; ok {
			s.Gram[i*k+i] = x * x
		}
	}
	return s
}

// TestPenaltyJoined: the penalty is a part of the memory's first row unless it is to be apart,
// whatever the rows of samples are.
func TestPenaltyJoined(t *testing.T) {
	const penalty = rehearsal.PenaltyID
	ids := []int{0, -1, penalty, 2}
	for _, c := range []struct {
		params values
		want   [][]int // ids with one weight
	}{
		{values{"ewc.rows": "joined", "der-pp.rows": "joined"}, [][]int{{0, -1, penalty}}},
		{values{"ewc.rows": "apart", "der-pp.rows": "joined"}, [][]int{{0, -1}, {penalty}}},
		{values{"ewc.rows": "joined", "der-pp.rows": "apart"}, [][]int{{0, penalty}, {-1}}},
		{values{"ewc.rows": "apart", "der-pp.rows": "apart"}, [][]int{{0}, {-1}, {penalty}}},
	} {
		m := build(t, "emgd-gmc+der-pp+ewc", c.params)
		w := weigh(t, m, orthogonal(ids, map[int]float64{0: 1, -1: 2, penalty: .01, 2: 3}))
		var seen []float64
		for _, group := range c.want {
			first := w[slices.Index(ids, group[0])]
			for _, id := range group {
				if w[slices.Index(ids, id)] != first {
					t.Errorf("%v: weights %v of the rows %v, want one for %v", c.params, w, ids, group)
				}
			}
			if slices.Contains(seen, first) {
				t.Errorf("%v: weights %v of the rows %v: %v has that of another row", c.params, w, ids, group)
			}
			seen = append(seen, first)
		}
	}
	for _, name := range []string{"gem+ewc", "pocl+si", "emgd-gmc+per-task+ewc"} {
		t.Run(name, func(t *testing.T) {
			build(t, name, values{"rows": "apart"})
		})
	}
}

// TestMemoryRowsAreMemory: rules that treat the memory otherwise than tasks know its rows by their
// ids, which are at most 0.
func TestMemoryRowsAreMemory(t *testing.T) {
	w := weigh(t, build(t, "constant+per-task", values{"memory": 5, "task": 2}), orthogonal([]int{-1, -2, 3}, nil))
	if !slices.Equal(w, []float64{5, 5, 2}) {
		t.Errorf("constant: weights %v", w)
	}
	for _, c := range []struct {
		ids     []int
		leading int
	}{{[]int{0, 1, 2}, 0}, {[]int{-2, -1, 3}, -1}, {[]int{0, rehearsal.PenaltyID, 1}, 0},
		{[]int{rehearsal.PenaltyID, 2, 3}, 2}} {
		// All rows are alike, so that only the primary has another weight than the others.
		s := &Step{IDs: c.ids, Gram: []float64{1, -.5, -.5, -.5, 1, -.5, -.5, -.5, 1}, Losses: []float64{1, 1, 1}}
		w := weigh(t, build(t, "pcd", values{"tau": 1}), s)
		p := slices.Index(c.ids, c.leading)
		if a, b := w[(p+1)%3], w[(p+2)%3]; math.Abs(a-b) > 1e-12 || math.Abs(w[p]-a) < .1 {
			t.Errorf("pcd on %v: weights %v, want another for %d", c.ids, w, c.leading)
		}
	}
	m := build(t, "gradnorm+der-pp", values{"rows": "apart"})
	weigh(t, m, orthogonal([]int{0, -1, 2}, nil))
	state, _ := as[Stateful](t, m)
	state.End(1)
	norm := m.(*Composition).rule.(*GradNorm)
	for id, x := range norm.memo {
		if first := x.First; (first < 0) != (id <= MemoryID) {
			t.Errorf("gradnorm: after a task's end the first loss of row %d is %g", id, first)
		}
	}
}

// TestSmoothedRehearsal: cr-mogm smooths the weights of a rule. The rehearsal that the rule came
// with stays, and excludes what it excludes without smoothing.
func TestSmoothedRehearsal(t *testing.T) {
	for _, c := range []struct {
		name, inner string
		fits        bool
	}{
		{"cr-mogm+der-pp", "icarl", false}, {"cr-mogm+mir", "gmed", false}, {"cr-mogm+herding", "icarl", false},
		{"cr-mogm+per-task", "a-gem", false},
		{"cr-mogm", "emgd-gmc+der-pp", true}, {"cr-mogm+herding", "der-pp", true}, {"cr-mogm", "gem", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m, err := New(c.name, values{"method": c.inner}); (err == nil) != c.fits ||
				err == nil && Describe(m).Name != c.name {
				t.Errorf("%s of %s: %v", c.name, c.inner, expect.Text(err))
			}
		})
	}
	s := orthogonal([]int{0, -1, 2}, map[int]float64{0: 2, 2: 3})
	w, want := weigh(t, build(t, "cr-mogm", values{"method": "emgd-gmc+der-pp", "alpha": 0}), s),
		weigh(t, build(t, "emgd-gmc+der-pp", nil), s)
	if !slices.Equal(w, want) || w[0] != w[1] {
		t.Errorf("without smoothing the weights are %v, want %v", w, want)
	}
}

// TestNothingToObserve: gradients that are all 0 say nothing about the norms of streams
// (docs/method.md §2.8).
func TestNothingToObserve(t *testing.T) {
	m := build(t, "emgd-gmc", nil).(*EMGDGMC)
	for _, x := range []float64{1, 0, 0} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			weigh(t, m, &Step{IDs: []int{1}, Gram: []float64{x * x}})
			if norm, ok := m.factors.Norms[1]; !ok || math.Abs(norm-1) > 1e-15 {
				t.Errorf("after a gradient of length %g the mean norm is %g", x, norm)
			}
		})
	}
}

type wrongDefault struct {
	Rate float64 `param:"rate" default:"one"`
}

func (wrongDefault) Needs() Needs                              { return Needs{} }
func (wrongDefault) Weights(*Step, []float64) (Outcome, error) { return Outcome{}, nil }

// TestRegisterRefuses: what could not be used later is refused when it is registered.
func TestRegisterRefuses(t *testing.T) {
	made := func(m Method) func() Method { return func() Method { return m } }
	for what, register := range map[string]func(){
		"a default that is no number":   func() { Register(Info{Name: "own"}, made(wrongDefault{})) },
		"a name with a +":               func() { Register(Info{Name: "a+b"}, made(plain{})) },
		"a name that is taken":          func() { Register(Info{Name: "mgda"}, made(plain{})) },
		"a struct that is taken":        func() { Register(Info{Name: "own"}, made(&MGDA{})) },
		"no struct":                     func() { Register(Info{Name: "own"}, made(number(1))) },
		"the parameter of every method": func() { Register(Info{Name: "own"}, made(rescales{})) },
		"rows without products":         func() { Register(Info{Name: "own"}, made(rowsAlone{})) },
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			register()
		})
	}
}

type number int

func (number) Needs() Needs                              { return Needs{} }
func (number) Weights(*Step, []float64) (Outcome, error) { return Outcome{}, nil }

type rescales struct {
	plain
	rescaling
}

type rowsAlone struct{ plain }

func (rowsAlone) Needs() Needs { return Needs{Rows: true} }

// TestMemoryRowWeights weighs two memory rows beside two tasks, and each kind alone.
func TestMemoryRowWeights(t *testing.T) {
	s := sample{rows: gaussian(newLife().rng, 4, 3), losses: []float64{1, 1, 1, 1}}.step(1)
	for name, share := range map[string]float64{"mdmtr": .5, "der-pp": 1, "icarl": .5, "gss": .5, "mir": 1, "gmed": .5,
		"gmed-release": .5} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				ids  []int
				want []float64
			}{
				{[]int{0, -1, 1, 5}, []float64{share, share, share / 2, share / 2}},
				{[]int{1, 2, 3, 4}, []float64{.25, .25, .25, .25}},
				{[]int{0, -1, -2, -3}, []float64{.25, .25, .25, .25}},
			} {
				s.IDs = c.ids
				if w := weigh(t, build(t, name, nil), s); !slices.Equal(w, c.want) {
					t.Errorf("%s for rows %v: %v, want %v", name, c.ids, w, c.want)
				}
			}
		})
	}
}
