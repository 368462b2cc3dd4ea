package method

import (
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// The roles that a method can take besides turning gradients into weights. The engine asks for them
// with [As] and knows no method by its name.

// Stateful is a method that remembers something between steps.
type Stateful interface {
	Method
	// End forgets (or freezes) a stream that has finished.
	End(id int)
	// MarshalState and UnmarshalState save and restore all that is remembered.
	MarshalState() (json.RawMessage, error)
	UnmarshalState(json.RawMessage) error
}

// Follower looks at the same batches once more after the step was made.
type Follower interface {
	// Follow gets the step's ids and the losses of its batches at the new parameters.
	Follow(ids []int, losses []float64) error
}

// Objective is a method that trains on another loss than masked cross-entropy.
type Objective interface {
	// Loss is that of a row: a task's id, or that of a memory row.
	Loss(id int) Loss
}

// Replayer decides which memory rows a step has, and which samples are in them. Without it there is
// one row, [Memory], of a batch drawn at random. It is asked after the tasks' gradients are known.
type Replayer interface {
	Replays(lab ReplayLab) ([]Replay, error)
}

// Replay is a memory row: its id, not positive, and the stored samples in it.
type Replay struct {
	ID      int
	Indices []int // of [memory.Store.Item], at most [Lab.Batch] of them
}

// Curator decides what of a finished task is kept, and may prepare it. Without it the store takes
// samples at random.
type Curator interface {
	// Pool says how many candidates of each class to collect while the task runs, where quota is what
	// the store can take.
	Pool(quota int) int
	// Curate puts what is to be kept of the candidates of task id into the store.
	Curate(lab Lab, id int, candidates []memory.Item) error
}

// Storer fills the store by itself, while tasks run: see [StoreLab.Current]. Nothing is added at their ends.
type Storer interface {
	Store(lab StoreLab) error
}

// Idler makes no step while streams run.
type Idler interface {
	Idle() bool
}

// Predictor has a rule of prediction of its own.
type Predictor interface {
	// Prepare is called before predictions at parameters that are new.
	Prepare(lab PredictLab) error
	// Predict returns a class for each sample, of those in [Lab.Competing] for the sample's task.
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
