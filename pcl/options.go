package pcl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Options describe a learner for [New]. Only the Model is required. An experiment with a
// configuration, as of package [github.com/parallelcl/parallelcl/pcl/experiment], has some of the
// same settings, and says which of their defaults are others.
type Options struct {
	// Backend computes. If it is nil, the learner opens the one that $PARALLELCL_BACKEND names, or
	// else the best of this machine, which is closed with the learner and its predictors.
	Backend *backend.Backend
	Model   model.Model
	// Method is the rule with its rehearsal. Each learner needs its own Method, because a method
	// may hold state: New refuses one that another learner has. nil stands for
	// &method.Recommended{} or, with a loss of target values, for "emgd-gmc+der-pp".
	Method method.Method
	// Increment says which classes a prediction may choose from: "task" predictions know the
	// sample's task and choose among its classes, "class" predictions, for which empty stands,
	// choose among all classes of the tasks that have arrived. An experiment's default is "task",
	// as in the published ones.
	Increment string `param:"increment" default:"class" choices:"task,class"`
	// Shared says which parameters count as shared (docs/method.md §1.3). The shared parameters are
	// the columns of J, the matrix of the streams' gradients, from which the method computes the
	// weights. All other parameters move by the plain sum of the gradients. "shared", for which
	// empty stands, takes the backbone and, in class-incremental mode, the classifier: the
	// parameters that the losses of two streams can have in common, except where losses reach the
	// outputs of other tasks. "backbone" takes the backbone only, "all" the backbone and the
	// classifier.
	Shared    string          `param:"shared" default:"shared" choices:"shared,backbone,all"`
	Optimizer optim.Optimizer // nil stands for Adam with a step size of 0.001
	// Batch is how many samples of each stream go into a step; 0 stands for 32. No more are taken
	// than a step can hold, and few enough that no program's sizes overflow, at which XLA would end
	// the process. An experiment's default is 128, as in the published ones; a stream of your own
	// may be short.
	Batch  int           `param:"batch" default:"32" range:"whole [1,1048576]"`
	Memory memory.Config // the zero value stands for 20 samples of each class
	Seed   uint64        // of all that is drawn; an experiment's default is 1234, as in the published ones
	// Loss is what the network is trained for; nil stands for the cross-entropy of classes.
	// [model.ClassLoss] makes another loss of classes. With one that compares target values, a
	// sample's values in [data.Batch] or [data.Samples] are its inputs followed by its target
	// values, and a task has as many classes, which only name its outputs, as a sample has target
	// values. [Learner.EvaluateLoss] measures, [Predictor.Outputs] predicts.
	Loss model.Loss
	// Augment, if set, changes each sample before a step trains on it, also replayed ones: a random
	// crop, a flip, noise. The memory stores samples unchanged, and a method that stores the
	// model's outputs with them stores the outputs for the unchanged sample. It must not keep the
	// sample's inputs, x. The random numbers of rng follow from the seed, the step and the row, so
	// that a run can be repeated and resumed.
	Augment func(rng *rand.Rand, x []float32)
	// Edit turns memory editing on; the zero value turns it off.
	Edit Edit `param:"edit"`
	// ExtraUpdate makes a second update in each step, from the same batches and with the same
	// weights. It is the control experiment for memory editing (docs/method.md §3.4).
	ExtraUpdate bool
	// Observe reports the Gram matrix even if the method does not need it, how each row's loss
	// changes along the step, and the losses after it. Training stays the same, but a step takes
	// longer.
	Observe bool
	// Features, if set, turns all samples into what the model takes: those of streams, of tests and
	// of predictions. The memory stores features. nil stands for samples that the model takes.
	Features Features
	// Image is the shape of a sample, for methods that cut and mix images. The zero value stands
	// for one row of pixels.
	Image Image
	// Grow gives the classifier more outputs when a task arrives that needs more than there are.
	// Parameters that were learnt stay as they are, bit by bit; programs are compiled anew. Without
	// Grow such a task is refused.
	Grow bool
	// Programs, if set, shares compiled programs with other learners on the same Backend.
	Programs *Programs
	// Trace, if set, is called at the end of each step with what went into it. If it returns an
	// error after the parameters have changed, the learner stops.
	Trace func(*Trace) error
	// Preparing, if set, is told how many steps of how many a method has made that trains a network
	// for its predictions ("gdumb"). If it returns an error, the call that asked for predictions
	// returns it, and the next one begins again.
	Preparing func(done, total int) error
}

// checked returns the options with their defaults, and the method, ready for its first step. It
// returns an error for options that no learner can have.
func (o Options) checked() (Options, *method.Started, error) {
	switch {
	case o.Method != nil:
	case o.compared() != nil:
		o.Method = method.Compose(&method.EMGDGMC{}, &rehearsal.Distill{})
	default:
		o.Method = &method.Recommended{}
	}
	if o.Optimizer == nil {
		o.Optimizer = optim.Adam{LR: 0.001}
	}
	if o.Memory == (memory.Config{}) {
		o.Memory = memory.Config{Policy: "per_class", Budget: 20}
	}
	if o.Image == (Image{}) {
		o.Image = Image{Height: 1, Width: o.Model.Inputs(), Channels: 1}
	}
	if err := params.Fill(&o); err != nil {
		return Options{}, nil, err
	}
	if err := cmp.Or(o.checkAlone(), o.checkFeatures(), optim.Check(o.Optimizer)); err != nil {
		return Options{}, nil, err
	}
	m, err := method.Start(o.Method)
	if err != nil {
		return Options{}, nil, err
	}
	if err := cmp.Or(o.checkUpdates(m), o.checkLoss(m), o.checkGrowth(m)); err != nil {
		m.Release() // for another try
		return Options{}, nil, err
	}
	return o, m, nil
}

