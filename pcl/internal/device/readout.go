package device

import "github.com/parallelcl/parallelcl/pcl/internal/graphs"

// Readout brings to the host what a step decides on: the losses of its rows, the statistics of their
// batches and, where asked for, inner products of their gradients, in float64, and the squared norms of
// their private parts.
type Readout interface {
	Warm(k int, asked graphs.Products) error
	Begin(k int, asked graphs.Products)
	// Add takes the next row, right after its gradient was computed.
	Add(r *Gradient)
	// Finish gives the rows their values and statistics and returns M, row-major K×K, in which 0 stands
	// where nothing was asked for.
	Finish() ([]float64, error)
	// Wait returns when no gradient is being read any more.
	Wait()
}

// NewReadout reads device memory in place where the backend shares it with the host, and else once for
// each step.
func NewReadout(s *graphs.Set) Readout {
	if s.Backend.HasSharedBuffers() {
		return ReadInPlace(s)
	}
	return ReadOnce(s)
}

// ReadInPlace reads memory that the device shares with the host.
func ReadInPlace(s *graphs.Set) Readout { return &readInPlace{set: s} }

// ReadOnce has the device compute all that is read, and copies it in one piece.
func ReadOnce(s *graphs.Set) Readout { return &readOnce{set: s} }
