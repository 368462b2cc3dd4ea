package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
)

// Programs keeps the programs that were compiled on one backend. Learners that share it through
// [Options.Programs], with equal models, batch sizes and optimisers, compile only once. It also keeps the data
// sets that were copied to a device with memory of its own. Only one learner may use it at a time.
type Programs struct {
	backend *backend.Backend
	cache   *graphs.Cache
	tables  *device.Tables
}

// NewPrograms returns an empty collection of programs for a backend. Close it before the backend is closed.
func NewPrograms(b *backend.Backend) *Programs {
	return &Programs{backend: b, cache: graphs.NewCache(b.Clients()...), tables: device.NewTables(b.Backend)}
}

// Close releases the compiled programs and the data sets on the device.
func (p *Programs) Close() {
	p.cache.Close()
	p.tables.Close()
}
