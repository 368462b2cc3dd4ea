package pcl

import (
	"errors"
	"fmt"
	"sync"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// prediction is what a learner keeps for its predictors.
type prediction struct {
	kit    *kit // made with the first snapshot
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
	if p.kit != nil {
		p.kit.release()
	}
	p.latest, p.kit = nil, nil
}

// renew makes the next snapshot compile its programs anew.
func (p *prediction) renew() {
	if p.kit != nil {
		p.kit.release()
		p.kit = nil
	}
}

// Snapshot returns a predictor that predicts with the learner as it is now, while the learner continues. It waits for
// the call in progress, if there is one, and must therefore not be called from within a stream. A method that
// predicts by a rule of its own prepares for it, as for [Learner.Evaluate].
func (l *Learner) Snapshot() (*Predictor, error) {
	if err := l.await(); err != nil {
		return nil, err
	}
	defer l.leave()
	p, err := l.predictor()
	if err != nil {
		return nil, fmt.Errorf("pcl: snapshot: %w", err)
	}
	return p, nil
}

// Predict predicts with the learner as it is after its last step; see [Predictor.Predict]. It may be called from any
// goroutine, but not from within a stream or [Options.Trace]. The first call after a step waits for the call in progress
// and takes a snapshot: to predict often beside training, call [Learner.Snapshot] from time to time, and use what it returns.
func (l *Learner) Predict(x []float32, among ...int) ([]Prediction, error) {
	for {
		p, err := l.latest()
		if err != nil {
			return nil, err
		}
		out, err := p.Predict(x, among...)
		if !errors.Is(err, ErrClosed) { // a later snapshot has taken its place
			return out, err
		}
	}
}

// latest returns a snapshot of the present learner.
func (l *Learner) latest() (*Predictor, error) {
	l.prediction.mu.Lock()
	defer l.prediction.mu.Unlock()
	old := l.prediction.latest
	if old != nil && old.version == l.status.Load().version {
		return old, nil
	}
	p, err := l.Snapshot()
	if err != nil {
		return nil, err
	}
	if old != nil {
		old.Close()
	}
	l.prediction.latest = p
	return p, nil
}

// predictor takes a snapshot, for callers that have entered the learner.
func (l *Learner) predictor() (*Predictor, error) {
	at, rule, err := l.ruleNow()
	if err != nil {
		return nil, err
	}
	if l.prediction.kit == nil {
		o := &l.options
		about := about{model: o.Model, method: o.Method.Info().Name, image: o.Image, loss: o.lossOf(method.Memory)}
		if l.prediction.kit, err = newKit(o.Programs, o.spec(), about); err != nil {
			return nil, err
		}
	}
	theta, err := lab{l}.at(at)
	if err != nil {
		return nil, err
	}
	p := &Predictor{
		kit: l.prediction.kit, heads: l.heads.Clone(), roll: l.roll, paused: pauses(l.tasks), rule: rule,
		steps: l.step, version: l.version, increment: l.options.Increment, loss: l.options.lossKey(), names: l.roll.names,
	}
	if p.theta, err = program.Copy(theta, l.programs.Total()); err != nil {
		return nil, err
	}
	if s := l.statisticsOf(theta); s != nil {
		if p.statistics, err = program.ToDevice(l.options.Backend, s, len(s)); err != nil {
			program.Free(p.theta)
			return nil, err
		}
	}
	p.kit.hold()
	if err := p.warm(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// ruleNow returns the parameters that predictions are made with, and what is compared if it is not the logits.
func (l *Learner) ruleNow() (rehearsal.Point, rehearsal.Rule, error) {
	own, ok := method.As[rehearsal.Predictor](l.options.Method)
	if !ok {
		return rehearsal.Now, nil, nil
	}
	if err := l.prepare(); err != nil {
		return 0, nil, err
	}
	at, rule := own.Snapshot()
	return at, rule, nil
}

// kit is what the predictors of a learner share: the programs, and batches that are not in use.
type kit struct {
	programs *Programs
	sets     map[int][]*graphs.Set // by the number of samples that their programs take, for each client
	sizes    []int                 // of the programs: 1 and the learner's batch
	inputs   int
	outputs  int
	about    about

	mu      sync.Mutex
	users   int // open predictors, and the learner
	batches map[int][]*device.Batch
}

// about is what a predictor knows of the network beside its values.
type about struct {
	model  model.Model
	method string
	image  Image
	loss   rehearsal.Loss // says how scores come from features
}

// newKit compiles what predictors need. spec.Batch is the largest number of samples of a program.
func newKit(programs *Programs, spec graphs.Spec, about about) (*kit, error) {
	k := &kit{
		programs: programs, sets: map[int][]*graphs.Set{}, inputs: about.model.Inputs(), outputs: about.model.Outputs(),
		about: about, users: 1, batches: map[int][]*device.Batch{},
	}
	for _, size := range []int{1, spec.Batch} {
		if k.sets[size] != nil {
			continue
		}
		spec := spec
		spec.Batch, spec.Loss, spec.Weighted = size, nil, false // samples to be predicted have neither targets nor weights
		k.sets[size], k.sizes = k.programs.cache.Sets(spec), append(k.sizes, size)
		if _, err := k.sets[size][0].Describe(about.loss); err != nil {
			return nil, err
		}
	}
	k.programs.hold()
	return k, nil
}

func (k *kit) hold() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.users++
}

// release lets go of the kit. The last user frees it.
func (k *kit) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users--; k.users > 0 {
		return
	}
	for _, batches := range k.batches {
		for _, b := range batches {
			b.Free()
		}
	}
	k.batches = nil
	k.programs.drop()
}

// batch returns an empty batch of a size. Give it back with put.
func (k *kit) batch(size int) (*device.Batch, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if free := k.batches[size]; len(free) > 0 {
		k.batches[size] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	return device.NewBatch(k.programs.backend, size, k.inputs)
}

func (k *kit) put(size int, b *device.Batch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.batches[size] = append(k.batches[size], b)
}

// clients returns on how many clients n samples are predicted. Only many samples are worth compiling for more than the first.
func (k *kit) clients(n int) int {
	whole := k.sizes[len(k.sizes)-1]
	if n < 4*whole {
		return 1
	}
	return len(k.sets[whole])
}

// fit returns how many samples the next batch takes when n are left, and the size of its program. Several small
// batches cost less than one that is nearly empty.
func (k *kit) fit(n int) (samples, size int) {
	whole := k.sizes[len(k.sizes)-1]
	if 8*n < whole {
		return 1, 1
	}
	return min(n, whole), whole
}
