package nice

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// now is the value of the thread that calls it.
func now() int {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return -100
	}
	return 20 - raw
}

// TestPriorities: only the thread that was asked for has a lower priority, and what is begun from
// it has that of the program.
func TestPriorities(t *testing.T) {
	usual := now()
	for _, c := range []struct {
		name string
		by   int
		run  func(f func())
		want int
	}{
		{"by 0", 0, func(f func()) { Do(0, f) }, usual},
		{"by 3", 3, func(f func()) { Do(3, f) }, min(usual+3, lowest)},
		{"by more than there is", 40, func(f func()) { Do(40, f) }, lowest},
		{"by 0 from below", 0, func(f func()) { Do(3, func() { Do(0, f) }) }, usual},
		{"a worker", 3, func(f func()) {
			var busy sync.WaitGroup
			var w Workers
			w.Go(0, 3, &busy, func() {})
			w.Go(0, 3, &busy, f)
			busy.Wait()
			w.Stop()
		}, min(usual+3, lowest)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := -1
			c.run(func() { got = now() })
			if got != c.want || now() != usual {
				t.Errorf("the thread has %d, want %d, and that of the test %d, want %d", got, c.want, now(), usual)
			}
		})
	}
}
