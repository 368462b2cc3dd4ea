package pcl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gomlx/compute"
	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/heads"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// ErrClosed is returned by calls to a learner after [Learner.Close], and to a predictor after [Predictor.Close].
var ErrClosed = errors.New("pcl: the learner or predictor is closed")

// Predictor predicts with a learner as it was when [Learner.Snapshot] was called. It never changes, and may be used
// by any number of goroutines while the learner trains, and after the learner was closed. Close it before the backend
// is closed; an unreachable one is freed without Close.
type Predictor struct {
	kit     *kit
	heads   *heads.Heads
	roll    roll
	rule    rehearsal.Rule // compares classes; nil if the logits do
	steps   int
	version int // of the learner

	use        sync.RWMutex // held for reading by predictions, for writing by Close
	closed     bool
	theta      compute.Buffer
	statistics compute.Buffer // nil if the model has none

	mu      sync.Mutex
	batches map[int][]*device.Batch // those that are not in use, by their size
}

// Prediction is what is predicted for one sample.
type Prediction struct {
	// Class is the most probable of the classes, and Name its name, if it has one.
	Class int
	Name  string
	// Classes are those that the prediction chose among, in the order of their outputs, and Probabilities are theirs,
	// which add up to 1. They are the softmax of the logits or, for a method that predicts by the nearest mean of the
	// features, of −d², where d is the distance from the class's mean; these only rank the classes. The predictions of one
	// call share their Classes, which must not be changed.
	Classes       []int
	Probabilities []float64
}

// Steps returns how many steps the learner had made.
func (p *Predictor) Steps() int { return p.steps }

// Newer says whether p was made of a later state of the same learner than q.
func (p *Predictor) Newer(q *Predictor) bool { return p.version > q.version }

// Classes returns the classes of the tasks that had arrived, each once, in order of arrival.
func (p *Predictor) Classes() []int { return slices.Clone(p.roll.classes) }

// Predict predicts the classes of samples, whose values lie in x one after another, as those of the training samples.
//
// A prediction chooses among all classes that had arrived or, if any are given, among the given ones. In task-incremental mode,
// where each task has outputs of its own, call [Predictor.PredictTask] if there are several.
func (p *Predictor) Predict(x []float32, among ...int) ([]Prediction, error) {
	classes, outputs, err := p.among(among)
	if err != nil {
		return nil, fmt.Errorf("pcl: predict: %w", err)
	}
	return p.predict(x, classes, outputs)
}

// PredictTask is Predict for samples of the task with the given id: it chooses among the task's classes.
func (p *Predictor) PredictTask(id int, x []float32) ([]Prediction, error) {
	task, err := p.roll.get(id)
	if err != nil {
		return nil, fmt.Errorf("pcl: predict: %w", err)
	}
	classes, outputs, err := p.outputs(id, task.Classes)
	if err != nil {
		return nil, fmt.Errorf("pcl: predict: %w", err)
	}
	return p.predict(x, classes, outputs)
}

// Outputs returns, for each sample, the outputs of the classifier that belong to the task with the given id, in the order
// of its classes. They are what [Options].Loss compares with the target values; without one they are logits. x is as in
// [Predictor.Predict].
func (p *Predictor) Outputs(id int, x []float32) ([][]float32, error) {
	task, err := p.roll.get(id)
	if err != nil {
		return nil, fmt.Errorf("pcl: predict: %w", err)
	}
	places := make([]int32, len(task.Classes))
	for i, c := range task.Classes {
		places[i], _ = p.heads.Output(id, c) // a task has its classes
	}
	var out [][]float32
	err = p.each(x, func(scores, _ []float32) error {
		own := make([]float32, len(places))
		for i, o := range places {
			own[i] = scores[o]
		}
		out = append(out, own)
		return nil
	})
	return out, err
}

// among finds the outputs of the classes that a prediction chooses among.
func (p *Predictor) among(classes []int) ([]int, []int, error) {
	if p.roll.empty() {
		return nil, nil, errors.New("no task has arrived yet, so there are no classes")
	}
	if p.kit.increment == scenario.ClassIncremental || p.roll.last() == 1 {
		if len(classes) == 0 {
			classes = p.heads.Among(1)
		}
		return p.outputs(1, classes)
	}
	return nil, nil, errors.New("each task has outputs of its own in task-incremental mode: call PredictTask, which names the task")
}

