// Package device holds what a learner keeps on the device and how it comes there and back: batches, tables
// of samples, gradients and their Gram matrix. It knows nothing of tasks or steps.
package device

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/heads"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// Batch is one batch in host memory, padded to the compiled size by samples that are not valid.
type Batch struct {
	data.Batch
	Task      []int     // of each sample: memory batches mix tasks
	Rows      []int32   // the samples' numbers in Table
	Table     []uint8   // of which the samples are rows; nil if they are rows of none
	Targets   []int32   // [graphs.TargetRows][size], which the following are parts of
	Output    []int32   // the right output of each sample
	Reference []float32 // [size][outputs], for losses that need one

	lo, hi, valid, taskLo, taskHi []int32

	stored [][]float32       // logits that came with the samples; nil for streams
	device [2]compute.Buffer // of X and Targets, where the device reads them in place
	ahead  compute.Buffer    // elsewhere X, if it was sent before it is needed
}

// NewBatch returns an empty batch, to be freed.
func NewBatch(backend compute.Backend, size, inputs int) (*Batch, error) {
	x, onX, err := program.Shared[float32](backend, size, inputs)
	if err != nil {
		return nil, err
	}
	t, onT, err := program.Shared[int32](backend, graphs.TargetRows, size)
	if err != nil {
		program.Free(onX)
		return nil, err
	}
	part := func(row int) []int32 { return t[row*size : (row+1)*size] }
	return &Batch{
		Batch: data.Batch{X: x, Class: make([]int, size)},
		Rows:  make([]int32, size), Task: make([]int, size), Targets: t,
		lo: part(graphs.TargetLo), hi: part(graphs.TargetHi), Output: part(graphs.TargetLabel), valid: part(graphs.TargetValid),
		taskLo: part(graphs.TargetTaskLo), taskHi: part(graphs.TargetTaskHi),
		device: [2]compute.Buffer{onX, onT},
	}, nil
}

// Free gives the batch's memory back; it is not to be used any more.
func (b *Batch) Free() {
	if b != nil {
		program.Free(append(b.device[:], b.ahead)...)
		*b = Batch{}
	}
}

// Empty empties the batch.
func (b *Batch) Empty() {
	program.Free(b.ahead)
	b.N, b.Repeat, b.Table, b.ahead = 0, false, nil, nil
}

// Sent says whether the pixels were sent to the device before they are needed.
func (b *Batch) Sent() bool { return b.ahead != nil }

// clean clears the padding: a sample that is not finite would make the loss so even with a weight of 0.
func (b *Batch) clean() {
	width := len(b.X) / len(b.Class)
	clear(b.X[b.N*width:])
	for i := b.N; i < len(b.Rows); i++ {
		b.Rows[i] = -1
	}
}

func (b *Batch) copyPixels(backend compute.Backend) (compute.Buffer, error) {
	size := len(b.Class)
	return program.ToDevice(backend, b.X, size, len(b.X)/size)
}

// Items returns the samples, which share the batch's pixels.
func (b *Batch) Items() []memory.Item {
	width := len(b.X) / len(b.Class)
	out := make([]memory.Item, b.N)
	for i := range out {
		out[i] = memory.Item{Task: b.Task[i], Class: b.Class[i], Pixels: b.X[i*width : (i+1)*width]}
	}
	return out
}

// Gather gathers samples, at most as many as there is room for.
func (b *Batch) Gather(samples []memory.Item) {
	width := len(b.X) / len(b.Class)
	b.Empty()
	b.N, b.stored = len(samples), b.stored[:0]
	for k, it := range samples {
		copy(b.X[k*width:(k+1)*width], it.Pixels)
		b.Task[k], b.Class[k] = it.Task, it.Class
		b.stored = append(b.stored, it.Logits)
	}
}

