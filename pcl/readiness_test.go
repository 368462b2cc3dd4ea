package pcl

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// TestReadiness: an event changes the count, and wakes all who wait for the next one.
func TestReadiness(t *testing.T) {
	var r readiness
	count, next := r.listen()
	if got := r.count(); got != count || count == 0 {
		t.Errorf("count %d, when listening %d; want equal ones above 0", got, count)
	}
	_, other := r.listen()
	r.notify()
	<-next
	<-other
	if got := r.count(); got == count {
		t.Errorf("count %d before and after an event", got)
	}
}

// TestWaitFor: wait ends with an event, when it is time to poll, and with its context.
func TestWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r readiness
		_, next := r.listen()
		began := time.Now()
		must.Do(t, wait(t.Context(), next, true))
		if took := time.Since(began); took != pollInterval {
			t.Errorf("a poll after %v; want %v", took, pollInterval)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		expect.Refusal(t, "wait", wait(ctx, next, false), context.DeadlineExceeded)
		go r.notify()
		must.Do(t, wait(t.Context(), next, false))
	})
}
