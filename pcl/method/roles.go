package method

import (
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// These interfaces are the roles that a method can take besides turning gradients into weights. The engine
// asks for them with [As]; it knows no method by its name.

// Stateful is a method that remembers something between steps.
type Stateful interface {
	Method
	// End forgets (or freezes) a stream that has finished.
	End(id int)
	// MarshalState and UnmarshalState save and restore all that is remembered.
	MarshalState() (json.RawMessage, error)
	UnmarshalState(json.RawMessage) error
}

// Follower sees the losses of the same batches once more after the step was made.
type Follower interface {
	// Follow is given the step's ids and the losses of its batches at the new parameters.
	Follow(ids []int, losses []float64) error
}

// Objective is a method that trains on a loss other than masked cross-entropy.
type Objective interface {
	// Loss returns the loss of a row, which is given by its id: a task's, or that of a memory row.
	Loss(id int) Loss
}

// Replayer decides which memory rows a step has, and which samples are in them. Without it there is one row,
// [Memory], with a batch drawn at random. It is called after the tasks' gradients have been computed.
type Replayer interface {
	Replays(lab ReplayLab) ([]Replay, error)
}

// Replay is a memory row: its id, not positive, and the stored samples in it.
type Replay struct {
	ID      int
	Indices []int // of [memory.Store.Item], at most [Lab.Batch] of them
}

// Curator decides which samples of a finished task are kept, and may add to them what it needs later. Without
// it the store takes samples at random.
type Curator interface {
	// Pool says how many candidates of each class to collect while the task runs; quota is the number that
	// the store can take.
	Pool(quota int) int
	// Curate puts those candidates of task id that are to be kept into the store.
	Curate(lab Lab, id int, candidates []memory.Item) error
}

// Storer fills the store itself while tasks run, from [StoreLab.Current]. Nothing is added when they end.
type Storer interface {
	Store(lab StoreLab) error
}

// Idler is a method that makes no steps while streams run.
type Idler interface {
	Idle() bool
}

// Predictor is a method with its own rule of prediction.
type Predictor interface {
	// Prepare is called before the first predictions at new parameters.
	Prepare(lab PredictLab) error
	// Predict returns a class for each sample, one of [Lab.Competing] for the sample's task.
	Predict(lab PredictLab, samples []memory.Item) (classes []int, err error)
}

// As returns the role T of a method or of one that it wraps.
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
