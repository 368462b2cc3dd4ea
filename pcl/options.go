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
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// SharedParams says which parameters are in J (docs/method.md §1.3).
type SharedParams string

const (
	// Shared: every parameter that the losses of two streams can touch: the backbone, and in
	// class-incremental mode the classifier.
	Shared SharedParams = "shared"
	// Backbone: the backbone only; the classifier moves by the plain sum of the gradients.
	Backbone SharedParams = "backbone"
	// All: backbone and classifier.
	All SharedParams = "all"
)

// Options describe a learner. Backend, Model, Method, Increment, Optimizer, Batch and the policy of Memory are
// required.
type Options struct {
	Backend   *backend.Backend
	Model     model.Model
	Method    method.Method
	Increment scenario.Increment
	Shared    SharedParams // which parameters are in J; empty: [Shared]
	Optimizer optim.Optimizer
	Batch     int // samples of each stream in a step
	Memory    memory.Config
	Seed      uint64
	// Edit is memory editing; the zero value edits nothing.
	Edit Edit
	// ExtraUpdate makes a second update in each step, with the same weights from the same batches: the
	// control for what memory editing gains (docs/method.md §3.4).
	ExtraUpdate bool
	// Image is the shape of a sample, for methods that cut and mix images; zero: one row of pixels.
	Image Image
	// Programs, if set, shares compiled programs with other learners on the same Backend.
	Programs *Programs
	// Trace, if set, sees what went into each step before its batches are let go of. An error stops the
	// learner.
	Trace func(*Trace) error
}

// Image is the shape of a sample: rows of pixels, each of the channels' values in turn.
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
	case o.Programs != nil && o.Programs.backend != o.Backend:
		return errors.New("pcl: Options.Programs belongs to another backend")
	case o.Model == nil:
		return errors.New("pcl: Options.Model is missing")
	case o.Method == nil:
		return errors.New("pcl: Options.Method is missing: method.New makes one by its name")
	case o.Image.size() != o.Model.Inputs():
		return fmt.Errorf("pcl: images of %d×%d×%d for a model of %d inputs", o.Image.Height, o.Image.Width, o.Image.Channels, o.Model.Inputs())
	case o.Batch < 1:
		return fmt.Errorf("pcl: batch size %d must be positive", o.Batch)
	case o.Increment != scenario.TaskIncremental && o.Increment != scenario.ClassIncremental:
		return fmt.Errorf("pcl: increment %q is neither %q nor %q", o.Increment, scenario.TaskIncremental, scenario.ClassIncremental)
	case o.Optimizer == nil:
		return errors.New("pcl: Options.Optimizer is missing, e.g. optim.Adam{LR: 0.003}")
	}
	if err := errors.Join(o.Shared.Validate(), o.Optimizer.Validate(), o.Edit.Validate()); err != nil {
		return fmt.Errorf("pcl: %w", err)
	}
	return o.Memory.Validate()
}

// Validate says so if s is none of the three choices.
func (s SharedParams) Validate() error {
	switch s {
	case Shared, Backbone, All:
		return nil
	}
	return fmt.Errorf("shared %q is none of %q, %q, %q", s, Shared, Backbone, All)
}

// InJ returns how many leading parameters are in J.
func (o Options) InJ() int {
	l := o.Model.Layout()
	if o.Shared == All || (o.Shared == Shared && o.Increment == scenario.ClassIncremental) {
		return l.Total
	}
	return l.Backbone
}

// spec is what the learner's programs depend on.
func (o Options) spec() graphs.Spec {
	return graphs.Spec{Model: o.Model, Shared: o.InJ(), Batch: o.Batch, Optimizer: o.Optimizer}
}

// lossOf is what the method trains a row on.
func (o Options) lossOf(id int) method.Loss {
	if m, ok := method.As[method.Objective](o.Method); ok {
		return m.Loss(id)
	}
	return method.Loss{}
}
