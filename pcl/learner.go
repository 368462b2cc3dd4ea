// Package pcl trains one network on several streams that start and end at any time: Parallel
// Continual Learning (docs/method.md §1, docs/protocol.md §1, §2).
//
// A [Learner] holds the model, the method that combines the streams' gradients, the optimiser and
// the rehearsal memory. [Learner.Attach] adds a task whenever it arrives, [Learner.Step] makes one
// update from one batch of every active stream, [Learner.Evaluate] measures. [Run] plays a whole
// scenario and returns the result file of docs/protocol.md §4; it can be stopped and taken up again.
package pcl

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
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
	Backend   compute.Backend
	Model     model.Model
	Method    method.Method
	Increment scenario.Increment
	Params    SharedParams // empty: Shared
	Optimizer Optimizer
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
}

// Image is the shape of a sample: rows of pixels, each of the channels' values in turn.
type Image struct{ Height, Width, Channels int }

func (i Image) size() int { return i.Height * i.Width * i.Channels }

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
	case o.Params != Shared && o.Params != Backbone && o.Params != All:
		return fmt.Errorf("pcl: params %q is none of %q, %q, %q", o.Params, Shared, Backbone, All)
	}
	if err := errors.Join(o.Optimizer.validate(), o.Edit.validate()); err != nil {
		return fmt.Errorf("pcl: %w", err)
	}
	return o.Memory.Validate()
}

// shared returns how many leading parameters are in J.
func (o Options) shared() int {
	l := o.Model.Layout()
	if o.Params == All || (o.Params == Shared && o.Increment == scenario.ClassIncremental) {
		return l.Total
	}
	return l.Backbone
}

// Task is what [Learner.Attach] takes.
type Task struct {
	Name    string
	Classes []int // class ids; those of different tasks may overlap
	Stream  Stream
	Test    Samples // for [Learner.Evaluate]; may be nil
}

// Learner trains on the streams attached to it. It serves one call at a time: a call that comes while
// another is in progress is answered by [ErrBusy], and by [ErrClosed] after Close. [Learner.Steps] and
// [Learner.Active] may be called at any time.
type Learner struct {
	busy    sync.Mutex // held by the call in progress
	closed  bool
	failure error // why the learner cannot go on; nil while it can
	touched bool  // the step being made has changed something that cannot be taken back
	status  atomic.Pointer[status]

	options  Options
	programs *programs
	own      *Programs // those made for this learner alone
	slots    *slots
	memory   *memory.Store
	rng      *seed.Source // the method's draws
	theta    compute.Buffer
	state    []compute.Buffer // the optimiser's
	readout  readout
	// residents are what a device of its own memory keeps of the data sets; mirror, of the memory.
	residents *residents
	mirror    mirror
	workers   int // rows whose gradients are computed at the same time

	tasks    []*task      // by arrival; index = id − 1
	rows     []row        // of the step being made
	replayed []*hostBatch // workspace of the memory's rows
	sample   *hostBatch   // workspace of lab
	step     int          // steps made
	update   int          // updates made: Adam's t

	statistics      []float32               // running, by model.Layout.Stats; nil without any
	remembered      compute.Buffer          // θ when the method last asked to remember it
	rememberedTasks []int                   // those that were over then
	aheadTheta      compute.Buffer          // of the last virtual step
	apart           [2]compute.Buffer       // a network trained apart, and its momentum
	export          func(*StepReport) error // sees a step before its rows are freed; nil: nobody does
	prepared        int                     // steps made when the method last prepared to predict, plus 1
}

// task is an attached stream.
type task struct {
	Task
	id        int
	reservoir *memory.Reservoir
	current   *hostBatch // what the next step trains on, if it is ready
	spare     *hostBatch // the one after it, if it was fetched
	ready     bool
	fetched   bool
	over      bool  // the stream has no further batch
	ended     bool  // nothing is left to train on
	leftOut   bool  // of the step being made
	err       error // why the stream failed after the current batch, until a step says so
}

