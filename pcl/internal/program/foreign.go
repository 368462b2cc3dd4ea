package program

import (
	"reflect"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Bring returns a buffer on a client: b itself if it is there, else a copy, which drop frees.
func Bring(client compute.Backend, b compute.Buffer) (here compute.Buffer, drop func()) {
	if b.Backend() == client {
		return b, func() {}
	}
	here = fail.Or(backend.Copy(client, b))
	return here, func() { Free(here) }
}

// foreign reports whether a buffer belongs to another client of the same kind of backend. A buffer of another
// kind of backend is left to the executable, which refuses it.
func (p *Program) foreign(b compute.Buffer) bool {
	return b != nil && b.Backend() != p.client && reflect.TypeOf(b.Backend()) == reflect.TypeOf(p.client)
}
