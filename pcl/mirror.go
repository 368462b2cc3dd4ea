package pcl

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// mirror is a memory on a device of its own memory, as it was after some change.
type mirror struct {
	buffer  compute.Buffer
	rows    int
	changes int // those in buffer
	seen    int // those at the last look
}

func (m *mirror) free() {
	program.Free(m.buffer)
	*m = mirror{}
}

// replay sends a batch of stored samples, of the given indices. The memory is taken over as a whole once
// it has stayed the same from one step to the next: where it is edited in every step, pixels are sent.
func (l *Learner) replay(b *hostBatch, indices []int) (err error) {
	m, store := &l.mirror, l.memory
	if b.device[0] != nil {
		return nil
	}
	now, width := store.Changes(), l.options.Model.Inputs()
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
		if m.buffer, err = program.ToDevice(l.options.Backend, pixels, m.rows, width); err != nil {
			return err
		}
		m.changes = now
	}
	b.clean()
	for i, index := range indices {
		b.rows[i] = int32(index)
	}
	b.ahead, err = l.residents.pick(m.buffer, dtypes.Float32, m.rows, width, b.rows)
	return err
}
