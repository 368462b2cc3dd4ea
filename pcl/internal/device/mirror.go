package device

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// Mirror is a copy of the rehearsal memory on a device with memory of its own, as it was after some change.
type Mirror struct {
	buffer  compute.Buffer
	rows    int
	changes int // those in buffer
	seen    int // those at the last look
}

// Held says whether there is a copy.
func (m *Mirror) Held() bool { return m.buffer != nil }

// Free gives the copy back.
func (m *Mirror) Free() {
	program.Free(m.buffer)
	*m = Mirror{}
}

// Send sends a batch of samples of the store, of the given indices. The memory is copied as a whole once
// it has stayed the same from one step to the next: where it is edited in every step, pixels are sent.
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
		program.Free(m.buffer)
		for m.rows = 64; m.rows < store.Len(); m.rows *= 2 { // so that few programs are compiled
		}
		pixels := make([]float32, m.rows*width)
		copy(pixels, store.Pixels())
		if m.buffer, err = program.ToDevice(r.backend, pixels, m.rows, width); err != nil {
			return err
		}
		m.changes = now
	}
	b.clean()
	for i, index := range indices {
		b.Rows[i] = int32(index)
	}
	b.ahead, err = r.pick(m.buffer, dtypes.Float32, m.rows, width, b.Rows)
	return err
}
