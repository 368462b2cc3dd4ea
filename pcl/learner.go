// Package pcl trains one neural network on several streams of data, each of which may start and end
// at any time. This is Parallel Continual Learning (docs/method.md §1, docs/protocol.md §1, §2).
//
//	net, err := pcl.NewMLP(inputs, []int{128, 64}, outputs)
//	learner, err := pcl.New(ctx, pcl.Options{Model: net}) // everything else has a default
//	id, err := learner.Attach(pcl.Task{Classes: []int{0, 1}, Stream: stream, Test: samples})
//	err = learner.Run(ctx, pcl.Hooks{})
//
// Attach: a [Task] arrives with a stream ([Learner.Attach]), may pause ([Learner.Pause]), ends with
// its stream or before ([Learner.Detach]), and may come back ([Learner.Reattach]). Samples of tasks
// that have ended stay in the rehearsal memory.
//
// Step: [Learner.Step] makes one update from one batch of every running stream, whose gradients a
// method combines, and [StepReport] tells what it did.
//
// Run: [Learner.Run] makes steps until all streams have ended; [Hooks] evaluate, save and take
// snapshots meanwhile.
//
// Push: [NewStream] delivers a set of samples in batches. [NewPushStream] makes a stream that any
// goroutine pushes samples into; its learner waits for whole batches, though not for long.
//
// Snapshot: [Learner.Evaluate] measures the accuracy of a task. [Learner.Snapshot] returns a
// [Predictor] that any number of goroutines use while the learner trains. [Learner.Network] returns
// the network, for files of other programs.
//
// Save: [Learner.Save] writes everything to one file, from which [Learner.Load] goes on as if it
// had never stopped. [TaskInfo] says how many samples of each task the file has.
//
// Concurrency: any goroutine may call a learner. Calls that change it or read its parameters take
// turns with the steps; [Learner.AttachContext], [Learner.DetachContext] and [Learner.SaveContext]
// give up when a context ends.
//
// Experts' surface: most programs need none of it. [Programs] shares compiled programs between
// learners, and [Learner.Precompile] compiles ahead; [Options.Trace] hands over all that went into
// a step ([Trace]); [Learner.SetNetwork] starts from another network ([Take]); [Learner.SkipIDs]
// leaves ids out, for services that number tasks; [Learner.State] and [Learner.Restore] are Save
// and Load in memory.
//
// To put a learner behind HTTP, use package [github.com/parallelcl/parallelcl/serve]; to run a
// whole scenario, [github.com/parallelcl/parallelcl/pcl/experiment].
package pcl

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Learner trains a model on the streams attached to it. Any goroutine may call it at any time.
// [Learner.Steps], [Learner.Tasks], [Learner.Pause] and other methods that say so return at once.
// The others take turns, between steps, in the order of the calls; one with a context leaves the
// queue when the context ends. A stream or a method that calls its own learner waits for ever.
// After [Learner.Close] calls return [ErrClosed].
type Learner struct {
	turns  *turns // whose turn it is, and whether calls are taken
	ready  readiness
	status atomic.Pointer[status]

	// The rest belongs to the call whose turn it is.

	options    *Options
	method     *method.Started
	rng        *seed.Source // the random numbers that the method draws
	network    *network
	tasks      *tasks
	memory     *memory.Store
	scratch    *scratch
	prediction prediction
	steps      int // how many have been made
	version    int // how often something has changed that predictions depend on
}

// New returns a learner with newly drawn parameters and no tasks. It compiles the programs that
// every step needs. Close the learner when it is no longer needed. If [Options].Backend is nil, New
// may download one the first time, until ctx ends.
func New(ctx context.Context, o Options) (l *Learner, err error) {
	o.require()
	defer func() {
		if err != nil {
			l, err = nil, fmt.Errorf("pcl: %w", err)
		}
	}()
	o, m, err := o.checked()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.Release() // for another try
		}
	}()
	store, err := memory.NewStore(o.Memory, o.Seed)
	if err != nil {
		return nil, err
	}
	if o, err = o.withBackend(ctx); err != nil {
		return nil, err
	}
	l = &Learner{
		turns:   newTurns(),
		options: &o,
		method:  m,
		rng:     seed.New(o.Seed, "method"),
		network: &network{options: &o},
		tasks:   newTasks(o.Increment),
		memory:  store,
		scratch: &scratch{},
	}
	l.publish()
	if err := l.network.draw(lossOf(m, method.MemoryID)); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Precompile compiles the updates and inner products of steps of up to k rows in advance, where
