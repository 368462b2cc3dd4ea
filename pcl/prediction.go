package pcl

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/scenario"
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
		if l.prediction.kit, err = newKit(l.options.Programs, l.options.spec(), l.options.about()); err != nil {
			return nil, err
		}
	}
	p := &Predictor{
		kit: l.prediction.kit, heads: l.heads.Clone(), roll: l.roll, paused: pauses(l.tasks), rule: rule, steps: l.step, version: l.version,
	}
	p.kit.hold()
	theta := lab{l}.at(at)
	p.theta, err = program.Copy(theta, l.programs.Total())
	return p, p.ready(l.statisticsOf(theta), err)
}

// ready copies the statistics to the device, unless there was an error before, and asks for the shapes of the buffers. XLA's
// binding caches a buffer's shape when it is first asked for, without a lock, so that this has to happen before several
// goroutines read the buffers. After an error the predictor is closed.
func (p *Predictor) ready(statistics []float32, err error) error {
	if err == nil && len(statistics) > 0 {
		p.statistics, err = program.ToDevice(p.kit.programs.backend.Backend, statistics, len(statistics))
	}
	for _, b := range []compute.Buffer{p.theta, p.statistics} {
		if err == nil && b != nil {
			_, err = b.Shape()
		}
	}
	if err != nil {
		p.Close()
	}
	return err
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
	scores   map[int]*program.Program // by the number of samples that they take: 1 and the learner's batch
	largest  int                      // of these numbers
	about    about

	mu      sync.Mutex
	users   int // open predictors, and the learner
	batches map[int][]*device.Batch
}

// about is what a predictor knows of the network beside its values.
type about struct {
	model     model.Model
	method    string
	image     Image
	increment scenario.Increment
	scores    rehearsal.Loss // says how scores come from features
	lossKey   string         // of Options.Loss; empty if there is none
}

func (o *Options) about() about {
	return about{o.Model, o.Method.Info().Name, o.Image, o.Increment, o.lossOf(method.Memory), o.lossKey()}
}

// newKit compiles what predictors need. spec.Batch is the largest number of samples of a program.
func newKit(programs *Programs, spec graphs.Spec, about about) (*kit, error) {
	k := &kit{
		programs: programs, scores: map[int]*program.Program{}, largest: spec.Batch, about: about, users: 1, batches: map[int][]*device.Batch{},
	}
	spec.Loss, spec.Weighted = nil, false // samples to be predicted have neither targets nor weights
	for _, spec.Batch = range []int{1, k.largest} {
		p, err := k.programs.cache.Sets(spec)[0].Describe(about.scores)
		if err != nil {
			return nil, err
		}
		k.scores[spec.Batch] = p
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
	return device.NewBatch(k.programs.backend, size, k.about.model.Inputs())
}

func (k *kit) put(size int, b *device.Batch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.batches[size] = append(k.batches[size], b)
}

// fit returns how many samples the next batch takes when n are left, and the size of its program. Several small
// batches cost less than one that is nearly empty.
func (k *kit) fit(n int) (samples, size int) {
	if 8*n < k.largest {
		return 1, 1
	}
	return min(n, k.largest), k.largest
}
