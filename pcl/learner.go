// Package pcl trains one neural network on several streams of data, each of which may start and end at any
// time. This is Parallel Continual Learning (docs/method.md §1, docs/protocol.md §1, §2).
//
//	net, err := pcl.NewMLP(inputs, []int{128, 64}, outputs)
//	learner, err := pcl.New(ctx, pcl.Options{Model: net}) // everything else has a default
//	id, err := learner.Attach(pcl.Task{Classes: []int{0, 1}, Stream: stream, Test: samples})
//	err = learner.Run(ctx, pcl.Hooks{})
//
// Attach: a [Task] arrives with a stream ([Learner.Attach]), may pause ([Learner.Pause]), ends with its stream or before
// ([Learner.Detach]), and may come back ([Learner.Reattach]). Samples of tasks that have ended stay in the rehearsal memory.
//
// Step: [Learner.Step] makes one update from one batch of every running stream, whose gradients a method combines, and
// [StepReport] tells what it did.
//
// Run: [Learner.Run] makes steps until all streams have ended; [Hooks] evaluate, save and take snapshots meanwhile.
//
// Push: [NewStream] delivers a set of samples in batches. [NewPushStream] makes a stream that any goroutine pushes samples into;
// its learner waits for whole batches, though not for long.
//
// Snapshot: [Learner.Evaluate] measures the accuracy of a task. [Learner.Snapshot] returns a [Predictor] that any number of
// goroutines use while the learner trains. [Learner.Network] returns the network, for files of other programs.
//
// Save: [Learner.Save] writes everything to one file, from which [Learner.Load] goes on as if it had never stopped.
// [TaskInfo] says how many samples of each task the file has.
//
// Concurrency: any goroutine may call a learner. Calls that change it or read its parameters take turns with the steps;
// [Learner.AttachContext], [Learner.DetachContext] and [Learner.SaveContext] give up when a context ends.
//
// Experts' surface: most programs need none of it. [Programs] shares compiled programs between learners, and [Learner.Precompile]
// compiles ahead; [Options.Trace] hands over all that went into a step ([Trace]); [Learner.SetNetwork] and
// [Learner.SetBackbone] start from another network; [Learner.SkipIDs] leaves ids out, for services that number tasks; [Learner.State] and [Learner.Restore] are Save and
// Load in memory.
//
// To put a learner behind HTTP, use package [github.com/parallelcl/parallelcl/serve]; to run a whole scenario,
// [github.com/parallelcl/parallelcl/pcl/experiment].
package pcl

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Learner trains a model on the streams attached to it. Any goroutine may call it at any time. [Learner.Steps],
// [Learner.Tasks], [Learner.Pause] and other methods that say so return at once. The others take turns, between steps, in
// the order of the calls; one with a context leaves the queue when the context ends. A stream or a method that calls its own
// learner waits for ever. After [Learner.Close] calls return [ErrClosed].
type Learner struct {
	turn    chan struct{} // has an element while a call is in progress; callers get it in the order in which they came
	closed  atomic.Bool
	failure error // why the learner cannot continue; nil while it can
	status  atomic.Pointer[status]

	bell      bell          // rung when there may be something to do
	idleSince atomic.Uint64 // the count of the bell when the last step began, if there was nothing to do; otherwise 0

	options  Options
	method   *method.Started
	programs *device.Trainer

	network network
	others  others
	memory  *memory.Store
	rng     *seed.Source // the random numbers that the method draws

	roll     roll            // all tasks that have arrived
	tasks    runningTasks    // those of them that run
	over     map[int]int     // of each output, how many tasks that have ended have it
	replayed []*device.Batch // reused for the memory's rows
	sample   *device.Batch   // reused for the samples that a method asks about (see methodContext)
	steps    int             // how many steps have been made
	version  int             // how often something has changed that predictions depend on
	prepared int             // one more than the steps made when the method last prepared to predict

	penalised []float32 // reused for the gradient of a penalty, which is 0 for the private parameters
	mean      []float32 // reused for the mean of the tasks' gradients

	prediction prediction // what predictors share
}