// programs compute these. A row is one stream of a step; the memory counts as one. There is a
// program for each number of rows up to 12, and a few more for larger ones. Programs that only some
// methods need, for several rows of the memory, stored logits or features, are compiled on first
// use.
func (l *Learner) Precompile(k int) error {
	return l.call(context.Background(), "warm", func() error {
		return l.network.programs.Warm(k, products(l.options, l.method))
	})
}

// Close releases what the learner holds on the device. It waits for the call in progress, if there
// is one, and must therefore not be called from within a stream. A backend that was given in
// [Options] stays open, and so do predictors.
func (l *Learner) Close() {
	l.close()
	l.prediction.close() // a prediction may hold its lock while it waits for the learner
}

func (l *Learner) close() {
	first := l.turns.close()
	defer l.turns.leave()
	if !first {
		return
	}
	l.ready.notify()
	l.network.close()
	l.tasks.free()
	l.scratch.free()
	l.options.Programs.drop()
	_ = l.method.Close() // how a process of the method ended does not matter any more
}

// Options returns the options that the learner was made with, with the defaults filled in and,
// after the classifier has grown, the model that it has now. It may be called from any goroutine.
func (l *Learner) Options() Options { return l.status.Load().options }

// Memory returns the rehearsal memory. It must not be used while a call to the learner is in
// progress.
func (l *Learner) Memory() *memory.Store { return l.memory }

// Parameters returns a copy of the parameters θ: the backbone's first, then the classifier's (see
// the Layout type of package [github.com/parallelcl/parallelcl/pcl/model]).
func (l *Learner) Parameters() ([]float32, error) {
	return callFor(context.Background(), l, "parameters", l.network.parameters)
}

// Statistics returns a copy of the running statistics of batch normalisation, or nil if the model
// has none.
func (l *Learner) Statistics() ([]float32, error) {
	return callFor(context.Background(), l, "statistics", func() ([]float32, error) {
		return slices.Clone(l.network.statistics), nil
	})
}

// MethodInfo describes the method. It may be called from any goroutine.
func (l *Learner) MethodInfo() method.Info { return l.method.Info }

// byMethod names a method, for error messages.
func byMethod(m *method.Started) string { return "method " + m.Info.Name }

// products says which inner products of the rows' gradients a step needs.
func products(o *Options, m *method.Started) device.Products {
	if o.Observe || m.Needs.Gram {
		return device.Products{Gram: true}
	}
	return device.Products{Norms: true}
}

// status is what can be read of a learner while a call to it is in progress.
type status struct {
	options  Options // of which the model may grow
	steps    int
	registry registry
	running  runningTasks // of which only the id, the stream and the pause may be read
	version  int
}

func (l *Learner) publish() {
	l.status.Store(&status{*l.options, l.steps, l.tasks.registry, l.tasks.running, l.version})
}

// Steps returns how many steps have been made. It may be called from any goroutine.
func (l *Learner) Steps() int { return l.status.Load().steps }

// LastID returns the id of the task that was attached last: how many have been attached so far,
// unless ids were skipped. LastID may be called from any goroutine.
func (l *Learner) LastID() int { return l.status.Load().registry.last() }

// targets sets what batches should predict.
func (l *Learner) targets() targets {
	return targets{options: l.options, method: l.method, network: l.network, tasks: l.tasks, memory: l.memory}
}

// context is what the method may see between steps.
func (l *Learner) context() methodContext {
	return methodContext{parts: l.parts(), number: l.steps}
}

// parts are what a learner gives to a step, and to a method, of what it has.
type parts struct {
	options *Options
	method  *method.Started
	rng     *seed.Source
	network *network
	tasks   *tasks
	memory  *memory.Store
	targets targets
	scratch *scratch
}

func (l *Learner) parts() parts {
	return parts{
		options: l.options, method: l.method, rng: l.rng, network: l.network, tasks: l.tasks, memory: l.memory,
		targets: l.targets(), scratch: l.scratch,
	}
}
