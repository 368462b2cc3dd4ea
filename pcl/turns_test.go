package pcl

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// TestTurns: a caller whose context ends leaves the queue, and a closed learner takes no more
// calls.
func TestTurns(t *testing.T) {
	turns := newTurns()
	must.Do(t, turns.enter(t.Context()))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	expect.Refusal(t, "a caller that gave up", turns.enter(ended), context.Canceled)
	turns.leave()
	must.Do(t, turns.enter(t.Context()))
	turns.leave()
	for i, want := range []bool{true, false} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if first := turns.close(); first != want {
				t.Errorf("close %d says that it is the first: %t", i, first)
			}
			turns.leave()
		})
	}
	expect.Refusal(t, "a call after close", turns.enter(t.Context()), ErrClosed)
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
