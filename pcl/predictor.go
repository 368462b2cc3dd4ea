package pcl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Predictor predicts with a learner as it was when [Learner.Snapshot] was called. It never changes,
// and may be used by any number of goroutines while the learner trains, and after the learner was
// closed. Close it before the backend is closed; an unreachable one is freed without Close.
type Predictor struct {
	outside  Features // of the samples; nil if the model takes these
	programs *Programs
	model    model.Model
	scores   rehearsal.Loss        // says how scores come from features
	loss     string                // the key of Options.Loss; empty if it is of classes
	sets     map[int][]*device.Set // by the samples that a program takes, one or many; for each client
	many     int
	enough   int // for how few samples a program for many is used

	registry registry
	rule     rehearsal.Scorer // compares classes; nil if the logits do
	behind   bool             // whether a rule for more samples is being made
	preview  bool             // whether the rule is made of few samples
	method   string           // its name
	image    Image
	steps    int
	version  int // of the learner

	use        sync.RWMutex // held for reading by predictions, for writing by Close
	closed     bool
	theta      *shared
	statistics []float32 // nil if the model has none

	mu      sync.Mutex
	batches map[int][]*device.Batch // those that are not in use, by their size
}

// Prediction is what is predicted for one sample.
type Prediction struct {
	// Class is the most probable of the classes, and Name its name, if it has one.
	Class int    `json:"class"`
	Name  string `json:"name,omitempty"`
	// Classes are those that the prediction chose among, in the order of their outputs, and
	// Probabilities are theirs, which add up to 1. They are the softmax of the logits or, for a
	// method that predicts by the nearest mean of the features, of −d², where d is the distance
	// from the class's mean; these only rank the classes. The predictions of one call share their
	// Classes, which must not be changed.
	Classes       []int     `json:"classes"`
	Probabilities []float64 `json:"probabilities"`
}

// Steps returns how many steps the learner had made.
func (p *Predictor) Steps() int { return p.steps }

// Newer says whether p was made of a later state of the same learner than q, or of the same state
// where only q is a preview ([Learner.Preview]).
func (p *Predictor) Newer(q *Predictor) bool {
	return p.version > q.version || p.version == q.version && q.preview && !p.preview
}

// Classes returns the classes of the tasks that had arrived, each once, in order of arrival.
func (p *Predictor) Classes() []int { return slices.Clone(p.registry.classes) }

// Predict predicts the classes of samples, whose values lie in x one after another, as those of the
// training samples.
//
// A prediction chooses among all classes that had arrived or, if any are given, among the given
// ones. In task-incremental mode, where each task has outputs of its own, call
// [Predictor.PredictTask] if there are several.
func (p *Predictor) Predict(x []float32, among ...int) ([]Prediction, error) {
	return predicting(func() ([]Prediction, error) {
		if p.registry.empty() {
			return nil, errors.New("no task has arrived yet, so there are no classes")
		}
		if p.registry.increment != "class" && p.registry.last() > 1 {
			return nil, errors.New(
				"each task has outputs of its own in task-incremental mode: call PredictTask, which names the task")
		}
		if len(among) == 0 {
			among = p.registry.among(1)
		}
		return p.predict(x, 1, among)
	})
}

// PredictTask is Predict for samples of the task with the given id: it chooses among the task's
// classes.
func (p *Predictor) PredictTask(id int, x []float32) ([]Prediction, error) {
	return predicting(func() ([]Prediction, error) {
		task, err := p.registry.get(id)
		if err != nil {
			return nil, err
		}
		return p.predict(x, id, task.Classes)
	})
}

// Outputs returns, for each sample, the outputs of the classifier that belong to the task with the
// given id, in the order of its classes. They are what [Options].Loss compares with the target
// values; without one they are logits. x is as in [Predictor.Predict].
func (p *Predictor) Outputs(id int, x []float32) ([][]float32, error) {
	return predicting(func() (out [][]float32, err error) {
		task, err := p.registry.get(id)
		if err != nil {
			return nil, err
		}
		classes := task.Classes
		if err := p.each(x, func(scores, _ []float32) error {
			own := make([]float32, len(classes))
			for i, c := range classes {
				output, err := p.registry.output(id, c)
				if err != nil {
					return err
				}
				own[i] = scores[output]
			}
			out = append(out, own)
			return nil
		}); err != nil {
			return nil, err
		}
		return out, nil
	})
}

