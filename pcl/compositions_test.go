package pcl

import (
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// A few compositions of a rule and a rehearsal, on the engine.

type composition struct {
	name   string
	params map[string]any
	memory []int // the ids of the memory's rows once two tasks have ended
	joined bool  // the rule sees them as one
}

var engineCompositions = []composition{
	{"emgd-gmc+der-pp", nil, []int{0, -1}, true},
	{"emgd-gmc+der-pp", map[string]any{"draws": "one"}, []int{0}, false},
	{"upgrad+mir", nil, []int{0}, false},
	{"emgd-gmc+icarl", nil, []int{0}, false},
	{"emgd-gmc+per-task", nil, []int{-1, -2}, false},
	{"famo+der-pp", nil, []int{0, -1}, true},
	{"graddrop+der-pp", nil, []int{0, -1}, true},
	{"emgd-gmc+gss+der-pp", nil, []int{0, -1}, true},
	{"emgd-gs+der-pp", map[string]any{"rows": "apart"}, []int{0, -1}, false},
}

// compositionNames are those that have their defaults.
func compositionNames() (names []string) {
	for _, c := range engineCompositions {
		if c.params == nil {
			names = append(names, c.name)
		}
	}
	return names
}

// overlapping trains three tasks that overlap until all have ended. Before each step it calls before, which may
// replace the learner, and after it look.
func overlapping(t *testing.T, l *Learner, before func(l *Learner) *Learner, look func(r *StepReport, ended int)) *Learner {
	t.Helper()
	d, ended := pcltest.Blobs(6, 20, 5), 0
	for step := 0; ; step++ {
		if id := step/4 + 1; step%4 == 0 && id <= 3 {
			attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
		}
		l = before(l)
		r, err := l.Step()
		if errors.Is(err, ErrNoStream) {
			return l
		}
		if err != nil {
			t.Fatal(err)
		}
		look(r, ended)
		ended += len(r.Ended)
	}
}

// TestCompositionsResume: with memory editing on, a run of each composition has the rows that are expected; one that
// is saved before every step and taken up by another learner ends with the same bits.
func TestCompositionsResume(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, c := range engineCompositions {
			made := func() *Learner {
				return smallLearner(t, b, "", Options{
					Method: newMethod(t, c.name, c.params), Increment: scenario.ClassIncremental, Edit: Edit{Eta: 0.01, Mode: EditPerSample},
				})
			}
			path, d := filepath.Join(t.TempDir(), "learner.pcl"), pcltest.Blobs(6, 20, 5)
			again := func(l *Learner) *Learner {
				if err := l.Save(path); err != nil {
					t.Fatal(err)
				}
				l.Close()
				next := made()
				if err := next.Load(path, func(id int) (Task, error) { return blobTask(t, d, id, 2*id-2, 2*id-1), nil }); err != nil {
					t.Fatal(err)
				}
				return next
			}
			saw := sights{composition: c, t: t}
			whole := overlapping(t, made(), func(l *Learner) *Learner { return l }, saw.look)
			resumed := overlapping(t, made(), again, func(*StepReport, int) {})
			saw.check()
			want, got := must[State](t)(whole.State()), must[State](t)(resumed.State())
			if string(got.JSON) != string(want.JSON) {
				t.Errorf("%s %v: saved before every step, it ends as\n%.300s\nand otherwise as\n%.300s", c.name, c.params, got.JSON, want.JSON)
			}
			if !maps.EqualFunc(got.Arrays, want.Arrays, slices.Equal[[]float32]) {
				t.Errorf("%s %v: saved before every step, it ends with other arrays", c.name, c.params)
			}
			for id := 1; id <= 3; id++ {
				a, b := must[float64](t)(whole.Evaluate(id)), must[float64](t)(resumed.Evaluate(id))
				if a != b || math.IsNaN(a) {
					t.Errorf("%s %v: task %d has the accuracy %g, saved before every step %g", c.name, c.params, id, a, b)
				}
			}
			whole.Close()
			resumed.Close()
		}
	})
}

// sights are what the reports of a run say.
type sights struct {
	composition
	t                     *testing.T
	full, edited, between int
	distinct              bool // the memory's rows have had different weights
}

