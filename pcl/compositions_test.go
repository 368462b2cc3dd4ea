package pcl

import (
	"math"
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

// TestCompositions: with memory editing on, a run of each composition has the rows that are expected.
func TestCompositions(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, c := range engineCompositions {
		l := smallLearner(t, b, "", Options{
			Method: newMethod(t, c.name, c.params), Increment: scenario.ClassIncremental, Edit: Edit{Eta: 0.01, Mode: editPerSample},
		})
		saw, ended := sights{composition: c, t: t}, 0
		timeline(t, l, func(r *StepReport) {
			saw.look(r, ended)
			ended += len(r.Ended)
		})
		saw.check()
		l.Close()
	}
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
	b := pcltest.Backend(t, backend.Go)
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
