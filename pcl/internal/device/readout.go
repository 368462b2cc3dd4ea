package device

// readout brings to the host what it needs of a step's rows: their losses, the statistics of their
// batches and, if asked for, inner products of their gradients in float64 and the squared norms
// over the private parameters. Call begin, then add for each row, then finish.
type readout interface {
	// begin starts a step of k rows.
	begin(k int, asked Products)
	// add takes the next row. Call it as soon as the row's gradient has been computed.
	add(r *Row) error
	// finish sets the rows' losses and statistics and returns M, a K×K matrix stored row by row.
	// Entries that were not asked for are 0.
	finish() ([]float64, error)
	// wait returns when no gradient is being read any more.
	wait()
}

// newReadout returns a readout that computes on the host, from memory that the device shares with
// it, or else on the device, and copies the result to the host in one piece.
func newReadout(s *Set) readout {
	if s.Backend.HasSharedBuffers() {
		return &readInPlace{set: s}
	}
	return &readOnce{set: s}
}
