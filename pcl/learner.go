// Package pcl trains one neural network on several streams of data, each of which may start and end at any
// time. This is Parallel Continual Learning (docs/method.md §1, docs/protocol.md §1, §2).
//
// Begin with [NewLearner]. A [Learner] holds the model, the method that combines the streams' gradients, the
// optimiser, and the rehearsal memory with samples of tasks that have ended. [Learner.Attach] adds a task when
// it arrives, [Learner.Step] makes one update from one batch of every active stream, and [Learner.Evaluate]
// measures the accuracy of a task. To run a whole scenario, use package
// [github.com/parallelcl/parallelcl/pcl/experiment].
package pcl

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/heads"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// Learner trains a model on the streams attached to it. Methods documented for any goroutine, such as [Learner.Steps],
// [Learner.Tasks], [Learner.Pause] and [Learner.Predict], may be called at any time. The others serve one call at a time:
// while a call is in progress they return [ErrBusy], or wait for it if they say so. After [Learner.Close] calls return
// [ErrClosed].
type Learner struct {
	busy    sync.Mutex  // held by the call in progress
	refused atomic.Bool // a call met another one in progress since the last step of [Learner.StepContext]
	closed  atomic.Bool
	failure error // why the learner cannot continue; nil while it can
	status  atomic.Pointer[status]

	bell      bell          // rung when there may be something to do
	idleSince atomic.Uint64 // the count of the bell when the last step began, if there was nothing to do; otherwise 0

	options  Options
	programs *graphs.Set
	tables   *device.Tables
	own      *Programs // the programs made for this learner alone; nil if it shares those of others
	readout  device.Readout
	lanes    []*graphs.Set // one entry for each gradient that may be computed at the same time
	pace     pace

	network network
	others  others
	heads   *heads.Heads
	memory  *memory.Store
	mirror  device.Mirror // the copy of the memory on the device
	rng     *seed.Source  // the random numbers that the method draws

	roll     roll            // all tasks that have arrived
	tasks    []*task         // those that run, in order of their ids; it is copied to be changed
	over     map[int]int     // of each output, how many tasks that have ended have it
	replayed []*device.Batch // reused for the memory's rows
	sample   *device.Batch   // reused for the samples that a method asks about (see lab)
	step     int             // how many steps have been made
	version  int             // how often something has changed that predictions depend on
	prepared int             // one more than the steps made when the method last prepared to predict

	penalised []float32 // reused for the gradient of a penalty, which is 0 for the private parameters
	mean      []float32 // reused for the mean of the tasks' gradients (see moving)

	prediction prediction // what predictors share
}

// NewLearner returns a learner with freshly drawn parameters and no tasks. It compiles the programs that every
// step needs. Close the learner when it is no longer needed.
func NewLearner(o Options) (*Learner, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	l := &Learner{
		options: o,
		heads:   heads.New(o.Increment, o.Model.Outputs()),
		rng:     seed.New(o.Seed, "method"),
		over:    map[int]int{},
	}
	var err error
	if l.memory, err = memory.NewStore(o.Memory, o.Seed); err != nil {
		return nil, err
	}
	if o.Programs == nil {
		l.own = NewPrograms(o.Backend)
		l.options.Programs = l.own
	}
	l.pace.steps = paceEvery - paceFirst
	l.publish()
	l.options.Programs.hold()
	if err := l.compile(); err != nil {
		l.Close()
		return nil, fmt.Errorf("pcl: %w", err)
	}
	l.network.resetStatistics(o.Model.Layout())
	theta := o.Model.Layout().Init(seed.New(o.Seed, "init").Rand)
	if err := l.network.set(o.Backend, theta, nil, len(o.Optimizer.State())); err != nil {
		l.Close()
		return nil, fmt.Errorf("pcl: %w", err)
	}
	return l, nil
}

// compile compiles the programs that every learner needs, unless a learner that shares them has done so.
func (l *Learner) compile() error {
	shared := l.options.Programs
	sets := shared.cache.Sets(l.options.spec())
	l.tables, l.programs, l.lanes = shared.tables, sets[0], sets
	if backend.Concurrent(l.options.Backend) {
		l.lanes = slices.Repeat(sets, runtime.GOMAXPROCS(0))
	}
	l.readout = device.NewReadout(l.programs)
	loss := l.options.lossOf(method.Memory)
	var compiling errgroup.Group
	for _, set := range sets {
		compiling.Go(func() error {
			if _, err := set.Gradient(loss); err != nil {
				return err
			}
			_, err := set.Predict(loss)
			return err
		})
	}
	compiling.Go(l.editable)
	return compiling.Wait()
}

// editable returns an error if the memory is to be edited, but the network lacks the second derivative.
func (l *Learner) editable() error {
	if _, scoped := l.options.Model.(*model.Scoped); !scoped || !l.options.Edit.On() {
		return nil
	}
	_, err := l.editProgram(l.options.lossOf(method.Memory))
	return err
}

// Warm compiles in advance the updates and inner products of steps of up to k rows, which differ for each number of rows up to
// 12; more rows share a few more programs. A row is one stream of a step; the memory counts as one. What only some methods need, such as the losses of several rows
// of the memory, stored logits or features, is compiled when it is first needed.
func (l *Learner) Warm(k int) error {
	if err := l.enter(false); err != nil {
		return err
	}
	defer l.leave()
	for n := 1; n <= k; n++ {
		if _, err := l.programs.Update(min(n, graphs.Most)); err != nil {
			return fmt.Errorf("pcl: %w", err)
		}
		if err := l.readout.Warm(n, l.products()); err != nil {
			return fmt.Errorf("pcl: %w", err)
		}
	}
	if k > graphs.Most {
		_, sum := l.programs.Sum()
		_, add := l.programs.Add()
		return errors.Join(sum, add)
	}
	return nil
}

