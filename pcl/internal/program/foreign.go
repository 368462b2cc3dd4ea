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
	here = copied(client, b)
	return here, func() { Free(here) }
}

// copied returns a buffer of a client with the values of a buffer of another client, both of which share memory with the host.
func copied(to compute.Backend, of compute.Buffer) compute.Buffer {
	return fail.Or(clientOf(to).BufferFromFlatData(0, fail.Or(of.Data()), fail.Or(of.Shape())))
}

// clientOf is the client that a backend stands for: what the buffers that it makes call their backend.
func clientOf(b compute.Backend) compute.Backend {
	if whole, ok := b.(*backend.Backend); ok {
		return whole.Backend
	}
	return b
}

// foreign reports whether a buffer belongs to another client of the same kind of backend. A buffer of another
// kind of backend is left to the executable, which refuses it.
func (p *Program) foreign(b compute.Buffer) bool {
	return b != nil && b.Backend() != p.client && reflect.TypeOf(b.Backend()) == reflect.TypeOf(p.client)
}
