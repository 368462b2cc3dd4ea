package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
)

// Programs keeps what was compiled on one backend, so that learners of equal model, batch size and
// optimiser compile once, and the data sets that a device with memory of its own holds. It serves one learner
// at a time.
type Programs struct {
	backend *backend.Backend
	cache   *graphs.Cache
	tables  *device.Tables
}

// NewPrograms returns an empty collection; close it before the backend.
func NewPrograms(b *backend.Backend) *Programs {
	return &Programs{backend: b, cache: graphs.NewCache(b.Clients()...), tables: device.NewTables(b.Backend)}
}

// Close releases the compiled code.
func (p *Programs) Close() {
	p.cache.Close()
	p.tables.Close()
}