// Close releases what the learner holds on the device. It waits for the call in progress, if there is one, and
// must therefore not be called from within a stream. The backend stays open, and so do predictors.
func (l *Learner) Close() {
	l.close()
	l.prediction.close() // a prediction may hold its lock while it waits for the learner
}

func (l *Learner) close() {
	l.busy.Lock()
	defer l.busy.Unlock()
	if l.closed.Swap(true) {
		return
	}
	l.bell.ring()
	l.network.free()
	l.others.free()
	for _, t := range l.tasks {
		t.hush()
		t.free()
	}
	for _, b := range append(l.replayed, l.sample) {
		b.Free()
	}
	l.replayed, l.sample = nil, nil
	l.mirror.Free()
	if l.own != nil {
		l.own.Close()
	}
	l.options.Programs.drop()
}

// Options returns the options that the learner was made with, with the defaults filled in and, after the classifier has
// grown, the model that it has now. It may be called from any goroutine.
func (l *Learner) Options() Options { return l.status.Load().options }

// Compilations returns how many programs have been compiled for this learner, including those compiled for
// learners of the same kind that share its [Options.Programs].
func (l *Learner) Compilations() (n int) {
	for _, set := range slices.Compact(slices.Clone(l.lanes)) { // lanes of one client share its set
		n += set.Compilations()
	}
	return n
}

// Memory returns the rehearsal memory. It must not be used while a call to the learner is in progress.
func (l *Learner) Memory() *memory.Store { return l.memory }

// Parameters returns a copy of the parameters θ: the backbone's first, then the classifier's (see the Layout
// type of package [github.com/parallelcl/parallelcl/pcl/model]).
func (l *Learner) Parameters() ([]float32, error) {
	if err := l.enter(false); err != nil {
		return nil, err
	}
	defer l.leave()
	return l.parameters()
}

// parameters does the work of [Learner.Parameters] for callers that have already entered the learner.
func (l *Learner) parameters() ([]float32, error) {
	theta := make([]float32, l.programs.Total())
	return theta, program.ToHost(theta, l.network.theta)
}

// Statistics returns a copy of the running statistics of batch normalisation, or nil if the model has none.
func (l *Learner) Statistics() ([]float32, error) {
	if err := l.enter(false); err != nil {
		return nil, err
	}
	defer l.leave()
	return slices.Clone(l.network.statistics), nil
}

// newBatch returns an empty batch, which the caller must free.
func (l *Learner) newBatch() (*device.Batch, error) { return l.newBatchOn(0) }

// newBatchOn returns an empty batch in memory of the client that computes a lane, whichever has that number: those of tasks are
// spread over the clients.
func (l *Learner) newBatchOn(lane int) (*device.Batch, error) {
	return device.NewBatch(l.lanes[lane%len(l.lanes)].Backend, l.options.Batch, l.options.spec().Width())
}

// byMethod names the method, for error messages.
func (l *Learner) byMethod() string { return "method " + l.options.Method.Info().Name }

// products says which inner products of the rows' gradients the method needs in a step.
func (l *Learner) products() graphs.Products {
	if l.options.Observe || l.options.Method.Info().NeedsGram {
		return graphs.Gram
	}
	return graphs.Norms
}

// enter begins a call to the learner; leave ends it. A learner that was stopped by a failure refuses all calls
// except those that pass stopped, which do not need its state.
func (l *Learner) enter(stopped bool) error {
	if !l.busy.TryLock() {
		l.refused.Store(true)
		return ErrBusy
	}
	return l.entered(stopped)
}

// await is enter for calls that wait until the call in progress has ended.
func (l *Learner) await() error {
	l.busy.Lock()
	return l.entered(false)
}

// entered ends the call again if the learner cannot serve it.
func (l *Learner) entered(stopped bool) error {
	err := l.usable()
	if l.closed.Load() {
		err = ErrClosed
	} else if stopped {
		err = nil
	}
	if err != nil {
		l.busy.Unlock()
	}
	return err
}

// leave ends a call, and publishes what other goroutines may read while the next call is in progress.
func (l *Learner) leave() {
	defer l.busy.Unlock() // also if the call or publish panics, so that Close does not wait for ever
	l.publish()
}

// usable returns an error if the learner cannot go on, which says why.
func (l *Learner) usable() error {
	if l.failure == nil {
		return nil
	}
	return fmt.Errorf("pcl: the learner stopped at step %d and cannot go on: load a checkpoint, or make a new learner: %w", l.step, l.failure)
}

// status is what can be read of a learner while a call to it is in progress.
type status struct {
	options Options // of which the model may grow
	steps   int
	memory  bool // whether there are samples in the memory
	roll    roll
	tasks   []*task // those that run, of which only the id and the pause may be read
	asks    bool    // whether a stream of a running task cannot say when it is ready
	version int
}

func (l *Learner) publish() {
	l.status.Store(&status{l.options, l.step, l.memory.Len() > 0, l.roll, l.tasks, l.asks(), l.version})
}

// Steps returns how many steps have been made. It may be called from any goroutine.
func (l *Learner) Steps() int { return l.status.Load().steps }

// Arrived returns the id of the task that was attached last: how many have been attached so far, unless ids were skipped.
// Arrived may be called from any goroutine.
func (l *Learner) Arrived() int { return l.status.Load().roll.last() }

// Active returns the ids of the streams in the next step: first 0 for the memory, unless it is empty, then the
// ids of the tasks that have neither ended nor been paused. It may be called from any goroutine.
func (l *Learner) Active() (ids []int) {
	if l.status.Load().memory {
		ids = append(ids, method.Memory)
	}
	return append(ids, l.Running()...)
}