// outputs returns classes in the order of their outputs, and these. The classes are some of those that compete in a task.
func (p *Predictor) outputs(task int, classes []int) (sorted, outputs []int, err error) {
	lo, _ := p.heads.Competing(task)
	all := p.heads.Among(task)
	at := make(map[int]int, len(all))
	for o, c := range all {
		at[c] = o
	}
	for _, c := range classes {
		o, arrived := at[c]
		if !arrived {
			return nil, nil, fmt.Errorf("class %d is not among those that have arrived, which are %v", c, all)
		}
		outputs = append(outputs, o)
	}
	slices.Sort(outputs)
	for i, o := range outputs {
		if i > 0 && all[o] == sorted[i-1] {
			return nil, nil, fmt.Errorf("class %d is given twice", all[o])
		}
		sorted, outputs[i] = append(sorted, all[o]), int(lo)+o
	}
	return sorted, outputs, nil
}

// predict predicts by the given outputs, which are those of the given classes.
func (p *Predictor) predict(x []float32, classes, outputs []int) ([]Prediction, error) {
	if key := p.kit.loss; key != "" {
		return nil, fmt.Errorf("pcl: predict: loss %s has no classes to predict; call Outputs", key)
	}
	var out []Prediction
	err := p.each(x, func(scores, features []float32) error {
		one, err := p.choose(scores, features, classes, outputs)
		if err != nil {
			return fmt.Errorf("pcl: predict: sample %d: %w", len(out), err)
		}
		out = append(out, one)
		return nil
	})
	return out, err
}