// Aim sets what each sample should predict and among which outputs, as of now. With seen, all that
// have arrived compete.
func (b *Batch) Aim(h *heads.Heads, seen bool) error {
	b.clean()
	for i := range b.Class {
		if i >= b.N {
			b.lo[i], b.hi[i], b.Output[i], b.valid[i], b.taskLo[i], b.taskHi[i] = 0, 1, 0, 0, 0, 0
			continue
		}
		var err error
		if b.Output[i], err = h.Output(b.Task[i], b.Class[i]); err != nil {
			return err
		}
		if b.lo[i], b.hi[i] = h.Competing(b.Task[i]); seen {
			b.lo[i], b.hi[i] = 0, int32(h.Used())
		}
		b.taskLo[i], b.taskHi[i] = h.Span(b.Task[i])
		b.valid[i] = 1
	}
	return nil
}

// Only makes sample k the only one that counts in the loss.
func (b *Batch) Only(k int) {
	b.count(func(i int) bool { return i == k })
}

// Half makes the first or the second half of the samples (0 or 1) those that count; a single sample counts
// in both.
func (b *Batch) Half(h int) {
	half := (b.N + 1) / 2
	b.count(func(i int) bool { return b.N == 1 || (i < half) == (h == 0) })
}

// All makes all samples count.
func (b *Batch) All() { b.count(func(int) bool { return true }) }

func (b *Batch) count(counts func(i int) bool) {
	for i := range b.N {
		b.valid[i] = 0
		if counts(i) {
			b.valid[i] = 1
		}
	}
}

// Share weighs the samples in the mean, in 65536ths.
func (b *Batch) Share(shares []float64) {
	for i, x := range shares {
		b.valid[i] = int32(math.Round(x * 65536))
	}
}

// Refer fills the reference with what the stored logits say, and nothing for other samples.
func (b *Batch) Refer(outputs int) {
	b.Blank(outputs)
	for i, logits := range b.stored {
		copy(b.Reference[i*outputs:(i+1)*outputs], logits)
	}
}

// Blank sets a reference that says nothing.
func (b *Batch) Blank(outputs int) {
	if len(b.Reference) != len(b.Class)*outputs {
		b.Reference = make([]float32, len(b.Class)*outputs)
	}
	for i := range b.Reference {
		b.Reference[i] = model.NoReference
	}
}

// Inputs brings pixels, targets and, where asked for, the reference to the device. done frees what was
// copied for it.
func (b *Batch) Inputs(backend compute.Backend, reference bool) (in []compute.Buffer, done func(), err error) {
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
			err = add(program.ToDevice(backend, b.Targets, graphs.TargetRows, size))
		}
	}
	if err == nil && reference {
		err = add(program.ToDevice(backend, b.Reference, size, len(b.Reference)/size))
	}
	if err != nil {
		done()
	}
	return in, done, err
}

// State returns the samples' classes and pixels, copied.
func (b *Batch) State() (classes []int, pixels []float32) {
	width := len(b.X) / len(b.Class)
	return slices.Clone(b.Class[:b.N]), slices.Clone(b.X[:b.N*width])
}

// Restore fills the batch with what State returned, as samples of a task.
func (b *Batch) Restore(task int, classes []int, pixels []float32) error {
	width := len(b.X) / len(b.Class)
	if n := len(classes); n < 1 || n > len(b.Class) || len(pixels) != n*width {
		return fmt.Errorf("a fetched batch of %d samples and %d pixels; want up to %d samples of %d", n, len(pixels), len(b.Class), width)
	}
	b.Empty()
	b.N = len(classes)
	copy(b.X, pixels)
	copy(b.Class, classes)
	for i := range classes {
		b.Task[i] = task
	}
	return nil
}

// Read fills the batch with up to len(Class) samples of a task, from the given one on.
func (b *Batch) Read(s data.Samples, from, task int) {
	b.Empty()
	b.N = min(len(b.Class), s.Len()-from)
	at := func(i int) int { return from + i }
	b.Fill(s, at)
	b.Table = data.Rows(s, b.N, at, b.Rows)
	for i := range b.N {
		b.Task[i] = task
	}
}
