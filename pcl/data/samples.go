// Package data holds what a learner is fed with: labelled samples, and streams that deliver them batch by
// batch.
package data

// Samples is a set of labelled samples that can be read in any order, also from several
// goroutines at once.
type Samples interface {
	Len() int
	// Sample writes the pixels of sample i, in [0,1], into x and returns its class id.
	Sample(i int, x []float32) (class int)
}

// TableSamples are samples that are rows of one table of bytes, in which b stands for b/255. A device with
// memory of its own keeps the table, so that batches of [NewStream] and test batches are sent to it as
// numbers of rows.
type TableSamples interface {
	Samples
	// Table returns all rows, one after the other; it must not change any more.
	Table() []uint8
	// Row returns the number of the row of sample i.
	Row(i int) int
}

// Batch is what a stream fills: up to len(Class) samples.
type Batch struct {
	X     []float32 // [len(Class)][inputs], row-major; images in [0,1]
	Class []int     // class ids
	N     int       // samples filled in: at least 1
	// Repeat says that these samples were in an earlier batch already (a later epoch), so that
	// the rehearsal memory counts them once.
	Repeat bool
}

// Fill reads b.N samples of s into the batch: the i-th of them is sample at(i).
func (b *Batch) Fill(s Samples, at func(i int) int) {
	width := len(b.X) / len(b.Class)
	for i := range b.N {
		b.Class[i] = s.Sample(at(i), b.X[i*width:(i+1)*width])
	}
}

// Rows writes the numbers of the rows of n samples into rows, if s is [TableSamples], and returns the
// table; otherwise it returns nil.
func Rows(s Samples, n int, at func(i int) int, rows []int32) (table []uint8) {
	t, ok := s.(TableSamples)
	if !ok {
		return nil
	}
	for i := range n {
		rows[i] = int32(t.Row(at(i)))
	}
	return t.Table()
}

// Unit maps a byte to [0,1].
var Unit = func() (table [256]float32) {
	for i := range table {
		table[i] = float32(i) / 255
	}
	return table
}()