func (s *sights) look(r *StepReport, ended int) {
	s.t.Helper()
	var memory, tasks []int
	for i, id := range r.IDs {
		if id > method.Memory {
			tasks = append(tasks, i)
			continue
		}
		if memory = append(memory, i); r.Weights[i] != r.Weights[0] {
			s.distinct = true
		}
	}
	if len(r.Skipped) > 0 || r.Rejected {
		s.t.Errorf("%s, step %d: rows %v were left out; rejected: %v", s.name, r.Step, r.Skipped, r.Rejected)
	}
	if ended == 2 {
		s.full++
		if got := r.IDs[:len(memory)]; !slices.Equal(got, s.memory) {
			s.t.Errorf("%s, step %d: memory rows %v, want %v", s.name, r.Step, got, s.memory)
		}
	}
	if r.Edit != nil && r.Edit.Change > 0 {
		s.edited++
	}
	j := r.Outcome.Joined
	if (j != nil) != (s.joined && len(memory) > 1) {
		s.t.Errorf("%s, step %d: memory rows %v are joined: %v", s.name, r.Step, r.IDs[:len(memory)], j != nil)
	}
	if j == nil {
		return
	}
	s.between++
	if len(j.IDs) != 1+len(tasks) || j.IDs[0] != method.Memory || j.Weights[0] != r.Weights[0] {
		s.t.Errorf("%s, step %d: joined to %v with weights %v; rows %v have %v", s.name, r.Step, j.IDs, j.Weights, r.IDs, r.Weights)
	}
	if j.Gram == nil {
		return
	}
	own, rule := quadratic(r.Gram, r.Weights), quadratic(j.Gram, j.Weights)
	if math.Abs(own-rule) > 1e-9*own {
		s.t.Errorf("%s, step %d: ‖d‖² = %g by the rows' products, %g by the joined ones", s.name, r.Step, own, rule)
	}
}

// check says whether anything was seen.
func (s *sights) check() {
	s.t.Helper()
	if s.full == 0 || s.edited == 0 || s.joined != (s.between > 0) {
		s.t.Errorf("%s: %d steps after two tasks, %d with edits, %d with joined rows", s.name, s.full, s.edited, s.between)
	}
	if s.distinct && s.joined {
		s.t.Errorf("%s: joined rows have different weights", s.name)
	}
}

// TestJoinedLossIsOneRow: β·CE + α·MSE of one batch, as one row that is computed at once, and as two rows of which
// the rule sees the sum, make the same steps but for rounding.
func TestJoinedLossIsOneRow(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		var ends [2][]float32
		for i, m := range []method.Method{
			newMethod(t, "emgd-gmc+der-pp", map[string]any{"draws": "one"}),
			&sumOfTwo{newMethod(t, "emgd-gmc+der-pp", map[string]any{"draws": "one", "rows": "apart"}), newMethod(t, "emgd-gmc", nil)},
		} {
			l := trained(t, b, m, Options{Increment: scenario.ClassIncremental})
			for range 3 {
				if _, err := l.Step(); err != nil {
					t.Fatal(err)
				}
			}
			ends[i] = must[[]float32](t)(l.Parameters())
			l.Close()
		}
		close32(t, ends[0], ends[1])
	})
}

// sumOfTwo has the roles of a method with two memory rows, and weighs their sum by a rule.
type sumOfTwo struct {
	method.Method
	rule method.Method
}

func (m *sumOfTwo) Unwrap() method.Method { return m.Method }

func (m *sumOfTwo) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	if len(s.IDs) < 2 || s.IDs[1] != -1 {
		return m.rule.Weights(s, w)
	}
	k, n := len(s.IDs)-1, len(s.IDs)
	at := func(i int) int { return max(i-1, 0) }
	sum := &method.Step{IDs: append([]int{0}, s.IDs[2:]...), Gram: make([]float64, k*k), Rand: s.Rand}
	for i := range n {
		for j := range n {
			sum.Gram[at(i)*k+at(j)] += s.Gram[i*n+j]
		}
	}
	own := make([]float64, k)
	_, err := m.rule.Weights(sum, own)
	for i := range w {
		w[i] = own[at(i)]
	}
	return method.Outcome{}, err
}
