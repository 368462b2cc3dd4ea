package backend

import (
	"fmt"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// Clients returns the clients of the backend, the first of which is b.Backend itself. A client computes
// one program at a time. There are several only where XLA computes
// on the CPU ([Options].Clients): programs that are compiled for different clients then compute at the same time, on
// different cores, and each client reads a copy of what another one wrote.
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
