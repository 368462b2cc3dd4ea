package method

import (
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// These interfaces are the roles that a method can have besides turning gradients into weights. The learner asks for
// them with [As]; it knows no method by its name.

// Stateful is a method that remembers something between steps.
type Stateful interface {
	Method
	// End is called when a stream has ended. The method forgets what it remembers of the stream, or freezes it.
	End(id int)
	// MarshalState and UnmarshalState save and restore everything that is remembered.
	MarshalState() (json.RawMessage, error)
	UnmarshalState(json.RawMessage) error
}

// Follower is a method that wants to know the losses of a step's batches after the step has been made.
type Follower interface {
	// Follow is called with the step's ids and the losses of its batches at the new parameters.
	Follow(ids []int, losses []float64) error
}

// Objective is a method that trains on another loss than the cross-entropy of the outputs that compete.
type Objective interface {
	// Loss returns the loss of the row with the given id, which is that of a task or of a memory row.
	Loss(id int) Loss
}

// Replayer is a method that decides which memory rows a step has, and which samples are in them. For other methods
// there is one such row, [Memory], with a batch drawn at random. Replays is called after the tasks' gradients have
// been computed.
type Replayer interface {
	Replays(lab ReplayLab) ([]Replay, error)
}

// Replay is a memory row: its id, which is 0 or negative, and the stored samples in it.
type Replay struct {
	ID      int
	Indices []int // indices for [memory.Store.Item], at most [Lab.Batch] of them
}

// Curator is a method that decides which samples of a task that has ended are kept in the memory. It may store with
// them what it needs later. For other methods, the memory takes samples at random.
type Curator interface {
	// Pool returns how many candidates of each class are to be collected while the task runs. quota is how many the
	// memory can take.
	Pool(quota int) int
	// Curate puts the candidates of task id that are to be kept into the memory.
	Curate(lab Lab, id int, candidates []memory.Item) error
}

// Storer is a method that fills the memory itself while tasks run, with samples of [StoreLab.Current]. When a task
// ends, nothing is added.
type Storer interface {
	Store(lab StoreLab) error
}

// Idler is a method that may skip training steps.
type Idler interface {
	// Idle reports whether the coming step leaves the parameters as they are.
	Idle() bool
}

// Predictor is a method that predicts by a rule of its own.
type Predictor interface {
	// Prepare is called before the first prediction after a step.
	Prepare(lab PredictLab) error
	// Predict returns a class for each sample, one of [Lab.Competing] for the sample's task.
	Predict(lab PredictLab, samples []memory.Item) (classes []int, err error)
}

// As returns the role T of a method, or of the method that it wraps, if either has that role.
func As[T any](m Method) (T, bool) {
	for m != nil {
		if role, ok := m.(T); ok {
			return role, true
		}
		w, ok := m.(interface{ Unwrap() Method })
		if !ok {
			break
		}
		m = w.Unwrap()
	}
	var none T
	return none, false
}