// New returns a learner with newly drawn parameters and no tasks. It compiles the programs that every step needs. Close
// the learner when it is no longer needed. If [Options].Backend is nil, New may download one the first time, until ctx
// ends.
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
		turn:    make(chan struct{}, 1),
		options: o,
		method:  m,
		roll:    roll{increment: o.Increment},
		memory:  store,
		rng:     seed.New(o.Seed, "method"),
		over:    map[int]int{},
	}
	l.publish()
	if err := l.start(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// start compiles what is needed and draws the parameters.
func (l *Learner) start() error {
	theta, statistics := l.options.Model.Layout().Init(seed.New(l.options.Seed, "init").Rand)
	l.network.statistics = statistics
	if err := l.compile(); err != nil {
		return err
	}
	return l.begin(theta)
}

// begin gives the learner other parameters. The optimiser starts anew.
func (l *Learner) begin(theta []float32) error {
	zeros := [][]float32{make([]float32, len(theta))}
	return l.network.set(l.options.Backend, theta, slices.Repeat(zeros, len(l.options.Optimizer.State())))
}

// compile compiles the program that every step needs, unless a learner that shares it has done so; others are compiled when
// they are first needed.
func (l *Learner) compile() error {
	loss, lanes := lossOf(l.method, method.MemoryID), 1
	if l.options.Backend.Info.Name == backend.Go { // which computes small operations on one core; XLA has threads of its own
		lanes = runtime.GOMAXPROCS(0)
	}
	var edits *device.At // which fails if the network lacks the second derivative
	if l.options.Edit.Eta > 0 {
		edits = new(l.options.Edit.where(l.at(l.network.theta)))
	}
	made, err := l.options.Programs.cache.Trainer(l.options.spec(), lanes, loss, edits)
	if err != nil {
		return err
	}
	if l.programs != nil {
		l.programs.Close()
	}
	l.programs = made
	return nil
}

// Precompile compiles the updates and inner products of steps of up to k rows in advance, where programs compute these. A row is one
// stream of a step; the memory counts as one. There is a program for each number of rows up to 12, and a few more for larger
// ones. Programs that only some methods need, for several rows of the memory, stored logits or features, are compiled on first
// use.
func (l *Learner) Precompile(k int) error {
	return l.call(context.Background(), "warm", func() error { return l.programs.Warm(k, l.products()) })
}

// Close releases what the learner holds on the device. It waits for the call in progress, if there is one, and
// must therefore not be called from within a stream. A backend that was given in [Options] stays open, and so do predictors.
func (l *Learner) Close() {
	l.close()
	l.prediction.close() // a prediction may hold its lock while it waits for the learner
}

func (l *Learner) close() {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.closed.Swap(true) {
		return
	}
	l.bell.ring()
	l.network.free()
	if l.programs != nil {
		l.programs.Close()
	}
	l.others.free()
	for _, t := range l.tasks {
		t.free()
	}
	for _, b := range append(l.replayed, l.sample) {
		b.Free()
	}
	l.replayed, l.sample = nil, nil
	l.options.Programs.drop()
}

// Options returns the options that the learner was made with, with the defaults filled in and, after the classifier has
// grown, the model that it has now. It may be called from any goroutine.
func (l *Learner) Options() Options { return l.status.Load().options }

// Memory returns the rehearsal memory. It must not be used while a call to the learner is in progress.
func (l *Learner) Memory() *memory.Store { return l.memory }

// Parameters returns a copy of the parameters θ: the backbone's first, then the classifier's (see the Layout
// type of package [github.com/parallelcl/parallelcl/pcl/model]).
func (l *Learner) Parameters() ([]float32, error) {
	return callFor(context.Background(), l, "parameters", l.parameters)
}

func (l *Learner) parameters() ([]float32, error) {
	theta, err := program.Read[float32](l.network.theta, l.total())
	return slices.Clone(theta), err
}

// Statistics returns a copy of the running statistics of batch normalisation, or nil if the model has none.
func (l *Learner) Statistics() ([]float32, error) {
	return callFor(context.Background(), l, "statistics", func() ([]float32, error) { return slices.Clone(l.network.statistics), nil })
}

// total is the number of parameters.
func (l *Learner) total() int { return l.options.Model.Layout().Total }

// at is where batches are looked at with parameters on the device, and the running statistics that belong to these: their own for
// a network that was trained apart, otherwise the present ones.
func (l *Learner) at(theta compute.Buffer) device.At {
	if o := &l.others; theta == o.detached[0] && o.statistics != nil {
		return device.At{Theta: theta, Running: o.statistics}
	}
	return device.At{Theta: theta, Running: l.network.statistics}
}

// MethodInfo describes the method. It may be called from any goroutine.
func (l *Learner) MethodInfo() method.Info { return l.method.Info }

// byMethod names the method, for error messages.
func (l *Learner) byMethod() string { return "method " + l.method.Info.Name }

// products says which inner products of the rows' gradients the method needs in a step.
func (l *Learner) products() device.Products {
	if l.options.Observe || l.method.Needs.Gram {
		return device.Products{Gram: true}
	}
	return device.Products{Norms: true}
}

// status is what can be read of a learner while a call to it is in progress.
type status struct {
	options Options // of which the model may grow
	steps   int
	roll    roll
	tasks   runningTasks // those that run, of which only the id, the stream and the pause may be read
	version int
}

func (l *Learner) publish() {
	l.status.Store(&status{l.options, l.steps, l.roll, l.tasks, l.version})
}

// Steps returns how many steps have been made. It may be called from any goroutine.
func (l *Learner) Steps() int { return l.status.Load().steps }

// LastID returns the id of the task that was attached last: how many have been attached so far, unless ids were skipped.
// LastID may be called from any goroutine.
func (l *Learner) LastID() int { return l.status.Load().roll.last() }

// call makes one call to the learner, whose errors begin with its name.
func (l *Learner) call(ctx context.Context, name string, f func() error) error {
	_, err := callFor(ctx, l, name, func() (none struct{}, err error) { return none, f() })
	return err
}

// callFor is call for a function that returns a value.
func callFor[T any](ctx context.Context, l *Learner, name string, f func() (T, error)) (value T, err error) {
	if err := l.enter(ctx, false); err != nil {
		return value, err
	}
	defer l.leave()
	if value, err = f(); err != nil {
		err = fmt.Errorf("pcl: %s: %w", name, err)
	}
	return value, err
}

// enter begins a call when it is this caller's turn; leave ends it. A learner that was stopped by a failure refuses all
// calls except those that pass stopped, which replace its state.
func (l *Learner) enter(ctx context.Context, stopped bool) (err error) {
	select { // a channel serves those who wait in their order
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case l.closed.Load():
		err = ErrClosed
	case ctx.Err() != nil: // the call before may have taken longer than that
		err = ctx.Err()
	case l.failure != nil && !stopped:
		err = fmt.Errorf("pcl: the learner stopped after %d steps and cannot go on: load a checkpoint, or make a new learner: %w", l.steps, l.failure)
	}
	if err != nil {
		<-l.turn
	}
	return err
}

// leave ends a call, and publishes what other goroutines may read while the next call is in progress.
func (l *Learner) leave() {
	defer func() { <-l.turn }() // also if publish panics, so that Close does not wait for ever
	l.publish()
}

// wholly makes a change that is of no use by half, with code that is not the learner's own. If it fails, the learner stops for
// good.
func (l *Learner) wholly(whose string, change func() error) error {
	l.failure = guarded(whose, change)
	return l.failure
}
