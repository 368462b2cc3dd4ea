package pcl

import (
	"math"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// excluded is the adjustment of a class of which a step has no samples, in the place of τ·log 0. It
// is finite, and large enough for every τ that the class does not compete.
const excluded = -1e4

// adjustments returns τ times the logarithm of each output's share of the samples of a step. Each
// task that takes part counts as much as any other, and its classes share that equally. The memory
// counts as much as one task; its classes share that by how often they are replayed.
func (t targets) adjustments(tau float64) []float32 {
	share := make([]float64, t.options.Model.Outputs())
	for _, a := range t.tasks.running.present() {
		if !a.ready { // its stream has ended without another batch
			continue
		}
		for _, c := range a.Classes {
			if o, err := t.tasks.registry.output(a.id, c); err == nil {
				share[o] += 1 / float64(len(a.Classes))
			}
		}
	}
	t.addStored(share, t.sharesOfMemory())
	return logarithms(tau, share)
}

// adjustmentsDetached is the same for a network that is trained on the memory alone, on each sample
// equally often. They do not depend on which tasks took part in the last step, which a learner that
// was loaded does not know.
func (t targets) adjustmentsDetached(tau float64) []float32 {
	share := make([]float64, t.options.Model.Outputs())
	t.addStored(share, func(int) float64 { return 1 / float64(t.memory.Len()) })
	return logarithms(tau, share)
}

// adjust sets what the loss adds to the scores of every sample.
func adjust(b *device.Batch, by []float32) {
	for i := range b.Class {
		copy(b.Reference[i*len(by):], by)
	}
}

// addStored adds how often each stored sample is replayed to the share of its output.
func (t targets) addStored(share []float64, often func(i int) float64) {
	for i := range t.memory.Len() {
		it := t.memory.Item(i)
		if o, err := t.tasks.registry.output(it.Task, it.Class); err == nil {
			share[o] += often(i)
		}
	}
}

// logarithms returns τ times the logarithm of each share. With τ = 0 nothing is adjusted, and so no
// class is excluded.
func logarithms(tau float64, share []float64) []float32 {
	out := make([]float32, len(share))
	for o, x := range share {
		switch {
		case tau == 0:
		case x == 0:
			out[o] = excluded
		default:
			out[o] = float32(tau * math.Log(x))
		}
	}
	return out
}

// sharesOfMemory returns how often a stored sample is replayed, where 1 is as often as all of a
// task's samples are seen.
func (t targets) sharesOfMemory() func(i int) float64 {
	if r := t.method.Replayer; r != nil {
		if shares := r.Shares(t.memory, t.tasks.running.ids(), t.options.Batch); shares != nil {
			return func(i int) float64 { return shares[i] }
		}
	}
	return func(int) float64 { return 1 / float64(t.memory.Len()) }
}