// predicting makes one call to a predictor.
func predicting[T any](f func() (T, error)) (out T, err error) {
	if out, err = f(); err != nil && err != ErrClosed {
		err = fmt.Errorf("pcl: predict: %w", err)
	}
	return out, err
}

// outputs returns classes in the order of their outputs, and these. The classes are some of those
// that compete in a task.
func (p *Predictor) outputs(task int, classes []int) (sorted, outputs []int, err error) {
	lo, _ := p.registry.competing(task)
	all := p.registry.among(task)
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
		sorted, outputs[i] = append(sorted, all[o]), lo+o
	}
	return sorted, outputs, nil
}

// predict chooses among classes of a task.
func (p *Predictor) predict(x []float32, task int, classes []int) (out []Prediction, err error) {
	if p.loss != "" {
		return nil, fmt.Errorf("loss %s has no classes to predict; call Outputs", p.loss)
	}
	classes, outputs, err := p.outputs(task, classes)
	if err != nil {
		return nil, err
	}
	if scorer, ok := p.rule.(rehearsal.InputScorer); ok {
		return p.byInputs(scorer, x, classes)
	}
	if err := p.each(x, func(scores, features []float32) error {
		one, err := p.choose(len(out), scores, features, classes, outputs)
		out = append(out, one)
		return err
	}); err != nil {
		return nil, err
	}
	return out, nil
}

// inputs returns what the model takes of samples, or an error if x is not the values of samples.
func (p *Predictor) inputs(x []float32) ([]float32, error) {
	width := p.model.Inputs()
	if p.outside != nil {
		width = p.outside.Inputs()
	}
	if len(x) == 0 || len(x)%width != 0 {
		return nil, fmt.Errorf("%d values are not one or more samples of %d values each", len(x), width)
	}
	for i := range len(x) / width {
		if !fp.Finite(x[i*width : (i+1)*width]) {
			return nil, fmt.Errorf("sample %d has a value that is not finite", i)
		}
	}
	return describe(p.outside, x)
}

// byInputs predicts with a scorer that does not ask the network.
func (p *Predictor) byInputs(scorer rehearsal.InputScorer, x []float32, classes []int) (out []Prediction, err error) {
	if x, err = p.inputs(x); err != nil {
		return nil, err
	}
	p.use.RLock()
	defer p.use.RUnlock()
	if p.closed {
		return nil, ErrClosed
	}
	scores, err := scorer.ScoreInputs(x, classes)
	for _, of := range scores {
		best := largest(of)
		normalise(of, of[best])
		class := classes[best]
		one := Prediction{Class: class, Name: p.registry.names[class], Classes: classes, Probabilities: of}
		out = append(out, one)
	}
	return out, err
}

// Seen returns how many samples the predictions are made from, and whether these are all that the
// learner had seen when the snapshot was taken. It is about methods that learn from sums
// (docs/method.md §12); for others it returns 0 and true.
func (p *Predictor) Seen() (samples int, all bool) {
	if scorer, ok := p.rule.(rehearsal.InputScorer); ok {
		return scorer.Seen(), !p.behind
	}
	return 0, true
}

