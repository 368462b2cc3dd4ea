//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"errors"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestBeside: work that must not wait has clients of its own where there can be such.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		own  bool
	}{
		{"pure Go", Options{Name: Go}, false},
		{"one client", Options{Name: XLACPU, cache: realCache(t), Clients: 1}, true},
		{"two clients", Options{Name: XLACPU, cache: realCache(t), Clients: 2}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mustOpen(t, c.o)
			one, two := must.Get(b.Beside(1))(t), must.Get(b.Beside(2))(t)
			if one[0] != two[0] {
				t.Error("there is another client the second time")
			}
			for _, client := range b.Clients() {
				if c.own == (client == one[0]) {
					t.Errorf("a client of the backend's own: %t", !c.own)
				}
				if !c.own {
					break
				}
			}
		})
	}
}

// TestKeep: what is kept is made once, and freed when the backend is closed.
func TestKeep(t *testing.T) {
	b, freed := mustOpen(t, Options{Name: Go}), 0
	type key struct{ n int }
	failed := errors.New("failed")
	if _, err := b.Keep(key{1}, func() (any, func(), error) { return nil, nil, failed }); !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
	for n := range 3 {
		got := must.Get(b.Keep(key{1}, func() (any, func(), error) { return n, func() { freed++ }, nil }))(t)
		if got != 0 {
			t.Errorf("value %v at time %d", got, n)
		}
	}
	must.Get(b.Keep(key{2}, func() (any, func(), error) { return nil, func() { freed++ }, nil }))(t)
	must.Do(t, b.Close())
	must.Do(t, b.Close())
	if freed != 2 {
		t.Errorf("%d values are freed", freed)
	}
}
