package build

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestStep: lines of the go command that tell how far it is are reported and left out of an error,
// in whatever pieces they arrive; all others stay.
func TestStep(t *testing.T) {
	var told []string
	s := &step{name: "compiling", total: 2,
		report: func(step string, done, total int) { told = append(told, fmt.Sprint(step, done, total)) }}
	var rest bytes.Buffer
	l := &lines{said: s.said, rest: &rest}
	for _, piece := range []string{"go: downloading example.com/a v1", ".0.0\nfm",
		"t\nexample.com/a\n# example.com/b\nb.go:1: ", "wrong\n",
		hostPackage + "/main\nb.go:2: wrong"} {
		if n, err := l.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("Write(%q) is %d, %v", piece, n, err)
		}
	}
	want := []string{"downloading Go module example.com/a v1.0.00 0", "compiling0 2", "compiling1 2",
		"3 of 3, linking the program of the cells0 0"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q; want %q", told, want)
	}
	if got, want := rest.String(), "# example.com/b\nb.go:1: wrong\n"; got != want {
		t.Errorf("the rest is %q; want %q", got, want)
	}
}

// TestUnreachable: without a network one line says so; other errors stay as they are.
func TestUnreachable(t *testing.T) {
	for name, c := range map[string]struct{ said, want string }{
		"refused": {"a.go: dial tcp 127.0.0.1:9: refused\nb.go: dial tcp",
			"can't be downloaded (GOPROXY may name a mirror); the same command goes on: a.go"},
		"no name":   {"a.go: lookup proxy.example.com: no such host", "can't be downloaded"},
		"disk full": {"write a: no space left on device\nb", "write a: no space left on device\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unreachable(errors.New(c.said)).Error(); !strings.Contains(got, c.want) || strings.Contains(got, "b.go") {
				t.Errorf("the error is %q; want %q", got, c.want)
			}
		})
	}
}
