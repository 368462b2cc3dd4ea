package backend

import (
	"fmt"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// Clients returns the clients of the backend, the first of which is b.Backend itself. A client
// computes one program at a time. There are several only where XLA computes on the CPU
// ([Options].Clients): programs that are compiled for different clients then compute at the same
// time, on different cores, and each client reads a [Copy] of what another one wrote.
func (b *Backend) Clients() []compute.Backend {
	return append([]compute.Backend{b.Backend}, b.more...)
}

// addClients opens n−1 clients beside the first one.
func (b *Backend) addClients(n int, open func() (*Backend, error)) error {
	if n < 2 {
		return nil
	}
	if !b.HasSharedBuffers() { // the clients could not read each other's memory
		return fmt.Errorf("%s cannot be opened where memory is kept separate", plural.Of(n, "client"))
	}
	for len(b.more) < n-1 {
		c, err := open()
		if err != nil {
			return fmt.Errorf("client %d of %d: %w", len(b.more)+2, n, err)
		}
		b.more = append(b.more, c.Backend)
	}
	b.Info.Clients = n
	return nil
}

// Client is the client that a backend stands for: what the buffers that it makes call their
// backend.
func Client(b compute.Backend) compute.Backend {
	if whole, ok := b.(*Backend); ok {
		return whole.Backend
	}
	return b
}

// Copy returns a buffer of a client with the values of a buffer of another client, both of which
// share memory with the host.
func Copy(to compute.Backend, of compute.Buffer) (compute.Buffer, error) {
	shape, err := of.Shape()
	if err != nil {
		return nil, err
	}
	flat, err := of.Data()
	if err != nil {
		return nil, err
	}
	return Client(to).BufferFromFlatData(0, flat, shape)
}
