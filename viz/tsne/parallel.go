package tsne

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for each index below n, on all processors, until ctx ends. Each call must write only what is its own, so
// that the result does not depend on who comes first.
func parallel(ctx context.Context, n int, f func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	group.Wait()
}
