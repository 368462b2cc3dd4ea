package device

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// share calls f with 0 to n−1, on as many cores as come to help in time. It waits for the calls,
// but not for a core that other programs keep busy, or that needs longer to wake up than the work
// takes.
func share(n int, f func(i int)) {
	var taken atomic.Int64
	var left sync.WaitGroup
	left.Add(n)
	work := func() {
		for i := int(taken.Add(1)) - 1; i < n; i = int(taken.Add(1)) - 1 {
			f(i)
			left.Done()
		}
	}
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		go work()
	}
	work()
	left.Wait()
}
