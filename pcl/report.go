package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// StepReport tells what one step did. A row is one stream in the step. IDs, N, Losses and Weights
// have an entry for each row that took part. The slices are valid until the next step.
type StepReport struct {
	Step   int   // the number of the step, from 0
	IDs    []int // the id of each row's task; 0 is the memory, and further rows of it are negative
	N      []int // how many samples each row was trained on; 0 for the row of a penalty
	Losses []float64
	// Gram is M = JJᵀ, the inner products of the rows' gradients over the shared parameters, row by
	// row. It is nil if the method does not ask for it, unless Options.Observe is set.
	Gram []float64
	// LossesAfter has the losses of the same batches at the new parameters, with Options.Observe;
	// nil otherwise. As in Losses, batches are normalised by their own statistics.
	LossesAfter []float64
	// Rises has Jᵢ·Δθ for each row, with Options.Observe; nil otherwise. To first order it is the
	// change of the row's loss along the step that was made, which an optimiser such as Adam turns
	// away from d: positive where the loss rises.
	Rises   []float64
	Weights []float64
	Outcome method.Outcome
	// NormD is ‖d‖, the length of the direction of the update over the shared parameters.
	NormD float64
	// Rejected says that d was not finite although every row was. The step then left the parameters
	// as they were, and nothing of its batches enters the memory.
	Rejected bool
	// Edit tells what memory editing did; nil if nothing was edited.
	Edit *EditReport
	// Skipped lists the streams that were left out because their loss or gradient was not finite.
	// Nothing of their batches enters the memory.
	Skipped []int
	// LeftOut counts, by task, the samples that were left out of rows which would otherwise not
	// have had a finite loss and gradient: of the task's stream, which then do not enter the
	// memory, and of those in the memory, which stay there. nil if there are none.
	LeftOut map[int]int
	// Ended lists the tasks whose last batch this was.
	Ended []int
	// Compilations is how many programs have been compiled so far, also for learners of the same
	// kind that share [Options].Programs.
	Compilations int
}

// EditReport tells what memory editing did in one step. Its slices are valid until the next step.
type EditReport struct {
	Indices []int // the places of the edited samples in the memory
	// Phi is φ before the edit: ‖∇ℓ(X) − D‖² for the batch X or, in mode per_sample, its mean over
	// the samples.
	Phi float64
	// Change is the mean change |Δx| of a pixel.
	Change float64
	// Gradients are the gradients ∇φ of the samples, before they are normalised.
	Gradients [][]float32
}

// Trace is what went into a step, for [Options.Trace]. It is valid only during that call.
type Trace struct {
	*StepReport
	// X and Targets have an entry for each entry of IDs: the rows of its N samples [Batch, width],
	// the first repeated where there are fewer, and six rows of Batch numbers each. For each sample
	// these are the range [lo, hi) of the outputs that compete, the output of the right class,
	// whether the sample counts (padding does not), and the range of the outputs of the sample's
	// task.
	X       [][]float32
	Targets [][]int32
	// Loss is what each row is trained on. Reference has, for a row whose loss compares outputs
	// with reference values, these values [Batch, outputs], with rehearsal.NoReference where there
	// is none; nil for other rows.
	Loss      []rehearsal.Loss
	Reference [][]float32
	// Shared is how many parameters are shared, that is, are columns of J. They are the first ones
	// of θ.
	Shared int
	// Theta returns the parameters after the step.
	Theta func() ([]float32, error)
}
