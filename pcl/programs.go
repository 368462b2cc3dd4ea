package pcl

import (
	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
)

// Programs keeps what was compiled on one backend, so that learners of equal model, batch size and
// optimiser compile once, and the data sets that a device with memory of its own holds. It serves one learner
// at a time.
type Programs struct {
	cache  *graphs.Cache
	tables *device.Tables
}

// NewPrograms returns an empty collection; close it before the backend.
func NewPrograms(backend compute.Backend) *Programs {
	return &Programs{cache: graphs.NewCache(backend), tables: device.NewTables(backend)}
}

// Close releases the compiled code.
func (p *Programs) Close() {
	p.cache.Close()
	p.tables.Close()
}
