// Package nice lets goroutines run on threads of low priority, on Linux.
package nice

import (
	"runtime"
	"sync"
)

// Do calls f on a goroutine of its own, whose thread has a priority lower by so much, and waits. By
// 0 it is as that of the program, also where the caller's is lower: Go never copies the thread of a
// goroutine that has it to itself.
func Do(by int, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		lower(by)
		f()
	}()
	<-done
}

// lower gives the goroutine a thread to itself, which ends with it, and lowers its priority:
// without rights nobody can raise it again.
func lower(by int) {
	if by > 0 {
		runtime.LockOSThread()
		lowerThread(by)
	}
}

// Workers are goroutines that do one thing after another, each on a thread of low priority. The
// zero value has none yet.
type Workers struct{ jobs []chan func() }

// Go has worker n do something, which busy counts.
func (w *Workers) Go(n, by int, busy *sync.WaitGroup, f func()) {
	for len(w.jobs) <= n {
		jobs := make(chan func(), 1)
		go func() {
			lower(by)
			for do := range jobs {
				do()
			}
		}()
		w.jobs = append(w.jobs, jobs)
	}
	busy.Add(1)
	w.jobs[n] <- func() { defer busy.Done(); f() }
}

// Stop ends the workers, which do nothing at present.
func (w *Workers) Stop() {
	for _, jobs := range w.jobs {
		close(jobs)
	}
	w.jobs = nil
}