// NewLearner compiles the model and draws its parameters.
func NewLearner(o Options) (*Learner, error) {
	if o.Params == "" {
		o.Params = Shared
	}
	if o.Image == (Image{}) && o.Model != nil {
		o.Image = Image{Height: 1, Width: o.Model.Inputs(), Channels: 1}
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.Optimizer, o.Edit = o.Optimizer.withDefaults(), o.Edit.withDefaults()
	l := &Learner{
		options: o,
		slots:   newSlots(o.Increment, o.Model.Outputs()),
		rng:     seed.New(o.Seed, "method"),
	}
	l.resetStatistics()
	var err error
	if l.memory, err = memory.NewStore(o.Memory, o.Seed); err != nil {
		return nil, err
	}
	if o.Programs == nil {
		l.own = NewPrograms(o.Backend)
		o.Programs = l.own
	}
	if l.programs, err = o.Programs.set(o); err != nil {
		return nil, fmt.Errorf("pcl: %w", err)
	}
	l.publish()
	l.readout, l.residents = newReadout(o.Backend, l.programs), o.Programs.residents
	if l.workers = 1; backend.Concurrent(o.Backend) {
		l.workers = runtime.GOMAXPROCS(0)
	}
	theta := o.Model.Layout().Init(seed.New(o.Seed, "init").Rand)
	if err := l.setParameters(theta, nil); err != nil {
		l.Close()
		return nil, fmt.Errorf("pcl: %w", err)
	}
	return l, nil
}

// resetStatistics sets the running statistics to those before any batch.
func (l *Learner) resetStatistics() {
	if l.options.Model.Layout().StatsTotal > 0 {
		l.statistics = l.options.Model.Layout().InitStats()
	}
}

// setParameters uploads θ and the optimiser's state; nil state is zero.
func (l *Learner) setParameters(theta []float32, state [][]float32) error {
	program.Free(append(l.state, l.theta)...)
	l.theta, l.state = nil, nil
	var err error
	if l.theta, err = program.ToDevice(l.options.Backend, theta, len(theta)); err != nil {
		return err
	}
	for i := range l.programs.rule.slots {
		values := make([]float32, len(theta))
		if state != nil {
			values = state[i]
		}
		b, err := program.ToDevice(l.options.Backend, values, len(theta))
		if err != nil {
			return err
		}
		l.state = append(l.state, b)
	}
	return nil
}

// Close releases what the learner holds on the device, after the call in progress if there is one. The
// backend stays open. It must not be called from within a stream.
func (l *Learner) Close() {
	l.busy.Lock()
	defer l.busy.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	program.Free(append(l.state, l.theta, l.remembered, l.aheadTheta, l.apart[0], l.apart[1])...)
	l.theta, l.state, l.remembered, l.aheadTheta, l.apart = nil, nil, nil, nil, [2]compute.Buffer{}
	for _, t := range l.tasks {
		t.free()
	}
	for _, b := range append(l.replayed, l.sample) {
		b.free()
	}
	l.replayed, l.sample = nil, nil
	l.mirror.free()
	if l.own != nil {
		l.own.Close()
	}
}

// Attach adds a task from the next step on and returns its id, from 1. Streams may be attached at
// any time; the memory of tasks that have ended is stream 0. Attach reads the stream's first batch. After
// an error the learner is as it was.
func (l *Learner) Attach(t Task) (id int, err error) {
	if err := l.enter(false); err != nil {
		return 0, err
	}
	defer l.leave()
	t.Classes = slices.Clone(t.Classes)
	a := &task{Task: t, id: len(l.tasks) + 1}
	if err := l.begin(a); err != nil {
		a.free()
		return 0, fmt.Errorf("pcl: %s: %w", label(a.id, t.Name), err)
	}
	l.tasks = append(l.tasks, a)
	return a.id, nil
}

// begin fetches a new task's first batch and gives the task its outputs.
func (l *Learner) begin(t *task) error {
	if t.Stream == nil {
		return errors.New("it has no stream")
	}
	if err := l.slots.fits(t.Classes); err != nil {
		return err
	}
	if err := l.prepareBatches(t); err != nil {
		return err
	}
	if err := t.fetch(t.current); err == io.EOF {
		return errors.New("its stream is empty")
	} else if err != nil {
		return err
	}
	t.ready = true
	t.reservoir = memory.NewReservoir(t.id, l.pool(t.Classes), l.options.Seed)
	return l.slots.add(t.id, t.Classes)
}

// prepareBatches gives a task room for the batch that it trains on and the next one.
func (l *Learner) prepareBatches(t *task) (err error) {
	if t.current, err = l.newBatch(); err != nil {
		return err
	}
	if t.spare, err = l.newBatch(); err != nil {
		t.free()
	}
	return err
}

// free gives the task's batches back.
func (t *task) free() {
	t.current.free()
	t.spare.free()
	t.current, t.spare, t.ready, t.fetched = nil, nil, false, false
}

// pool is how many candidates of each class are collected while a task of these classes runs.
func (l *Learner) pool(classes []int) int {
	if _, ok := method.As[method.Keeper](l.options.Method); ok {
		return 0
	}
	quota := l.memory.Quota(classes)
	if c, ok := method.As[method.Curator](l.options.Method); ok && quota > 0 {
		return c.Pool(quota)
	}
	return quota
}

// Warm compiles what steps of up to k rows need, so that no later step waits for it.
func (l *Learner) Warm(k int) error {
	if err := l.enter(false); err != nil {
		return err
	}
	defer l.leave()
	for n := 1; n <= k; n++ {
		if _, err := l.programs.update(n); err != nil {
			return fmt.Errorf("pcl: %w", err)
		}
		if err := l.readout.warm(n, products(l.options.Method)); err != nil {
			return fmt.Errorf("pcl: %w", err)
		}
	}
	return nil
}

// Compilations returns how many programs have been compiled for this learner, and for others that
// share its Programs.
func (l *Learner) Compilations() int { return l.programs.counter.Count() }

// active lists the ids of the rows that the next step will have, the memory's 0 first.
func (l *Learner) active() []int {
	var ids []int
	if l.memory.Len() > 0 {
		ids = append(ids, method.Memory)
	}
	for _, t := range l.running() {
		ids = append(ids, t.id)
	}
	return ids
}

// Memory returns the rehearsal store, which is not to be used while another call is in progress.
func (l *Learner) Memory() *memory.Store { return l.memory }

// Parameters returns a copy of θ: the backbone's, then the classifier's (see [model.Layout]).
func (l *Learner) Parameters() ([]float32, error) {
	if err := l.enter(false); err != nil {
		return nil, err
	}
	defer l.leave()
	return l.theta32()
}

// theta32 is [Learner.Parameters] within a call.
func (l *Learner) theta32() ([]float32, error) {
	theta := make([]float32, l.options.Model.Layout().Total)
	return theta, program.ToHost(theta, l.theta)
}
