package pcl

import (
	"context"
	"errors"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestTurns: a caller whose context ends leaves the queue, and a closed learner takes no more
// calls.
func TestTurns(t *testing.T) {
	turns := newTurns()
	must.Do(t, turns.enter(t.Context()))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := turns.enter(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up: error %v; want context.Canceled", err)
	}
	turns.leave()
	must.Do(t, turns.enter(t.Context()))
	turns.leave()
	for i, want := range []bool{true, false} {
		if first := turns.close(); first != want {
			t.Errorf("close %d says that it is the first: %t", i, first)
		}
		turns.leave()
	}
	if err := turns.enter(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a call after close: error %v; want ErrClosed", err)
	}
}

// TestAttempt: a change that fails or panics stops the learner, and one that succeeds lets it go
// on.
func TestAttempt(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		change func() error
		want   string // "" if the learner goes on
	}{
		"done":   {func() error { return nil }, ""},
		"failed": {func() error { return broken }, "broken"},
		"panic":  {func() error { panic("no ink") }, "the method panicked: no ink"},
	} {
		t.Run(name, func(t *testing.T) {
			turns := newTurns()
			err := turns.attempt("the method", c.change)
			if err != turns.failure {
				t.Errorf("returned %v, kept %v", err, turns.failure)
			}
			if c.want == "" {
				must.Do(t, err)
				return
			}
			refused(t, err, c.want)
		})
	}
}
