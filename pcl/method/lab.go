package method

import (
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// Point names parameters at which a [Lab] computes.
type Point int

const (
	// Now is θ as it is.
	Now Point = iota
	// Ahead is θ after the virtual step of [ReplayLab.StepAhead].
	Ahead
	// Remembered is θ when [Lab.Remember] was last called; before that it is Now.
	Remembered
	// Apart is a network that [PredictLab.Restart] began and [PredictLab.Descend] trains.
	Apart
)

// Lab is what the engine lets a method do with the model and the memory at any time. Lists of samples may be
// of any length. Losses are those of [Objective] for the sample, with the outputs that compete for it now.
type Lab interface {
	// Batch is how many samples a row holds, Step the number of steps made.
	Batch() int
	Step() int
	Memory() *memory.Store
	// Rand is the run's seeded source.
	Rand() *rand.Rand
	// Running lists the tasks that are in training, Finished those that have ended, by arrival.
	Running() []int
	Finished() []int
	// Competing lists the classes that a sample of the task is told apart from.
	Competing(task int) []int
	// Image is the height, width and number of channels of a sample, channels last.
	Image() (height, width, channels int)

	// Remember makes Remembered a copy of θ.
	Remember() error

	// Losses returns the loss of each sample.
	Losses(at Point, samples []memory.Item) ([]float64, error)
	// Logits and Features return a vector for each sample; logits are not masked.
	Logits(at Point, samples []memory.Item) ([][]float32, error)
	Features(at Point, samples []memory.Item) ([][]float32, error)
	// Gradient is that of the mean loss of at most Batch samples, over the shared parameters.
	Gradient(at Point, samples []memory.Item) ([]float32, error)
	// PixelGradients returns ∂ℓ/∂x of each sample.
	PixelGradients(at Point, samples []memory.Item) ([][]float32, error)
	// Predict returns the competing class with the largest logit, and −1 where no logit is a number.
	Predict(at Point, samples []memory.Item) (classes []int, err error)
}

// ReplayLab is a [Lab] while a step chooses what is replayed: the gradients of its tasks are known.
type ReplayLab interface {
	Lab
	// StepAhead makes Ahead = θ − γ·g_cur, g_cur the mean of the running tasks' gradients.
	StepAhead(gamma float64) error
	// Update makes an optimiser step along g_cur; the tasks' gradients are computed anew.
	Update() error
}

// StoreLab is a [Lab] after a step's update, when its samples may enter the memory.
type StoreLab interface {
	Lab
	// Current holds the samples that each running task sees for the first time in this step.
	Current() [][]memory.Item
}

// PredictLab is a [Lab] between steps.
type PredictLab interface {
	Lab
	// Candidates are samples kept of a running task so far.
	Candidates(task int) []memory.Item
	// Restart begins Apart with parameters drawn anew.
	Restart() error
	// Descend makes a step of Apart on at most Batch samples. Shares weigh the samples in the loss; nil
	// weighs them equally.
	Descend(samples []memory.Item, shares []float64, s SGD) error
}

// SGD is one step of stochastic gradient descent: v ← μv + clip(g) + λθ, θ ← θ − γv.
type SGD struct {
	LR       float64 // γ
	Momentum float64 // μ
	Decay    float64 // λ
	Clip     float64 // largest ‖g‖; 0: none
}
