package pcl

import (
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// Programs keeps the programs that were compiled on one backend. Learners that share it through
// [Options.Programs], with equal models, batch sizes and optimisers, compile only once. Only one
// learner may use it at a time.
type Programs struct {
	backend *backend.Backend
	cache   *device.Cache
	held    atomic.Int64 // by whom the programs are needed: who made them, learners, and predictors
	closed  atomic.Bool
	alone   bool // whether nothing else uses the backend, which then is closed, too
}

// NewPrograms returns an empty collection of programs for a backend. Close it before the backend is
// closed.
func NewPrograms(b *backend.Backend) *Programs {
	p := &Programs{backend: b, cache: &device.Cache{Clients: b.Clients(), Nice: b.Nice()}}
	p.hold()
	return p
}

// Close releases the compiled programs. If there are learners or predictors that need them, this
// happens when the last one is closed. Closing them again does nothing.
func (p *Programs) Close() {
	if !p.closed.Swap(true) {
		p.drop()
	}
}

func (p *Programs) on(b *backend.Backend) bool { return p.backend.Backend == b.Backend }

func (p *Programs) hold() { p.held.Add(1) }

// drop takes back a hold.
func (p *Programs) drop() {
	if p.held.Add(-1) == 0 {
		p.cache.Close()
		if p.alone {
			_ = p.backend.Close()
		}
	}
}
