package device

import "github.com/parallelcl/parallelcl/pcl/internal/graphs"

// Readout brings to the host what it needs of a step's rows: their losses, the statistics of their batches and,
// if asked for, inner products of their gradients in float64 and the squared norms over the private parameters.
// Call Begin, then Add for each row, then Finish.
type Readout interface {
	// Warm compiles in advance what is needed for k rows.
	Warm(k int, asked graphs.Products)
	// Begin starts a step of k rows.
	Begin(k int, asked graphs.Products)
	// Add takes the next row. Call it as soon as the row's gradient has been computed.
	Add(r *Gradient)
	// Finish sets the rows' losses and statistics and returns M, a K×K matrix stored row by row. Entries that
	// were not asked for are 0.
	Finish() []float64
	// Wait returns when no gradient is being read any more.
	Wait()
}

// NewReadout returns [ReadInPlace] if the device shares memory with the host, and [ReadOnce] otherwise.
func NewReadout(s *graphs.Set) Readout {
	if s.Backend.HasSharedBuffers() {
		return ReadInPlace(s)
	}
	return ReadOnce(s)
}

// ReadInPlace returns a readout that computes on the host, from memory that the device shares with it.
func ReadInPlace(s *graphs.Set) Readout { return &readInPlace{set: s} }

// ReadOnce returns a readout that computes on the device, and copies the result to the host in one piece.
func ReadOnce(s *graphs.Set) Readout { return &readOnce{set: s} }
