package pcl

import (
	"fmt"
	"io"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// hostBatch is one batch in host memory, padded to the compiled size by samples that are not valid.
type hostBatch struct {
	Batch
	task []int // of each sample: memory batches mix tasks
	// targets go to the device in one piece; the four rows are its parts.
	targets               []int32
	lo, hi, output, valid []int32
}

// targetRows is the number of rows of the targets.
const targetRows = 4

func newHostBatch(size, inputs int) *hostBatch {
	t := make([]int32, targetRows*size)
	return &hostBatch{
		Batch: Batch{X: make([]float32, size*inputs), Class: make([]int, size)},
		task:  make([]int, size), targets: t,
		lo: t[:size], hi: t[size : 2*size], output: t[2*size : 3*size], valid: t[3*size:],
	}
}

// fetch fills b with the stream's next batch; io.EOF is its end.
func (t *task) fetch(b *hostBatch) error {
	b.N, b.Repeat = 0, false
	err := t.Stream.Next(&b.Batch)
	if err == io.EOF {
		return io.EOF
	}
	if err != nil {
		return err
	}
	if b.N < 1 || b.N > len(b.Class) {
		return fmt.Errorf("the stream delivered a batch of %d samples; want 1 to %d", b.N, len(b.Class))
	}
	for i := range b.N {
		b.task[i] = t.id
	}
	return nil
}

// observe shows the batch to the reservoir.
func (t *task) observe(b *hostBatch) {
	if b.Repeat {
		return
	}
	width := len(b.X) / len(b.Class)
	for i := range b.N {
		t.reservoir.Offer(b.Class[i], b.X[i*width:(i+1)*width])
	}
}

// fill gathers stored samples.
func (b *hostBatch) fill(store *memory.Store, indices []int) {
	width := len(b.X) / len(b.Class)
	b.N = len(indices)
	for k, i := range indices {
		it := store.Item(i)
		copy(b.X[k*width:(k+1)*width], it.Pixels)
		b.task[k], b.Class[k] = it.Task, it.Class
	}
}

// target sets what each sample should predict and among which outputs, as of now.
func (b *hostBatch) target(s *slots) error {
	width := len(b.X) / len(b.Class)
	clear(b.X[b.N*width:]) // a weight of 0 does not silence what is not finite
	for i := range b.Class {
		if i >= b.N {
			b.lo[i], b.hi[i], b.output[i], b.valid[i] = 0, 1, 0, 0
			continue
		}
		var err error
		if b.output[i], err = s.output(b.task[i], b.Class[i]); err != nil {
			return err
		}
		b.lo[i], b.hi[i] = s.competing(b.task[i])
		b.valid[i] = 1
	}
	return nil
}

// upload copies pixels and targets to the device.
func (b *hostBatch) upload(backend compute.Backend) ([]compute.Buffer, error) {
	size := len(b.Class)
	x, err := program.ToDevice(backend, b.X, size, len(b.X)/size)
	if err != nil {
		return nil, err
	}
	targets, err := program.ToDevice(backend, b.targets, targetRows, size)
	if err != nil {
		program.Free(x)
		return nil, err
	}
	return []compute.Buffer{x, targets}, nil
}

// row is one stream in one step.
type row struct {
	id       int
	batch    *hostBatch
	gradient compute.Buffer
	loss     float64
}

// collect gathers the rows of a step: the memory's batch first, then each running task's.
func (l *Learner) collect() error {
	l.rows = l.rows[:0]
	if n := l.memory.Len(); n > 0 {
		l.memBuf.fill(l.memory, l.memory.Draw(l.options.Batch))
		l.rows = append(l.rows, row{id: method.Memory, batch: l.memBuf})
	}
	for _, t := range l.tasks {
		if !t.ended {
			l.rows = append(l.rows, row{id: t.id, batch: t.current})
		}
	}
	for _, r := range l.rows {
		if err := r.batch.target(l.slots); err != nil {
			return err
		}
	}
	return nil
}
