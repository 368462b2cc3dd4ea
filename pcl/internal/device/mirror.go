package device

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// Mirror is a copy of the rehearsal memory on a device that does not share memory with the host. It spares
// sending the same pixels in every step.
type Mirror struct {
	buffer  compute.Buffer
	rows    int
	changes int // the memory's count of changes when it was copied
	seen    int // the memory's count of changes when Send last found the copy out of date
	tooMany int // a number of rows for which the device had no room; 0 if that has not happened
}

// Held reports whether there is a copy at present.
func (m *Mirror) Held() bool { return m.buffer != nil }

// Free releases the copy.
func (m *Mirror) Free() {
	program.Free(m.buffer)
	*m = Mirror{}
}

// Send brings the pixels of a batch to the device; its samples are those of the store with the given indices.
// The whole memory is copied to the device when it has not changed since the last call, and the batch is then
// gathered there. As long as the memory changes from step to step, or if the device has no room for it, Send does nothing,
// and the pixels of each batch are copied when it is used.
func (m *Mirror) Send(r *Tables, store *memory.Store, b *Batch, indices []int) (err error) {
	if b.device[0] != nil {
		return nil
	}
	now, width := store.Changes(), len(b.X)/len(b.Class)
	if m.buffer == nil || m.changes != now {
		if m.seen != now {
			m.seen = now
			return nil
		}
		if m.copy(r.backend, store, width); m.buffer == nil {
			return nil
		}
		m.changes = now
	}
	for i, index := range indices {
		b.Rows[i] = int32(index)
	}
	b.pad()
	if b.ahead, err = r.pick(m.buffer, dtypes.Float32, m.rows, width, b.Rows); err != nil {
		b.ahead = nil // no room for the batch now: it is copied when it is used
	}
	return nil
}

// copy replaces the copy by one of the memory as it is now. There is none if the device has no room for it.
func (m *Mirror) copy(backend compute.Backend, store *memory.Store, width int) {
	program.Free(m.buffer)
	m.buffer = nil
	for m.rows = 64; m.rows < store.Len(); m.rows *= 2 { // few sizes, so that few programs are compiled
	}
	if m.tooMany > 0 && m.rows >= m.tooMany {
		return
	}
	pixels := make([]float32, m.rows*width)
	copy(pixels, store.Pixels())
	buffer, err := program.ToDevice(backend, pixels, m.rows, width)
	if err != nil { // a device that is at fault will say so when the batch is copied
		m.tooMany = m.rows
		return
	}
	m.buffer = buffer
}
