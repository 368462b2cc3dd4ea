// Package device is what a learner computes on its device: batches, gradients and their Gram
// matrix, updates, predictions and edits. Programs are functions from graph nodes to graph nodes.
// It does not know what steps or streams are. Begin with [Batch] and [Trainer.Gradients].
package device

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Batch is one batch in host memory. It always has the size for which the programs were compiled;
// samples that are missing are filled with padding, which does not count.
type Batch struct {
	data.Batch
	Task      []int     // the task of each sample; in batches from the memory they differ
	Targets   []int32   // [targetRows][size]; the following slices are parts of it
	Output    []int32   // the output of each sample's class
	Counts    []int32   // how much each sample counts in the mean loss; 0 for padding
	Reference []float32 // [size][outputs], for losses that compare outputs with reference values; nil for others

	lo, hi, taskLo, taskHi []int32

	values []float32         // Reference, to be used again
	stored [][]float32       // the logits stored with the samples of the memory; nil for streams
	device [2]compute.Buffer // X and Targets as buffers, if the device shares memory with the host
	Ahead  compute.Buffer    // otherwise: a copy of X that was sent to the device in advance
}

// Target is what should be predicted for a sample: an output, those that compete with it, from Lo
// to below Hi, and the range of the outputs of its task.
type Target struct{ Output, Lo, Hi, TaskLo, TaskHi int32 }

// NewBatch returns an empty batch, which the caller must free.
func (p *Set) NewBatch() (*Batch, error) {
	x, onX, err := program.Shared[float32](p.Backend, p.Batch, p.Width())
	if err != nil {
		return nil, err
	}
	b := &Batch{Batch: data.Batch{X: x, Class: make([]int, p.Batch)}, Task: make([]int, p.Batch),
		device: [2]compute.Buffer{onX}}
	if b.Targets, b.device[1], err = program.Shared[int32](p.Backend, targetRows, p.Batch); err != nil {
		b.Free()
		return nil, err
	}
	part := func(row int) []int32 { return b.Targets[row*p.Batch : (row+1)*p.Batch] }
	b.lo, b.hi, b.Output, b.Counts = part(targetLo), part(targetHi), part(targetLabel), part(targetValid)
	b.taskLo, b.taskHi = part(targetTaskLo), part(targetTaskHi)
	return b, nil
}

// Free releases the batch's memory. The batch must not be used after that.
func (b *Batch) Free() {
	if b != nil {
		program.Free(append(b.device[:], b.Ahead)...)
		*b = Batch{}
	}
}

// Empty removes all samples from the batch.
func (b *Batch) Empty() {
	program.Free(b.Ahead)
	b.N, b.Repeat, b.Ahead = 0, false, nil
}

// on says that a client reads the batch where it is.
func (b *Batch) on(client compute.Backend) bool {
	return b.device[0] == nil || b.device[0].Backend() == client
}

// Send copies the pixels to a device of its own memory in advance, so that the step that needs them
// does not have to wait.
func (b *Batch) Send(backend compute.Backend) error {
	if b.device[0] == nil {
		b.pad()
		var err error
		b.Ahead, err = b.copyPixels(backend)
		return err
	}
	return nil
}

// pad makes the padding copies of the first sample. It has weight 0, but where a network or loss is
// infinite or NaN, as it may be for a sample of zeros, that does not keep it out of the loss.
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

func (b *Batch) copyPixels(backend compute.Backend) (compute.Buffer, error) {
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

// Gather fills the batch with samples, of which there may be at most as many as the batch has room
// for.
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

// Without fills the batch with the samples of another one, or of itself, but for those in some
// places, which are in order.
func (b *Batch) Without(from *Batch, places []int) {
	width, n, repeat := len(b.X)/len(b.Class), 0, from.Repeat
	stored := b.stored[:0]
	for i := range from.N {
		if _, out := slices.BinarySearch(places, i); out {
			continue
		}
		copy(b.X[n*width:(n+1)*width], from.X[i*width:(i+1)*width])
		b.Task[n], b.Class[n] = from.Task[i], from.Class[i]
		if i < len(from.stored) {
			stored = append(stored, from.stored[i])
		}
		n++
	}
	b.Empty()
	b.N, b.Repeat, b.stored = n, repeat, stored
}

// Aim sets the targets, and clears the reference values of a loss that has any, but for those that
// are stored with the samples.
func (b *Batch) Aim(target func(task, class int) (Target, error), l rehearsal.Loss, outputs int) error {
	b.pad()
	for i := range b.Class {
		t, valid := Target{Hi: 1}, int32(0)
		if i < b.N {
			target2, err := target(b.Task[i], b.Class[i])
			if err != nil {
				return err
			}
			t, valid = target2, 1
		}
		b.Output[i], b.lo[i], b.hi[i], b.taskLo[i], b.taskHi[i], b.Counts[i] = t.Output, t.Lo, t.Hi, t.TaskLo, t.TaskHi, valid
	}
	if b.Reference = nil; !referenced(l) {
		return nil
	}
	if len(b.values) != len(b.Class)*outputs {
		b.values = make([]float32, len(b.Class)*outputs)
	}
	b.Reference = b.values
	for i := range b.Reference {
		b.Reference[i] = rehearsal.NoReference
	}
	if l.StoredLogits || l.Distill > 0 {
		for i, logits := range b.stored {
			copy(b.Reference[i*outputs:(i+1)*outputs], logits)
		}
	}
	return nil
}

// inputs returns what a program takes of the batch: its values, the targets and, for a loss that
// compares outputs with them, the reference values. Values that the device cannot read in place are
// copied for each call.
func (b *Batch) inputs(l rehearsal.Loss) []any {
	in := []any{b.X, b.Targets, nil}
	switch {
	case b.device[0] != nil:
		in[0], in[1] = b.device[0], b.device[1]
	case b.Ahead != nil:
		in[0] = b.Ahead
	}
	if referenced(l) {
		in[2] = b.Reference
	}
	return in
}

// Take fills the batch with samples of a task. Their slices may be those of the batch; others are
// copied.
func (b *Batch) Take(task int, given data.Batch) {
	width := len(b.X) / len(b.Class)
	if &given.X[0] != &b.X[0] {
		copy(b.X, given.X[:given.N*width])
	}
	if &given.Class[0] != &b.Class[0] {
		copy(b.Class, given.Class[:given.N])
	}
	b.N, b.Repeat = given.N, given.Repeat
	for i := range b.N {
		b.Task[i] = task
	}
}
