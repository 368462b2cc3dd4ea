package tsne

import (
	"context"
	"runtime"
	"sync"
)

// parallel calls f for each index below n, on all processors, until ctx ends. Each call must write
// only what is its own.
func parallel(ctx context.Context, n int, f func(i int)) {
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < n && ctx.Err() == nil; i += workers {
				f(i)
			}
		})
	}
	group.Wait()
}
