// Package device moves data between the host and the device on which a learner computes: batches, tables of
// samples, gradients and their Gram matrix. It does not know what steps or streams are. Begin with [Batch] and
// [Differentiate].
package device

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/heads"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Batch is one batch in host memory. It always has the size for which the programs were compiled; samples that
// are missing are filled with padding, which does not count.
type Batch struct {
	data.Batch
	Task      []int     // the task of each sample; in batches from the memory they differ
	Targets   []int32   // [graphs.TargetRows][size]; the following slices are parts of it
	Output    []int32   // the output of each sample's class
	Reference []float32 // [size][outputs], for losses that compare outputs with reference values

	lo, hi, valid, taskLo, taskHi []int32

	stored [][]float32       // the logits stored with the samples of the memory; nil for streams
	device [2]compute.Buffer // X and Targets as buffers, if the device shares memory with the host
	ahead  compute.Buffer    // otherwise: a copy of X that was sent to the device in advance
}

// NewBatch returns an empty batch, which the caller must free.
func NewBatch(backend compute.Backend, size, inputs int) *Batch {
	x, onX := program.Shared[float32](backend, size, inputs)
	t, onT := program.Shared[int32](backend, graphs.TargetRows, size)
	part := func(row int) []int32 { return t[row*size : (row+1)*size] }
	return &Batch{
		Batch: data.Batch{X: x, Class: make([]int, size)},
		Task:  make([]int, size), Targets: t,
		lo: part(graphs.TargetLo), hi: part(graphs.TargetHi), Output: part(graphs.TargetLabel), valid: part(graphs.TargetValid),
		taskLo: part(graphs.TargetTaskLo), taskHi: part(graphs.TargetTaskHi),
		device: [2]compute.Buffer{onX, onT},
	}
}

// Free releases the batch's memory. The batch must not be used after that.
func (b *Batch) Free() {
	if b != nil {
		program.Free(append(b.device[:], b.ahead)...)
		*b = Batch{}
	}
}

// Empty removes all samples from the batch.
func (b *Batch) Empty() {
	program.Free(b.ahead)
	b.N, b.Repeat, b.ahead = 0, false, nil
}

// On says that a client reads the batch where it is.
func (b *Batch) On(client compute.Backend) bool {
	return b.device[0] == nil || b.device[0].Backend() == client
}

// Send copies the pixels to a device of its own memory in advance, so that the step that needs them does not have to wait.
func (b *Batch) Send(backend compute.Backend) {
	if b.device[0] == nil {
		b.pad()
		b.ahead = b.copyPixels(backend)
	}
}

// Sent reports whether the pixels were sent in advance.
func (b *Batch) Sent() bool { return b.ahead != nil }

// pad makes the padding copies of the first sample. It has weight 0, but where a network or loss is infinite or NaN, as it
// may be for a sample of zeros, that does not keep it out of the loss.
func (b *Batch) pad() {
	if b.N == 0 { // nothing to copy
		clear(b.X)
		return
	}
	width := len(b.X) / len(b.Class)
	for i := b.N; i < len(b.Class); i++ {
		copy(b.X[i*width:(i+1)*width], b.X[:width])
	}
}

func (b *Batch) copyPixels(backend compute.Backend) compute.Buffer {
	size := len(b.Class)
	return program.ToDevice(backend, b.X, size, len(b.X)/size)
}

// Items returns the samples. Their pixels are parts of the batch, not copies.
func (b *Batch) Items() []memory.Item {
	width := len(b.X) / len(b.Class)
	out := make([]memory.Item, b.N)
	for i := range out {
		out[i] = memory.Item{Task: b.Task[i], Class: b.Class[i], Pixels: b.X[i*width : (i+1)*width]}
	}
	return out
}

// Gather fills the batch with samples, of which there may be at most as many as the batch has room for.
func (b *Batch) Gather(samples []memory.Item) {
	width := len(b.X) / len(b.Class)
	b.Empty()
	b.N, b.stored = len(samples), b.stored[:0]
	for k, it := range samples {
		if copy(b.X[k*width:(k+1)*width], it.Pixels) != width {
			panic(fmt.Sprintf("a stored sample has %d values; want %d", len(it.Pixels), width))
		}
		b.Task[k], b.Class[k] = it.Task, it.Class
		b.stored = append(b.stored, it.Logits)
	}
}

// Copy fills the batch with the samples of another one.
func (b *Batch) Copy(from *Batch) {
	b.Empty()
	b.N, b.Repeat = from.N, from.Repeat
	copy(b.X, from.X)
	copy(b.Class, from.Class)
	copy(b.Task, from.Task)
}

