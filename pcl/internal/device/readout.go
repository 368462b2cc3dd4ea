package device

// Readout brings to the host what it needs of a step's rows: their losses, the statistics of their batches and,
// if asked for, inner products of their gradients in float64 and the squared norms over the private parameters.
// Call Begin, then Add for each row, then Finish.
type Readout interface {
	// Begin starts a step of k rows.
	Begin(k int, asked Products)
	// Add takes the next row. Call it as soon as the row's gradient has been computed.
	Add(r *Gradient)
	// Finish sets the rows' losses and statistics and returns M, a K×K matrix stored row by row. Entries that
	// were not asked for are 0.
	Finish() []float64
	// Wait returns when no gradient is being read any more.
	Wait()
}

// NewReadout returns a readout that computes on the host, from memory that the device shares with it, or else on the device,
// and copies the result to the host in one piece.
func NewReadout(s *Set) Readout {
	if s.Backend.HasSharedBuffers() {
		return &readInPlace{set: s}
	}
	return &readOnce{set: s}
}
