package weigh

import (
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// TestUndo: every method goes back to what it remembered before a step, and the step made again has
// the same weights.
func TestUndo(t *testing.T) {
	for _, name := range method.Names() {
		r, first, again := opened(t, name, nil), make([]float64, 2), make([]float64, 2)
		p := &Problem{Rows: rows, Losses: []float64{1, 2}, IDs: []int{3, 8}}
		if _, err := r.Weights(p, first); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		before := remembered(t, r)
		back := must.Get(r.mark())(t)
		p = &Problem{Rows: [][]float64{{1, 3, 1}, {2, -1, 1}}, Losses: []float64{2, 1}, IDs: []int{8, 9}}
		if _, err := r.Weights(p, first); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after := remembered(t, r)
		if must.Do(t, back()); remembered(t, r) != before {
			t.Errorf("%s: it remembers %s, before %s", name, remembered(t, r), before)
		}
		switch _, err := r.Weights(p, again); {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !slices.Equal(first, again):
			t.Errorf("%s: first is %v; want %v", name, first, again)
		case remembered(t, r) != after:
			t.Errorf("%s: error %v; weights %v, then %v", name, err, first, again)
		}
	}
}

// TestCertificateOfJoinedRows: a certificate has an entry for each row of the caller, in the
// caller's order.
func TestCertificateOfJoinedRows(t *testing.T) {
	r, w := opened(t, "emgd-gmc+der-pp", nil), make([]float64, 4)
	p := &Problem{IDs: []int{1, -1, 0, 2}, Rows: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 2, 1}, {1, 1, 3}}}
	out := must.Get(r.Weights(p, w))(t)
	plain, v := opened(t, "emgd-gmc", nil), make([]float64, 3)
	want := must.Get(plain.Weights(&Problem{IDs: []int{0, 1, 2}, Rows: [][]float64{{0, 3, 1}, {1, 0, 0}, {1, 1, 3}}},
		v))(t)
	a, b := out.Certificate, want.Certificate
	for _, c := range [][2][]float64{{w, v}, {a.Lambda, b.Lambda}, {a.Sigma, b.Sigma}, {a.Slacks, b.Slacks}} {
		if got, v := c[0], c[1]; !slices.Equal(got, []float64{v[1], v[0], v[0], v[2]}) {
			t.Errorf("%v for the rows, %v for the joined ones", got, v)
		}
	}
	// λ of stream 2 is 0
	switch {
	case !slices.Equal(b.Active, []int{0, 1}):
		t.Errorf("b.Active is %v; want %v", b.Active, []int{0, 1})
	case !slices.Equal(a.Active, []int{0, 1, 2}):
		t.Errorf("a.Active is %v; want %v", a.Active, []int{0, 1, 2})
	case a.Dropped != nil:
		t.Errorf("a.Dropped is %v; want nil", a.Dropped)
	}
	p.Rows[1], p.Rows[2] = make([]float64, 3), make([]float64, 3)
	switch out, err := r.Weights(p, w); {
	case err != nil:
		t.Error(err)
	case !slices.Equal(out.Certificate.Dropped, []int{1, 2}):
		t.Errorf("out.Certificate.Dropped is %v; want %v", out.Certificate.Dropped, []int{1, 2})
	case !strings.Contains(out.Certificate.Message(), "rows 1 2"):
		t.Errorf("out.Certificate.Message() is %q; want %q in it", out.Certificate.Message(), "rows 1 2")
	}
}

// TestFailedCallOfSmoothed: a call that fails changes nothing, also where a method that can undo
// its step is wrapped by one with a state of its own.
func TestFailedCallOfSmoothed(t *testing.T) {
	first := &Problem{Rows: [][]float64{{-4, 1, 1}, {6, 1, 1}}, Losses: []float64{1, 1}}
	second := &Problem{Rows: [][]float64{{1, 3, 1}, {2, -1, 1}}, Losses: []float64{1, 1}}
	bad := &Problem{Rows: [][]float64{{1.5e308, 0, 0}, {1.5e308, 1e292, 0}}, Losses: []float64{1, 1}}
	for _, inner := range []string{"emgd-gmc", "emgd-gs"} {
		t.Run(inner, func(t *testing.T) {
			var ends [2][]float64
			for i := range ends {
				r := must.Get(New("cr-mogm", map[string]any{"method": inner}, 0))(t)
				w := make([]float64, 2)
				must.Get(r.Weights(first, w))(t)
				if i == 1 {
					if _, err := r.Weights(bad, w); err == nil {
						t.Fatal("rows beyond the range were accepted")
					}
				}
				must.Get(r.Weights(second, w))(t)
				ends[i] = w
			}
			if !slices.Equal(ends[0], ends[1]) {
				t.Errorf("weights %v, after a failed call %v", ends[0], ends[1])
			}
		})
	}
}

// TestRefusedState: a state of which a later part is wrong changes nothing.
func TestRefusedState(t *testing.T) {
	rule := func() *Rule {
		r := must.Get(New("emgd-gmc+ewc", nil, 0))(t)
		return r
	}
	saved := func(r *Rule) string {
		text := must.Get(r.State())(t)
		return string(text)
	}
	from, to := rule(), rule()
	must.Get(from.Weights(&Problem{Rows: [][]float64{{-4, 1, 1}, {6, 1, 1}}}, make([]float64, 2)))(t)
	before, wrong := saved(to), strings.Replace(saved(from), `"parts":[{}]`, `"parts":[{"stiffness":"AAAAAAAAAAA="}]`, 1)
	if err := to.SetState([]byte(wrong)); err == nil || saved(to) != before {
		t.Errorf("error %v; the state is %s, was %s", expect.Text(err), saved(to), before)
	}
	if got := to.LeavesOut(); !slices.Contains(got, "its penalty on the parameters") {
		t.Errorf("ewc leaves out %v", got)
	}
}

// TestRefusedCallBeforeFollow: the losses after a step are still those of its streams when a call
// was refused in between.
func TestRefusedCallBeforeFollow(t *testing.T) {
	r, w := opened(t, "famo", nil), make([]float64, 2)
	must.Get(r.Weights(&Problem{Rows: rows, Losses: []float64{1, 2}}, w))(t)
	if _, err := r.Weights(&Problem{Rows: rows, Losses: []float64{1, -2}}, w); err == nil {
		t.Fatal("a negative loss is not refused")
	}
	if err := r.Follow(nil, []float64{.9, 1.5}); err != nil {
		t.Error(err)
	}
}