// withBackend opens a backend if there is none, and makes programs if there are none. The learner
// holds them, and the programs close a backend that only they use.
func (o Options) withBackend(ctx context.Context) (Options, error) {
	if o.Programs != nil {
		o.Programs.hold()
		o.Backend = o.Programs.backend
		return o, nil
	}
	alone := o.Backend == nil
	if alone {
		var err error
		if o.Backend, err = backend.Open(ctx, backend.Options{Name: os.Getenv("PARALLELCL_BACKEND")}); err != nil {
			return Options{}, err
		}
	}
	o.Programs = NewPrograms(o.Backend)
	o.Programs.alone = alone
	return o, nil
}

// require panics if something is missing without which there is no learner.
func (o Options) require() {
	switch {
	case o.Model == nil:
		panic("pcl: Options.Model is needed: model.NewMLP makes one, for example")
	case o.Programs != nil && (o.Programs.closed.Load() || o.Backend != nil && !o.Programs.on(o.Backend)):
		panic("pcl: Options.Programs is closed, or belongs to another backend")
	}
}

// compared is the loss if it compares outputs with target values; nil if the network is trained for
// classes.
func (o Options) compared() model.Loss {
	if o.Loss != nil && o.Loss.Targets() == 0 {
		return nil
	}
	return o.Loss
}

// checkAlone returns an error if an option has a value that it cannot have, or that another option
// excludes.
func (o Options) checkAlone() error {
	switch {
	case min(o.Image.Height, o.Image.Width, o.Image.Channels) < 1 || o.Image.size() != o.Model.Inputs():
		return fmt.Errorf("images of %d×%d×%d for a model of %d inputs",
			o.Image.Height, o.Image.Width, o.Image.Channels, o.Model.Inputs())
	case o.Augment != nil && o.Edit.Eta > 0:
		return errors.New(
			"memory editing would move stored samples along gradients of augmented ones; turn editing or " +
				"augmentation off")
	}
	return nil
}

// checkUpdates returns an error if there are to be two updates by weights, and the method gives
// none.
func (o Options) checkUpdates(m *method.Started) error {
	if m.Needs.Direction && o.ExtraUpdate {
		return fmt.Errorf("Options.ExtraUpdate repeats an update by its weights; method %s gives a direction instead",
			m.Info.Name)
	}
	return nil
}

// checkLoss returns an error if the losses of the method contradict themselves, or make sense for
// classes only and there is another loss.
func (o Options) checkLoss(m *method.Started) error {
	name, values := m.Info.Name, o.compared()
	forClasses := m.Predictor != nil || m.Storer != nil || m.Limits.Classes
	for _, id := range []int{method.MemoryID, 1} {
		l := lossOf(m, id)
		if err := l.Validate(); err != nil {
			return fmt.Errorf("method %s has %w", name, err)
		}
		if o.Loss != nil && values == nil && l.Sigmoid {
			return fmt.Errorf("method %s trains on a loss of its own in place of %s: take another method",
				name, o.Loss.Key())
		}
		forClasses = forClasses || l.Cosine || l.Teacher > 0 || l.Adjust > 0 || l.Sigmoid
	}
	switch {
	case values == nil:
		return nil
	case m.Limits.Inputs:
		return fmt.Errorf(
			"method %s changes the pixels of stored samples, which it cannot where target values follow "+
				"them: take another one, such as emgd-gmc+der-pp", name)
	case values.Targets() < 1 || values.Targets() > o.Model.Outputs():
		return fmt.Errorf(
			"loss %s has %d target values, the model %d outputs; want 1 to as many target values as outputs",
			values.Key(), values.Targets(), o.Model.Outputs())
	case forClasses:
		return fmt.Errorf(
			"method %s is for losses of classes, which does not go with loss %s: take another one, such as "+
				"emgd-gmc+der-pp", name, values.Key())
	}
	return nil
}

// checkGrowth returns an error if the classifier is to grow and cannot, or if the method keeps
// something whose size would change.
func (o Options) checkGrowth(m *method.Started) error {
	if !o.Grow {
		return nil
	}
	if _, ok := o.Model.(model.Resizer); !ok {
		return fmt.Errorf("model %s cannot grow: it does not implement model.Resizer", o.Model.Key())
	}
	withClassifier := o.inJ() > o.Model.Layout().Backbone // else what methods keep is about the backbone
	if withClassifier && (m.Penalty != nil || m.Stateful != nil && m.Needs.Rows) {
		return fmt.Errorf(
			"the outputs cannot grow, since method %s keeps vectors over the parameters of the classifier: "+
				"build a model with more outputs and leave out Options.Grow, or set Options.Shared to "+
				"\"backbone\"", m.Info.Name)
	}
	return nil
}

// keyOf returns the key of a loss; empty for the cross-entropy of classes.
func keyOf(l model.Loss) string {
	if l == nil {
		return ""
	}
	return l.Key()
}

// inJ returns how many parameters are shared, that is, are columns of J. They are the first ones of
// θ.
func (o Options) inJ() int {
	l := o.Model.Layout()
	if o.Shared == "all" || (o.Shared == "shared" && o.Increment == "class") {
		return l.Total
	}
	return l.Backbone
}

// spec returns everything that the learner's programs depend on.
func (o Options) spec() device.Spec {
	return device.Spec{Model: o.Model, Shared: o.inJ(), Batch: o.Batch, Optimizer: o.Optimizer, Loss: o.Loss}
}

// lossOf returns the loss on which the method trains the stream with the given id.
func lossOf(m *method.Started, id int) rehearsal.Loss {
	if m.Objective != nil {
		return m.Objective.Loss(id)
	}
	return rehearsal.Loss{}
}