// Aim sets the targets: the right output of each sample, and the outputs that compete with it under a loss. A sample of a class
// that its task does not have, as test samples and methods of a user may name, ends the work.
func (b *Batch) Aim(h *heads.Heads, loss rehearsal.Loss) {
	b.pad()
	for i := range b.Class {
		if i >= b.N {
			b.lo[i], b.hi[i], b.Output[i], b.valid[i], b.taskLo[i], b.taskHi[i] = 0, 1, 0, 0, 0, 0
			continue
		}
		b.Output[i] = fail.Or(h.Output(b.Task[i], b.Class[i]))
		b.taskLo[i], b.taskHi[i] = h.Of(b.Task[i]).Span()
		switch b.lo[i], b.hi[i] = h.Competing(b.Task[i]); {
		case loss.Own:
			b.lo[i], b.hi[i] = b.taskLo[i], b.taskHi[i]
		case loss.Seen:
			b.lo[i], b.hi[i] = 0, int32(h.Used())
		}
		b.valid[i] = 1
	}
}

// Ask prepares the batch for a program that returns the scores of all outputs, whichever compete.
func (b *Batch) Ask() {
	b.pad()
	for i := range b.Class {
		b.lo[i], b.hi[i], b.Output[i], b.valid[i], b.taskLo[i], b.taskHi[i] = 0, 1, 0, 1, 0, 1
	}
}

// Only makes sample k the only one that counts in the loss.
func (b *Batch) Only(k int) {
	b.count(func(i int) bool { return i == k })
}

// Half makes only the samples of the first half (h = 0) or of the second half (h = 1) count. A single sample
// belongs to both halves.
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

// Share sets the weight of each sample in the mean loss. Weights are rounded to multiples of 1/65536, because
// targets are integers.
func (b *Batch) Share(shares []float64) {
	for i, x := range shares {
		b.valid[i] = int32(math.Round(x * 65536))
	}
}

// Refer sets the reference values to the logits stored with the samples. Samples without stored logits get none.
func (b *Batch) Refer(outputs int) {
	b.Blank(outputs)
	for i, logits := range b.stored {
		copy(b.Reference[i*outputs:(i+1)*outputs], logits)
	}
}

// Adjust sets the reference values of every sample to the given ones, which a loss adds to the scores.
func (b *Batch) Adjust(by []float32) {
	b.Blank(len(by))
	for i := range b.Class {
		copy(b.Reference[i*len(by):(i+1)*len(by)], by)
	}
}

// Blank sets no reference value for any output.
func (b *Batch) Blank(outputs int) {
	if len(b.Reference) != len(b.Class)*outputs {
		b.Reference = make([]float32, len(b.Class)*outputs)
	}
	for i := range b.Reference {
		b.Reference[i] = model.NoReference
	}
}

// Inputs returns the pixels, the targets and, if asked for, the reference values as buffers on the device. Call
// done when they are no longer needed: it frees the copies that were made.
func (b *Batch) Inputs(backend compute.Backend, reference bool) (in []compute.Buffer, done func()) {
	size := len(b.Class)
	var copied []compute.Buffer
	add := func(b compute.Buffer) { in, copied = append(in, b), append(copied, b) }
	if b.device[0] != nil {
		in = append(in, b.device[:]...)
	} else {
		if b.ahead != nil {
			in = append(in, b.ahead)
		} else {
			add(b.copyPixels(backend))
		}
		add(program.ToDevice(backend, b.Targets, graphs.TargetRows, size))
	}
	if reference {
		add(program.ToDevice(backend, b.Reference, size, len(b.Reference)/size))
	}
	return in, func() { program.Free(copied...) }
}

// State returns copies of the samples' classes and pixels.
func (b *Batch) State() (classes []int, pixels []float32) {
	width := len(b.X) / len(b.Class)
	return slices.Clone(b.Class[:b.N]), slices.Clone(b.X[:b.N*width])
}

// Restore fills the batch with what State returned, as samples of the given task.
func (b *Batch) Restore(task int, classes []int, pixels []float32) {
	width := len(b.X) / len(b.Class)
	if n := len(classes); n < 1 || n > len(b.Class) || len(pixels) != n*width {
		fail.Now("a fetched batch of %d samples and %d pixels; want up to %d samples of %d", n, len(pixels), len(b.Class), width)
	}
	b.Empty()
	b.N = copy(b.Class, classes)
	copy(b.X, pixels)
	b.Of(task)
}

// Of makes the samples those of a task.
func (b *Batch) Of(task int) {
	for i := range b.N {
		b.Task[i] = task
	}
}

// Read fills the batch with samples of s, of which there are n, from number from on, as samples of the given task.
func (b *Batch) Read(s data.Samples, n, from, task int) {
	b.Empty()
	b.N = min(len(b.Class), n-from)
	b.Fill(s, func(i int) int { return from + i })
	b.Of(task)
}