// each calls f with the scores of all outputs, and the features, of one sample after another.
func (p *Predictor) each(x []float32, f func(scores, features []float32) error) error {
	x, err := p.inputs(x)
	if err != nil {
		return err
	}
	p.use.RLock()
	defer p.use.RUnlock()
	if p.closed {
		return ErrClosed
	}
	width := p.model.Inputs()
	for together := p.clients(len(x) / width); len(x) > 0; {
		var some []*described
		var computing errgroup.Group
		for client := 0; client < together && len(x) > 0; client++ {
			samples, size := p.fit(len(x) / width)
			d, part := new(described), x[:samples*width]
			computing.Go(func() error { return p.describe(d, part, size, client) })
			some, x = append(some, d), x[samples*width:]
		}
		if err := computing.Wait(); err != nil {
			return err
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

// describe computes the scores of all outputs, and the features, of samples that fit in a program
// of the given size, on a client.
func (p *Predictor) describe(d *described, x []float32, size, client int) error {
	b, err := p.batch(size)
	if err != nil {
		return err
	}
	defer p.put(size, b)
	b.N = copy(b.X, x) / p.model.Inputs()
	whichever := func(int, int) (device.Target, error) { return device.Target{Hi: 1, TaskHi: 1}, nil }
	if err := b.Aim(whichever, rehearsal.Loss{}, 0); err != nil {
		return err
	}
	d.scores, d.features, err = p.sets[size][client].Describe(p.at(), b, p.scores)
	if _, ok := p.rule.(rehearsal.ValueScorer); ok {
		d.features = rowsOf(x, p.model.Inputs())
	}
	return err
}

func (p *Predictor) at() device.At { return p.theta.at(p.statistics) }

// choose predicts the class of one sample.
func (p *Predictor) choose(sample int, logits, features []float32, classes, outputs []int) (Prediction, error) {
	scores, best, ruled := compared(p.rule, logits, features, classes, outputs)
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 1) || math.IsInf(s, -1) && !ruled {
			return Prediction{}, fmt.Errorf(
				"sample %d: the score of class %d is not finite (%g): the sample's values are too large",
				sample, classes[i], s)
		}
	}
	normalise(scores, scores[best])
	class := classes[best]
	return Prediction{Class: class, Name: p.registry.names[class], Classes: classes, Probabilities: scores}, nil
}

// compared returns the scores of classes, whose outputs are given, and the place of the largest.
// ruled says that they are the rule's and not the logits.
func compared(
	rule rehearsal.Scorer, logits, features []float32, classes, outputs []int,
) (scores []float64, best int, ruled bool) {
	scores = make([]float64, len(classes))
	for i, o := range outputs {
		scores[i] = float64(logits[o])
	}
	ruled = rule != nil && rule.Score(features, classes, scores)
	return scores, largest(scores), ruled
}

// largest is the place of the largest score, the first of several.
func largest(scores []float64) (best int) {
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	return best
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

// Close frees what the predictor holds on the device. It waits for predictions that are being made;
// later ones return an error that matches [ErrClosed].
func (p *Predictor) Close() {
	p.use.Lock()
	defer p.use.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.theta.drop()
	for _, batches := range p.batches {
		for _, b := range batches {
			b.Free()
		}
	}
	p.theta, p.batches = nil, nil
	p.programs.drop()
}

// batch returns a batch of a size. Give it back with put.
func (p *Predictor) batch(size int) (*device.Batch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if free := p.batches[size]; len(free) > 0 {
		p.batches[size] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	return p.sets[size][0].NewBatch()
}

func (p *Predictor) put(size int, b *device.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.batches[size] = append(p.batches[size], b)
}

// open readies the predictor for a network with parameters on a client that answers, of which it
// owns a share. spec.Batch is the largest number of samples of a program.
func (p *Predictor) open(a *answering, spec device.Spec, theta *shared, statistics []float32) (*Predictor, error) {
	p.programs.hold()
	p.model, p.many, p.theta = spec.Model, spec.Batch, theta
	p.enough = enough(spec)
	p.sets, p.batches = map[int][]*device.Set{}, map[int][]*device.Batch{}
	p.statistics = append(p.statistics, statistics...)
	for _, spec.Batch = range []int{1, p.many} {
		var err error
		if p.sets[spec.Batch], err = a.sets(spec, p.at(), p.scores); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// clients returns on how many clients n samples are predicted. Only many samples are worth
// compiling for more than the first.
func (p *Predictor) clients(n int) int {
	if n < 4*p.many {
		return 1
	}
	return len(p.sets[p.many])
}

// fit returns how many samples the next batch takes when n are left, and the size of its program.
// Several small batches cost less than one that is nearly empty.
func (p *Predictor) fit(n int) (samples, size int) {
	if n < p.enough {
		return 1, 1
	}
	return min(n, p.many), p.many
}
