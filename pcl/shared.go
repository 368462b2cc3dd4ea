package pcl

import (
	"sync/atomic"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// shared is parameters on the device that several predictors may have. They are freed when the last
// one drops them.
type shared struct {
	buffers []compute.Buffer // θ, or its parts where programs take these
	parts   bool
	held    atomic.Int64
}

// share copies parameters to the first client, for one holder.
func (a *answering) share(theta []float32, layout *model.Layout) (*shared, error) {
	client, tensors := a.clients[0], layout.Params
	s := &shared{parts: device.TakesParts(client)}
	if !s.parts {
		tensors = []model.Param{{Dims: []int{layout.Total}}}
	}
	var err error
	if s.buffers, err = device.PartsOf(client, theta, tensors); err != nil {
		return nil, err
	}
	s.held.Store(1)
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock, so that
	// this has to happen before several goroutines read the buffer.
	for _, b := range s.buffers {
		if _, err := b.Shape(); err != nil {
			s.drop()
			return nil, err
		}
	}
	return s, nil
}

// at is where predictions are made with the parameters.
func (s *shared) at(statistics []float32) device.At {
	if s.parts {
		return device.At{Parts: s.buffers, Running: statistics}
	}
	return device.At{Theta: s.buffers[0], Running: statistics}
}

// read returns a copy of θ.
func (s *shared) read() (theta []float32, err error) {
	for _, b := range s.buffers {
		shape, err := b.Shape()
		if err != nil {
			return nil, err
		}
		values, err := program.Read[float32](b, shape.Size())
		if err != nil {
			return nil, err
		}
		theta = append(theta, values...)
	}
	return theta, nil
}

// hold adds a holder, and returns s.
func (s *shared) hold() *shared {
	s.held.Add(1)
	return s
}

// drop takes back a hold.
func (s *shared) drop() {
	if s != nil && s.held.Add(-1) == 0 {
		program.Free(s.buffers...)
	}
}