// each calls f with the scores of all outputs, and the features, of one sample after another.
func (p *Predictor) each(x []float32, f func(scores, features []float32) error) error {
	width := p.kit.model.Inputs()
	if len(x) == 0 || len(x)%width != 0 {
		return fmt.Errorf("pcl: predict: %d values are not one or more samples of %d values each", len(x), width)
	}
	n := len(x) / width
	for i := range n {
		if !fp.Finite(x[i*width : (i+1)*width]) {
			return fmt.Errorf("pcl: predict: sample %d has a value that is not finite", i)
		}
	}
	p.use.RLock()
	defer p.use.RUnlock()
	if p.closed {
		return ErrClosed
	}
	for together := p.kit.clients(n); len(x) > 0; {
		var some []*described
		var computing errgroup.Group
		for client := 0; client < together && len(x) > 0; client++ {
			samples, size := p.kit.fit(len(x) / width)
			d, part := new(described), x[:samples*width]
			computing.Go(func() error { return p.describe(d, part, size, client) })
			some, x = append(some, d), x[samples*width:]
		}
		if err := computing.Wait(); err != nil {
			return fmt.Errorf("pcl: predict: %w", err)
		}
		for _, d := range some {
			for i := range d.scores {
				if err := f(d.scores[i], d.features[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// described is what a program says of some samples.
type described struct{ scores, features [][]float32 }

// describe computes the scores of all outputs, and the features, of samples that fit in a program of the given size, on a client.
func (p *Predictor) describe(d *described, x []float32, size, client int) (err error) {
	b, err := p.batch(size)
	if err != nil {
		return err
	}
	defer p.put(size, b)
	b.N = copy(b.X, x) / p.kit.model.Inputs()
	b.Ask()
	in, done, err := b.Inputs(p.kit.programs.backend, false)
	if err != nil {
		return err
	}
	defer done()
	in = append([]compute.Buffer{p.theta}, in...)
	if p.statistics != nil {
		in = append(in, p.statistics)
	}
	scores, err := p.kit.sets[size][client].Describe(p.kit.scores)
	if err != nil {
		return err
	}
	out, err := scores.Call(in...)
	if err != nil {
		return err
	}
	defer program.Free(out...)
	if d.scores, err = device.Matrix(out[0], b.N); err != nil {
		return err
	}
	if p.rule == nil {
		d.features = make([][]float32, b.N)
		return nil
	}
	d.features, err = device.Matrix(out[1], b.N)
	return err
}

// choose predicts the class of one sample.
func (p *Predictor) choose(logits, features []float32, classes, outputs []int) (Prediction, error) {
	scores, best, ruled := compared(p.rule, logits, features, classes, outputs)
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 1) || math.IsInf(s, -1) && !ruled {
			return Prediction{}, fmt.Errorf("the score of class %d is not finite (%g): the sample's values are too large", classes[i], s)
		}
	}
	normalise(scores, scores[best])
	return Prediction{Class: classes[best], Name: p.roll.names[classes[best]], Classes: classes, Probabilities: scores}, nil
}

// compared returns the scores of classes, whose outputs are given, and the place of the largest. ruled says that they are the
// rule's and not the logits.
func compared(rule rehearsal.Rule, logits, features []float32, classes, outputs []int) (scores []float64, best int, ruled bool) {
	scores = make([]float64, len(classes))
	for i, o := range outputs {
		scores[i] = float64(logits[o])
	}
	ruled = rule != nil && rule.Compare(features, classes, scores)
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	return scores, best, ruled
}

// normalise turns scores, of which the largest is given, into probabilities, by the softmax.
func normalise(scores []float64, largest float64) {
	total := 0.0
	for i, s := range scores {
		scores[i] = math.Exp(s - largest)
		total += scores[i]
	}
	for i := range scores {
		scores[i] /= total
	}
}

// Close frees what the predictor holds on the device. It waits for predictions that are being made; later ones return
// an error that matches [ErrClosed].
func (p *Predictor) Close() {
	p.use.Lock()
	defer p.use.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	program.Free(p.theta, p.statistics)
	for _, batches := range p.batches {
		for _, b := range batches {
			b.Free()
		}
	}
	p.theta, p.statistics, p.batches = nil, nil, nil
	p.kit.programs.drop()
}

// batch returns a batch of a size. Give it back with put.
func (p *Predictor) batch(size int) (*device.Batch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if free := p.batches[size]; len(free) > 0 {
		p.batches[size] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	return device.NewBatch(p.kit.programs.backend, size, p.kit.model.Inputs())
}

func (p *Predictor) put(size int, b *device.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.batches[size] = append(p.batches[size], b)
}

// prediction is what a learner keeps for its predictors.
type prediction struct {
	kit    *kit // made with the first snapshot, and anew when the classifier has grown
	mu     sync.Mutex
	latest *Predictor // the snapshot that Learner.Predict took last
}

// close lets go of what is kept. Predictors that are still open can be used on.
func (p *prediction) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest != nil {
		p.latest.Close()
	}
	p.latest = nil
}

// kit is what the predictors of a learner share: the network without its parameters, and its programs.
type kit struct {
	programs  *Programs
	model     model.Model
	increment scenario.Increment
	scores    rehearsal.Loss        // says how scores come from features
	loss      string                // the key of Options.Loss; empty if it is of classes
	sets      map[int][]*graphs.Set // by the number of samples that their programs take, 1 and the largest; for each client
	largest   int
}

// compile compiles what predictors need. spec.Batch is the largest number of samples of a program.
func (k *kit) compile(spec graphs.Spec) error {
	k.sets, k.largest = map[int][]*graphs.Set{}, spec.Batch
	spec.Loss = nil // samples to be predicted have no targets
	for _, spec.Batch = range []int{1, k.largest} {
		k.sets[spec.Batch] = k.programs.cache.Sets(spec)
		if _, err := k.sets[spec.Batch][0].Describe(k.scores); err != nil {
			return err
		}
	}
	return nil
}

// predictor makes a predictor of parameters on the device, which it owns, unless there was an error before.
func (k *kit) predictor(p *Predictor, theta compute.Buffer, statistics []float32, err error) (*Predictor, error) {
	k.programs.hold()
	p.kit, p.theta, p.batches = k, theta, map[int][]*device.Batch{}
	if err == nil && len(statistics) > 0 {
		p.statistics, err = program.ToDevice(k.programs.backend.Backend, statistics, len(statistics))
	}
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock, so that this has to happen before
	// several goroutines read the buffers.
	for _, b := range []compute.Buffer{p.theta, p.statistics} {
		if err == nil && b != nil {
			_, err = b.Shape()
		}
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// clients returns on how many clients n samples are predicted. Only many samples are worth compiling for more than the first.
func (k *kit) clients(n int) int {
	if n < 4*k.largest {
		return 1
	}
	return len(k.sets[k.largest])
}

// fit returns how many samples the next batch takes when n are left, and the size of its program. Several small
// batches cost less than one that is nearly empty.
func (k *kit) fit(n int) (samples, size int) {
	if 8*n < k.largest {
		return 1, 1
	}
	return min(n, k.largest), k.largest
}
