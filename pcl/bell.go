package pcl

import (
	"errors"
	"sync"
)

// ErrIdle is what [Learner.Step] returns when tasks run, but none has anything to train on yet: their streams are not
// ready, or they are paused. Nothing has changed. [Learner.Wait] waits until one may be.
var ErrIdle = errors.New("pcl: no stream is ready")

// bell is rung by streams when they may be ready, and when tasks change.
type bell struct {
	mu    sync.Mutex
	rung  uint64        // how often
	heard chan struct{} // closed at the next ring; nil as long as nobody listens
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung++
	if b.heard != nil {
		close(b.heard)
		b.heard = nil
	}
}

// count returns a number that every ring changes. It is at least 1.
func (b *bell) count() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung + 1
}

// listen returns the number that count returns, and a channel that the next ring closes.
func (b *bell) listen() (rung uint64, heard <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.heard == nil {
		b.heard = make(chan struct{})
	}
	return b.rung + 1, b.heard
}
