package pcl

import (
	"fmt"
	"io"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// hostBatch is one batch in host memory, padded to the compiled size by samples of weight 0.
type hostBatch struct {
	Batch
	task           []int // of each sample: memory batches mix tasks
	lo, hi, output []int32
	weight         []float32
}

func newHostBatch(size, inputs int) *hostBatch {
	return &hostBatch{
		Batch: Batch{X: make([]float32, size*inputs), Class: make([]int, size)},
		task:  make([]int, size),
		lo:    make([]int32, size), hi: make([]int32, size), output: make([]int32, size),
		weight: make([]float32, size),
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
	clear(b.X[b.N*width:]) // weight 0 does not silence what is not finite
	for i := range b.Class {
		if i >= b.N {
			b.lo[i], b.hi[i], b.output[i], b.weight[i] = 0, 1, 0, 0
			continue
		}
		var err error
		if b.output[i], err = s.output(b.task[i], b.Class[i]); err != nil {
			return err
		}
		b.lo[i], b.hi[i] = s.competing(b.task[i])
		b.weight[i] = 1 / float32(b.N)
	}
	return nil
}

// upload copies x, lo, hi and, with targets, label and weight to the device.
func (b *hostBatch) upload(backend compute.Backend, targets bool) ([]compute.Buffer, error) {
	size := len(b.Class)
	var out []compute.Buffer
	add := func(buf compute.Buffer, err error) error {
		if err != nil {
			program.Free(out...)
			return err
		}
		out = append(out, buf)
		return nil
	}
	if err := add(program.ToDevice(backend, b.X, size, len(b.X)/size)); err != nil {
		return nil, err
	}
	columns := [][]int32{b.lo, b.hi}
	if targets {
		columns = append(columns, b.output)
	}
	for _, c := range columns {
		if err := add(program.ToDevice(backend, c, size)); err != nil {
			return nil, err
		}
	}
	if targets {
		if err := add(program.ToDevice(backend, b.weight, size)); err != nil {
			return nil, err
		}
	}
	return out, nil
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
