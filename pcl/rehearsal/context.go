package rehearsal

import (
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// Point says at which parameters a [Context] computes.
type Point int

const (
	// Current stands for the current θ.
	Current Point = iota
	// Virtual stands for θ after the virtual step of [ReplayContext.VirtualStep].
	Virtual
	// Remembered stands for θ as it was when [Context.Remember] was last called. Before the first
	// call it is Current.
	Remembered
	// Retrained stands for a second network, which [PredictContext.Reinitialize] creates and
	// [PredictContext.TrainStep] trains.
	Retrained
)

// Context gives a method access to the model and the memory while the learner calls it. Lists of
// samples may have any length, unless a comment says otherwise. All losses are the loss that the
// method trains the memory on (see [Objective]), over the outputs that compete at present. Errors
// are those of the device; a method returns them. Misuse, such as parameters that were not made or
// a batch of no samples, panics.
type Context interface {
	// Batch returns how many samples a row may have, Step how many steps have been made.
	Batch() int
	Step() int
	Memory() *memory.Store
	// Rand returns the run's source of random numbers for methods.
	Rand() *rand.Rand
	// Running lists the tasks that are in training, Finished those that have ended, both in order
	// of arrival.
	Running() []int
	Finished() []int
	// Output returns the output that belongs to a class of a task.
	Output(task, class int) (int, error)
	// Image returns the height, width and number of channels of a sample. The channels of a pixel
	// lie together.
	Image() (height, width, channels int)

	// Remember stores a copy of θ as Remembered.
	Remember() error

	// Losses returns the loss of each sample.
	Losses(at Point, samples []memory.Item) ([]float64, error)
	// Logits and Features return a vector for each sample. Logits include those of outputs that do
	// not compete.
	Logits(at Point, samples []memory.Item) ([][]float32, error)
	Features(at Point, samples []memory.Item) ([][]float32, error)
	// Gradient returns the gradient of the mean loss of at most Batch samples, over the shared
	// parameters. Batch normalisation uses the running statistics, since a single sample has none.
	Gradient(at Point, samples []memory.Item) ([]float32, error)
	// PixelGradients returns ∂ℓ/∂x for each sample.
	PixelGradients(at Point, samples []memory.Item) ([][]float32, error)
}

// ReplayContext is the [Context] of a method that chooses the samples that a step replays. The
// gradients of the tasks have been computed; g_cur is their mean.
type ReplayContext interface {
	Context
	// VirtualStep makes a virtual step: it sets Virtual to θ − γ·g_cur.
	VirtualStep(gamma float64) error
	// Update makes an optimiser step along g_cur, and computes the tasks' gradients again.
	Update() error
}

// PenaltyContext is the [Context] of a penalty on the parameters.
type PenaltyContext interface {
	Context
	// Parameters returns the shared parameters. They may be those that the model computes with:
	// they must not be changed, and are valid until the next update.
	Parameters() ([]float32, error)
	// TaskGradient is like [Context.Gradient], but for the loss of the tasks' own rows with the
	// right labels: without a teacher, without targets of the old model, and without adjusted
	// logits.
	TaskGradient(samples []memory.Item) ([]float32, error)
}

// PredictContext is the [Context] between steps, when predictions are made.
type PredictContext interface {
	Context
	// Candidates returns the samples of a running task that have been collected so far as
	// candidates for the memory.
	Candidates(task int) []memory.Item
	// OneTask says whether each prediction is among the classes of one task, as in task-incremental
	// mode.
	OneTask() bool
	// Progress says that so many of the steps are made that Prepare makes. Prepare ends with its
	// error, if it returns one: nobody waits for the prediction any more.
	Progress(done, total int) error
	// Reinitialize creates the network Retrained with freshly drawn parameters.
	Reinitialize() error
	// TrainStep trains Retrained for one step on at most Batch samples. shares are the samples'
	// weights in the loss; nil makes them equal.
	TrainStep(samples []memory.Item, shares []float64, s SGD) error
}

// SGD is one step of stochastic gradient descent: v ← μv + clip(g) + λθ, θ ← θ − γv.
type SGD struct {
	LR       float64 // γ
	Momentum float64 // μ
	Decay    float64 // λ
	Clip     float64 // largest ‖g‖; 0 means no limit
}
