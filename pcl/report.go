package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/method"
)

// StepReport tells what one step did. Its slices are valid until the next step.
type StepReport struct {
	Step   int   // from 0
	IDs    []int // the rows that took part; 0 is the memory
	Losses []float64
	// Gram is M = JJᵀ, row-major; nil where the method does not ask for it.
	Gram    []float64
	Weights []float64
	Outcome method.Outcome
	// NormD is ‖d‖ over the shared parameters.
	NormD float64
	// Rejected says that d was not finite though every row was, so that the step left the parameters and the
	// memory as they were.
	Rejected bool
	// Edit tells of memory editing; nil where there was none.
	Edit *EditReport
	// Skipped lists streams whose loss or gradient was not finite and that were left out. Nothing of
	// their batches enters the memory.
	Skipped []int
	// Ended lists the tasks whose last batch this was.
	Ended []int
}

// EditReport tells what memory editing did in one step. Its slices are valid until the next step.
type EditReport struct {
	Indices []int // of the samples in the store
	// Phi is φ before the edit: ‖∇ℓ(X) − D‖² of the batch; in mode per_sample, the mean over the samples.
	Phi float64
	// Change is the mean |Δx| over the pixels.
	Change float64
	// Gradients are ∇φ of each sample, before they are normalised.
	Gradients [][]float32
}

// Trace is what went into a step, for [Options.Trace]. It is valid during the call.
type Trace struct {
	*StepReport
	// N, X and Targets have an entry for each row of IDs: the number of samples, their pixels [Batch, inputs],
	// padded with zeros, and six rows of Batch numbers, named in [TargetRows].
	N       []int
	X       [][]float32
	Targets [][]int32
	// Theta returns the parameters after the step.
	Theta func() ([]float32, error)
}

// TargetRows names the rows of [Trace].Targets: the range [lo, hi) of outputs that compete for a sample, the
// right one, whether the sample counts, and the range of its task's outputs.
var TargetRows = []string{"lo", "hi", "label", "valid", "task_lo", "task_hi"}
