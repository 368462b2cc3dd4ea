//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// refused checks that a cell is refused with a text.
func (s *session) refused(code, want string) {
	s.t.Helper()
	got, err := s.run(code)
	if err == nil || !strings.Contains(err.Error(), want) {
		s.t.Errorf("In[%d] %s\nshows %q, error %v, want %q", s.n, code, got, err, want)
	}
}

// After a crash, what did not come back is named, and nobody reads zero in its place.
func TestLost(t *testing.T) {
	s := begin(t)
	s.shows(
		"rows := make([][]float64, 400000)\nfor i := range rows {\n\trows[i] = []float64{float64(i), 1}\n}\nscale := func(v float64) float64 { return 2 * v }\n"+
			"steps := make(chan int, 3)\nn := 7\nvar zero int", "")
	s.shows(
		"func total() (sum float64) {\n\tfor _, r := range rows {\n\t\tsum += r[1]\n\t}\n\treturn sum\n}\nfunc twice() float64 { return 2 * total() }\n"+
			"func load() { rows = [][]float64{{0, 5}} }\ntype T struct{}\nfunc (T) Rows() int { return len(rows) }", "")
	got, err := s.run("y := 1\nvar mu sync.Mutex\nmu.Unlock()")
	const names = "These did not come along: mu, rows, scale, steps, y."
	switch {
	case err == nil:
		t.Error("no error")
	case !strings.Contains(got, names):
		t.Errorf("got is %q; want %q in it", got, names)
	case !strings.Contains(got, "n"):
		t.Errorf("got is %q; want %q in it", got, "n")
	case !strings.Contains(got, ", as after In[2]: n."):
		t.Errorf("got is %q; want %q in it", got, ", as after In[2]: n.")
	}
	const when = " lost when the process of the cells ended in In[3]: run In["
	s.shows("n + zero", "7")
	s.refused("sum := 0.0\nfor _, r := range rows {\n\tsum += r[1]\n}\nsum", "In[5]:2:19: rows was"+when+"1]")
	s.refused("y", "y was"+when+"3]")
	s.refused("cap(steps)", "steps was"+when)
	s.refused("scale(1)", "scale was"+when+"1]")
	s.refused("y++", "y was"+when)
	s.refused("rows[0] = nil", "rows was"+when)
	s.refused("twice()", "twice reads rows, which was"+when)
	s.refused("T{}.Rows()", "T.Rows reads rows, which was"+when)
	s.shows("load()\ntotal()", "5")
	s.shows("rows, y := rows, 3\ny + len(rows)", "4")
	s.refused("steps = make(chan int, 2)\npanic(\"then\")", "panic: then")
	s.shows("cap(steps)", "2")
	s.shows("scale = func(v float64) float64 { return v }\nscale(4)", "4")
	if got, err := s.run("%handover"); err != nil || !strings.Contains(got, "These did not come along: scale, steps.") {
		t.Errorf("%q, %v", got, expect.Text(err))
	}
	s.refused("mu.Lock()", "mu was"+when)
	s.refused("scale(1)", "scale was lost when the process of the cells ended before In[")
}
