package download

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Limits say how patient a download is.
type Limits struct {
	Retries int           // how many attempts in a row may bring nothing, or too little
	Pause   time.Duration // the pause before the second attempt, which doubles each time
	Window  time.Duration // a connection that is slower than Slowest for so long is given up
	Slowest int64         // smallest rate within a window, in bytes per second
}

// A modem of the last century brings 5 kB/s.
var defaultLimits = Limits{Retries: 4, Pause: time.Second, Window: 30 * time.Second, Slowest: 4 << 10}

// maxAttempts is the largest number of attempts, even if each of them brings something.
const maxAttempts = 100

// errSlow marks the reason for which watch cancels a download.
var errSlow = errors.New("too slow")

// watch returns a context that ends when too little is added to received within a window.
func (l Limits) watch(ctx context.Context) (_ context.Context, received *atomic.Int64, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	received = new(atomic.Int64)
	window := time.NewTicker(l.Window)
	go func() {
		defer window.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-window.C:
			}
			switch n := received.Swap(0); {
			case n == 0:
				cancel(fmt.Errorf("%w: nothing came for %s", errSlow, l.Window))
			case float64(n) < float64(l.Slowest)*l.Window.Seconds():
				cancel(fmt.Errorf("%w: %d bytes in %s", errSlow, n, l.Window))
			}
		}
	}()
	return ctx, received, func() { cancel(nil) }
}
