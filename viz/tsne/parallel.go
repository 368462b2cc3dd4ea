package tsne

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for the ranges [lo, hi) of at most step indices that make up [0, n), on all
// processors, until ctx is done. Each index must write only what is its own, so that the result does
// not depend on who comes first.
func parallel(ctx context.Context, n, step int, f func(lo, hi int)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+step-1)/step) {
		group.Go(func() {
			for ctx.Err() == nil {
				hi := int(next.Add(int64(step)))
				if hi-step >= n {
					return
				}
				f(hi-step, min(hi, n))
			}
		})
	}
	group.Wait()
	return ctx.Err()
}
