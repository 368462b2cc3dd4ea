package pcl

import (
	"sync/atomic"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// shared is parameters on the device that several predictors may have. They are freed when the last
// one drops them.
type shared struct {
	buffer compute.Buffer
	held   atomic.Int64
}

// share copies parameters to the first client, for one holder.
func (a *answering) share(theta []float32) (*shared, error) {
	buffer, err := program.ToDevice(a.clients[0], theta, len(theta))
	if err != nil {
		return nil, err
	}
	s := &shared{buffer: buffer}
	s.held.Store(1)
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock, so that
	// this has to happen before several goroutines read the buffer.
	if _, err := buffer.Shape(); err != nil {
		s.drop()
		return nil, err
	}
	return s, nil
}

// hold adds a holder, and returns s.
func (s *shared) hold() *shared {
	s.held.Add(1)
	return s
}

// drop takes back a hold.
func (s *shared) drop() {
	if s != nil && s.held.Add(-1) == 0 {
		program.Free(s.buffer)
	}
}
