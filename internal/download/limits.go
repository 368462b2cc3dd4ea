package download

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// slowest is the smallest rate, in bytes per second: a modem of the last century brings 5 kB/s.
const slowest = 4 << 10

// maxAttempts is the largest number of attempts, even if each of them brings something.
const maxAttempts = 100

// errSlow marks the reason for which watch cancels a download.
var errSlow = errors.New("too slow")

// watch returns a context that ends when too little is added to received within a window.
func (c *Client) watch(ctx context.Context) (_ context.Context, received *atomic.Int64, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	received = new(atomic.Int64)
	window := time.NewTicker(c.Window)
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
				cancel(fmt.Errorf("%w: nothing came for %s", errSlow, c.Window))
			case float64(n) < slowest*c.Window.Seconds():
				cancel(fmt.Errorf("%w: %d bytes in %s", errSlow, n, c.Window))
			}
		}
	}()
	return ctx, received, func() { cancel(nil) }
}
