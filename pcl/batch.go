package pcl

import (
	"math"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// hostBatch is one batch in host memory, padded to the compiled size by samples that are not valid.
type hostBatch struct {
	Batch
	task []int // of each sample: memory batches mix tasks
	// targets go to the device in one piece; the rows are its parts.
	targets                               []int32
	lo, hi, output, valid, taskLo, taskHi []int32
	stored                                [][]float32       // logits that came with the samples; nil for streams
	reference                             []float32         // [size][outputs], for losses that need one
	device                                [2]compute.Buffer // of X and targets, where the device reads them in place
	ahead                                 compute.Buffer    // elsewhere X, if it was sent before it is needed
}

// The rows of the targets: the range of outputs that compete, the right one, the sample's share (0 for
// padding), and the range of its task's outputs.
const (
	targetLo = iota
	targetHi
	targetLabel
	targetValid
	targetTaskLo
	targetTaskHi
	targetRows
)

// newBatch returns an empty batch, to be freed.
func (l *Learner) newBatch() (*hostBatch, error) {
	size, inputs := l.options.Batch, l.options.Model.Inputs()
	x, onX, err := program.Shared[float32](l.options.Backend, size, inputs)
	if err != nil {
		return nil, err
	}
	t, onT, err := program.Shared[int32](l.options.Backend, targetRows, size)
	if err != nil {
		program.Free(onX)
		return nil, err
	}
	part := func(row int) []int32 { return t[row*size : (row+1)*size] }
	return &hostBatch{
		Batch: Batch{X: x, Class: make([]int, size), rows: make([]int32, size)},
		task:  make([]int, size), targets: t,
		lo: part(targetLo), hi: part(targetHi), output: part(targetLabel), valid: part(targetValid),
		taskLo: part(targetTaskLo), taskHi: part(targetTaskHi),
		device: [2]compute.Buffer{onX, onT},
	}, nil
}

// free gives the batch's memory back; it is not to be used any more.
func (b *hostBatch) free() {
	if b != nil {
		program.Free(append(b.device[:], b.ahead)...)
		*b = hostBatch{}
	}
}

// renew empties the batch.
func (b *hostBatch) renew() {
	program.Free(b.ahead)
	b.N, b.Repeat, b.table, b.ahead = 0, false, nil, nil
}

// clean clears what is padding: a weight of 0 does not silence what is not finite.
func (b *hostBatch) clean() {
	width := len(b.X) / len(b.Class)
	clear(b.X[b.N*width:])
	for i := b.N; i < len(b.rows); i++ {
		b.rows[i] = -1
	}
}

func (b *hostBatch) copyPixels(backend compute.Backend) (compute.Buffer, error) {
	size := len(b.Class)
	return program.ToDevice(backend, b.X, size, len(b.X)/size)
}

// observe shows the reservoir the batch that was trained on.
func (t *task) observe() {
	b := t.current
	if !t.ready || t.leftOut || b.Repeat {
		return
	}
	width := len(b.X) / len(b.Class)
	for i := range b.N {
		t.reservoir.Offer(b.Class[i], b.X[i*width:(i+1)*width])
	}
}

// items returns the samples, which share the batch's pixels.
func (b *hostBatch) items() []memory.Item {
	width := len(b.X) / len(b.Class)
	out := make([]memory.Item, b.N)
	for i := range out {
		out[i] = memory.Item{Task: b.task[i], Class: b.Class[i], Pixels: b.X[i*width : (i+1)*width]}
	}
	return out
}

// fill gathers samples, at most as many as there is room for.
func (b *hostBatch) fill(samples []memory.Item) {
	width := len(b.X) / len(b.Class)
	b.renew()
	b.N, b.stored = len(samples), b.stored[:0]
	for k, it := range samples {
		copy(b.X[k*width:(k+1)*width], it.Pixels)
		b.task[k], b.Class[k] = it.Task, it.Class
		b.stored = append(b.stored, it.Logits)
	}
}

// target sets what each sample should predict and among which outputs, as of now. With seen, all that
// have arrived compete.
func (b *hostBatch) target(s *slots, seen bool) error {
	b.clean()
	for i := range b.Class {
		if i >= b.N {
			b.lo[i], b.hi[i], b.output[i], b.valid[i], b.taskLo[i], b.taskHi[i] = 0, 1, 0, 0, 0, 0
			continue
		}
		var err error
		if b.output[i], err = s.output(b.task[i], b.Class[i]); err != nil {
			return err
		}
		if b.lo[i], b.hi[i] = s.competing(b.task[i]); seen {
			b.lo[i], b.hi[i] = 0, int32(s.used)
		}
		b.taskLo[i], b.taskHi[i] = s.span(b.task[i])
		b.valid[i] = 1
	}
	return nil
}

// share weighs the samples in the mean, in 65536ths.
func (b *hostBatch) share(shares []float64) {
	for i, x := range shares {
		b.valid[i] = int32(math.Round(x * 65536))
	}
}

// refer fills the reference with what the stored logits say, and nothing for other samples.
func (b *hostBatch) refer(outputs int) {
	b.blank(outputs)
	for i, logits := range b.stored {
		copy(b.reference[i*outputs:(i+1)*outputs], logits)
	}
}

// blank sets a reference that says nothing.
func (b *hostBatch) blank(outputs int) {
	if len(b.reference) != len(b.Class)*outputs {
		b.reference = make([]float32, len(b.Class)*outputs)
	}
	for i := range b.reference {
		b.reference[i] = model.NoReference
	}
}

// upload brings pixels, targets and, where asked for, the reference to the device. done frees what was
// copied for it.
func (b *hostBatch) upload(backend compute.Backend, reference bool) (in []compute.Buffer, done func(), err error) {
	size := len(b.Class)
	var copied []compute.Buffer
	done = func() { program.Free(copied...) }
	add := func(buffer compute.Buffer, err error) error {
		if err == nil {
			in, copied = append(in, buffer), append(copied, buffer)
		}
		return err
	}
	if b.device[0] != nil {
		in = append(in, b.device[:]...)
	} else {
		if b.ahead != nil {
			in = append(in, b.ahead)
		} else {
			err = add(b.copyPixels(backend))
		}
		if err == nil {
			err = add(program.ToDevice(backend, b.targets, targetRows, size))
		}
	}
	if err == nil && reference {
		err = add(program.ToDevice(backend, b.reference, size, len(b.reference)/size))
	}
	if err != nil {
		done()
	}
	return in, done, err
}
