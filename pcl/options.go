package pcl

import (
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// SharedParams says which parameters count as shared (docs/method.md §1.3). The shared parameters are the
// columns of J, the matrix of the streams' gradients, from which the method computes the weights. All other
// parameters move by the plain sum of the gradients.
type SharedParams string

const (
	// Shared takes the backbone and, in class-incremental mode, the classifier: the parameters that the losses of two streams
	// can have in common, except where losses reach the outputs of other tasks (docs/method.md §1.3).
	Shared SharedParams = "shared"
	// Backbone takes the backbone only.
	Backbone SharedParams = "backbone"
	// All takes the backbone and the classifier.
	All SharedParams = "all"
)

// MaxBatch is the largest batch that is accepted: more samples than a step can hold, and few enough that no program's
// sizes overflow, at which XLA would end the process.
const MaxBatch = 1 << 20

// Options describe a learner for [NewLearner]. Backend, Model, Method, Increment, Optimizer, Batch and the
// policy of Memory are required.
type Options struct {
	Backend   *backend.Backend
	Model     model.Model
	Method    method.Method // of this learner alone, since it may remember something: make another one for another learner
	Increment scenario.Increment
	Shared    SharedParams // which parameters are shared; empty stands for [Shared]
	Optimizer optim.Optimizer
	Batch     int // how many samples of each stream go into a step, from 1 to [MaxBatch]
	Memory    memory.Config
	Seed      uint64
	// Loss is what the network is trained for; nil stands for the cross-entropy of classes. With a loss, a sample's
	// values in [data.Batch] or [data.Samples] are its inputs followed by its target values, and a task has as many
	// classes, which only name its outputs, as a sample has target values. [Learner.EvaluateLoss] measures,
	// [Predictor.Outputs] predicts.
	Loss model.Loss
	// Weighted says that each sample's last value, after its inputs and its target values if it has any, is its weight
	// in the loss: a number of at least 0. The weights of a batch are divided by their sum.
	Weighted bool
	// Augment, if set, changes each sample before a step trains on it, also replayed ones. The memory stores samples
	// unchanged, and a method that stores the model's outputs with them stores the outputs for the unchanged sample.
	Augment Augment
	// Edit turns memory editing on; the zero value turns it off.
	Edit Edit
	// ExtraUpdate makes a second update in each step, from the same batches and with the same weights. It is the
	// control experiment for memory editing (docs/method.md §3.4).
	ExtraUpdate bool
	// Observe reports the Gram matrix of methods that do not ask for it, too, which rows' losses rise along the step, and the
	// losses after it. Training is the same, but a step takes longer.
	Observe bool
	// Image is the shape of a sample, for methods that cut and mix images. The zero value stands for one row of
	// pixels.
	Image Image
	// Grow gives the classifier more outputs when a task arrives that needs more than there are. What the model had
	// learnt stays as it is, bit by bit; programs are compiled anew. Without it such a task is refused.
	Grow bool
	// Programs, if set, shares compiled programs with other learners on the same Backend.
	Programs *Programs
	// Trace, if set, is called at the end of each step with what went into it. If it returns an error after the
	// parameters have changed, the learner stops.
	Trace func(*Trace) error
}

// Image is the shape of a sample. Its values lie row by row, and for each pixel its channels one after another.
type Image struct{ Height, Width, Channels int }

func (i Image) size() int { return i.Height * i.Width * i.Channels }

func (o Options) withDefaults() Options {
	if o.Shared == "" {
		o.Shared = Shared
	}
	if o.Image == (Image{}) && o.Model != nil {
		o.Image = Image{Height: 1, Width: o.Model.Inputs(), Channels: 1}
	}
	o.Edit = o.Edit.withDefaults()
	return o
}

func (o Options) validate() error {
	switch {
	case o.Backend == nil:
		return errors.New("pcl: Options.Backend is missing: open one with backend.Open")
	case o.Programs != nil && o.Programs.backend.Backend != o.Backend.Backend:
		return errors.New("pcl: Options.Programs belongs to another backend")
	case o.Programs != nil && o.Programs.closed.Load():
		return errors.New("pcl: Options.Programs is closed: make new ones with NewPrograms, or leave them out")
	case o.Model == nil:
		return errors.New("pcl: Options.Model is missing")
	case o.Method == nil:
		return errors.New("pcl: Options.Method is missing: method.New makes one by its name")
	case min(o.Image.Height, o.Image.Width, o.Image.Channels) < 1 || o.Image.size() != o.Model.Inputs():
		return fmt.Errorf("pcl: images of %d×%d×%d for a model of %d inputs", o.Image.Height, o.Image.Width, o.Image.Channels, o.Model.Inputs())
	case o.Batch < 1 || o.Batch > MaxBatch:
		return fmt.Errorf("pcl: batch size %d is outside 1…%d", o.Batch, MaxBatch)
	case o.Increment.Validate() != nil:
		return fmt.Errorf("pcl: %w", o.Increment.Validate())
	case o.Optimizer == nil:
		return errors.New("pcl: Options.Optimizer is missing, e.g. optim.Adam{LR: 0.003}")
	}
	if err := errors.Join(o.Shared.Validate(), o.Optimizer.Validate(), o.Edit.Validate()); err != nil {
		return fmt.Errorf("pcl: %w", err)
	}
	if err := reserved(o.Optimizer.State()); err != nil {
		return fmt.Errorf("pcl: Options.Optimizer: %w", err)
	}
	if err := method.Whole(o.Method); err != nil {
		return fmt.Errorf("pcl: method %s: %w", o.Method.Info().Name, err)
	}
	if info := o.Method.Info(); info.Direct && o.ExtraUpdate {
		return fmt.Errorf("pcl: Options.ExtraUpdate repeats a step by its weights; method %s gives a direction instead", info.Name)
	}
	if l, ok := method.As[rehearsal.Limited](o.Method); ok && l.Needs().Pixels && (o.Loss != nil || o.Weighted) {
		return fmt.Errorf("pcl: method %s changes the pixels of stored samples, which it cannot where target values or weights follow them: take another one, such as emgd-gmc+der-pp", o.Method.Info().Name)
	}
	if err := errors.Join(o.validateLoss(), o.validateAugment()); err != nil {
		return fmt.Errorf("pcl: %w", err)
	}
	if o.Grow {
		if _, err := o.resizer(); err != nil {
			return fmt.Errorf("pcl: Options.Grow: %w", err)
		}
	}
	return o.Memory.Validate()
}

// Validate returns an error if s is none of the three choices.
func (s SharedParams) Validate() error {
	switch s {
	case Shared, Backbone, All:
		return nil
	}
	return fmt.Errorf("shared %q is none of %q, %q, %q", s, Shared, Backbone, All)
}

// InJ returns how many parameters are shared, that is, are columns of J. They are the first ones of θ.
func (o Options) InJ() int {
	l := o.Model.Layout()
	if o.Shared == All || (o.Shared == Shared && o.Increment == scenario.ClassIncremental) {
		return l.Total
	}
	return l.Backbone
}

// spec returns everything that the learner's programs depend on.
func (o Options) spec() graphs.Spec {
	return graphs.Spec{Model: o.Model, Shared: o.InJ(), Batch: o.Batch, Optimizer: o.Optimizer, Loss: o.Loss, Weighted: o.Weighted}
}

// lossOf returns the loss on which the method trains the stream with the given id.
func (o Options) lossOf(id int) rehearsal.Loss {
	if m, ok := method.As[rehearsal.Objective](o.Method); ok {
		return m.Loss(id)
	}
	return rehearsal.Loss{}
}
