package pcl

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Tests of this file run compositions of a rule and a rehearsal on the engine.

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

// TestCompositions: with memory editing on, the steps of each composition have the rows that are
// expected, and where the rule sees the memory's rows as one, these have its weight, and both views
// the same ‖d‖.
func TestCompositions(t *testing.T) {
	for _, c := range engineCompositions {
		t.Run(c.name, func(t *testing.T) {
			l := smallLearner(t, pcltest.Backend(t, backend.Go), "", Options{
				Method: newMethod(t, c.name, c.params), Increment: "class", Edit: Edit{Eta: 0.01, Mode: "per_sample"},
			})
			full, edited, ended := 0, 0, 0
			timeline(t, l, func(r *StepReport) {
				if len(r.Skipped) > 0 || r.Rejected {
					t.Errorf("%s, step %d: rows %v were left out; rejected: %v", c.name, r.Step, r.Skipped, r.Rejected)
				}
				own := slices.DeleteFunc(slices.Clone(r.IDs), func(id int) bool { return id > method.MemoryID })
				if ended == 2 {
					full++
					if !slices.Equal(own, c.memory) {
						t.Errorf("%s, step %d: memory rows %v, want %v", c.name, r.Step, own, c.memory)
					}
				}
				if r.Edit != nil && r.Edit.Change > 0 {
					edited++
				}
				ended += len(r.Ended)
				j := r.Outcome.Summed
				if (j != nil) != (c.joined && len(own) > 1) {
					t.Errorf("%s, step %d: memory rows %v are joined: %v", c.name, r.Step, own, j != nil)
				}
				if j == nil {
					return
				}
				at := fmt.Sprintf("%s, step %d: ", c.name, r.Step)
				pcltest.Equal(t, at+"joined rows", len(j.IDs), 1+len(r.IDs)-len(own))
				pcltest.Equal(t, at+"the first joined row", j.IDs[0], method.MemoryID)
				pcltest.Equal(t, at+"weights of the memory's rows", r.Weights[:2], []float64{j.Weights[0], j.Weights[0]})
				if j.Gram == nil {
					return
				}
				if rows, rule := quadratic(r.Gram, r.Weights), quadratic(j.Gram, j.Weights); math.Abs(rows-rule) > 1e-9*rows {
					t.Errorf("%s, step %d: ‖d‖² = %g by the rows' products, %g by the joined ones",
						c.name, r.Step, rows, rule)
				}
			})
			if full == 0 || edited == 0 {
				t.Errorf("%d steps after two tasks, %d with edits", full, edited)
			}
			l.Close()
		})
	}
}

// TestJoinedLossIsOneRow: β·CE + α·MSE of one batch, as one row that is computed at once, and as
// two rows of which the rule sees the sum, make the same steps but for rounding.
func TestJoinedLossIsOneRow(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	var ends [2][]float32
	for i, m := range []method.Method{
		newMethod(t, "emgd-gmc+der-pp", map[string]any{"draws": "one"}),
		&sumOfTwo{newMethod(t, "emgd-gmc+der-pp", map[string]any{"draws": "one", "rows": "apart"}),
			newMethod(t, "emgd-gmc", nil)},
	} {
		l := trained(t, b, m, Options{Increment: "class"})
		steps(t, l, 3)
		ends[i] = must.Get(l.Parameters())(t)
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
