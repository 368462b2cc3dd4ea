//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// queued runs cells that are sent together, and returns what each shows, or its error.
func (s *session) queued(cells ...string) (shows []string) {
	s.t.Helper()
	var ids []string
	for _, code := range cells {
		ids = append(ids, s.cell(code))
	}
	for _, id := range ids {
		reply, text := s.reply(s.shells, id), ""
		for _, m := range s.outputs(id) {
			text += shown(m)
		}
		if status := reply.str("status"); status != "ok" {
			text += status + " " + reply.str("evalue")
		}
		shows = append(shows, strings.TrimSpace(text))
	}
	return shows
}

// Cells that wait are built while others run, and show what they would if each were sent after the
// one before.
func TestQueue(t *testing.T) {
	const again = "type T struct{ a int }\nfunc (t T) Get() int { return t.a }"
	for _, c := range []struct {
		name        string
		cells, want []string
	}{
		{"what one declares the next uses", []string{"x := 1", "x++\nx", "func f() int { return 10 * x }\nf()",
			"x = f()\nf()"},
			[]string{"", "2", "20", "200"}},
		{"a function and a type declared again", []string{again + "\nfunc f() int { return T{1}.Get() }\nf()",
			"func (t T) Get() int { return 2 * t.a }", "f()", "type T struct{ b string }\nT{\"b\"}.b", "f()"},
			[]string{"1", "", "2", "Declared again: %T and reflect say main.Tʹ.\nThe method T.Get does not fit the new type",
				"2"}},
		{"one that does not compile", []string{"y := 1\ny", "y = nothing", "y"},
			[]string{"1", "error In[2]:1:5: undefined: nothing",
				"aborted"}},
		{"one that panics", []string{"z := 1", "z = 2\npanic(z)", "z := \"new\"\nz", "z"},
			[]string{"", "error In[2]:2: panic: 2", "aborted", "aborted"}},
		{"commands", []string{"%env QUEUED 1", "os.Getenv(\"QUEUED\")", "%rm none\nlen(os.Getenv(\"QUEUED\"))"},
			[]string{"Set: QUEUED=\"1\"", "1", "Not declared: none\n1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t)
			for i, got := range s.queued(c.cells...) {
				if want := c.want[i]; !strings.HasPrefix(got, want) || want == "" && got != "" {
					t.Errorf("cell %d of %d, %s\nshows %q, want %q", i+1, len(c.cells), c.cells[i], got, want)
				}
			}
		})
	}
}

// What was built of a cell that then was not run changes nothing.
func TestQueueAborted(t *testing.T) {
	s := begin(t)
	s.queued("type T struct{ a int }\nt := T{1}", "time.Sleep(time.Second)\npanic(1)",
		"type T struct{ b string }\nt := T{\"b\"}")
	s.shows("t.a", "1")
	got, err := s.run("type T struct{ b string }\nT{\"b\"}.b")
	for _, want := range []string{"Declared again: %T and reflect say main.Tʹ.\n",
		"keep the old one and its values: t.", "\nb\n"} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("a type declared again shows %q, %v; want %q in it", got, expect.Text(err), want)
		}
	}
	s.shows("t := T{\"now\"}\nt.b", "now")
}
