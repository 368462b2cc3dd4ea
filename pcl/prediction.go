package pcl

import (
	"context"
	"errors"
	"maps"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Snapshot returns a predictor that predicts with the learner as it is now, while the learner continues. It waits for
// the call in progress, if there is one, and must therefore not be called from within a stream. A method that
// predicts by a rule of its own prepares for it, as for [Learner.Evaluate].
func (l *Learner) Snapshot() (*Predictor, error) {
	return callFor(context.Background(), l, "snapshot", l.predictor)
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
	o, theta := l.options, methodContext{l: l}.at(at)
	p := &Predictor{
		programs: o.Programs, scores: lossOf(l.method, method.MemoryID), loss: keyOf(o.compared()),
		roll: l.roll, rule: rule, steps: l.steps, version: l.version,
	}
	values, err := program.Read[float32](theta, l.total())
	if err != nil {
		return nil, err
	}
	copied, err := program.ToDevice(o.Backend, values, l.total())
	if err != nil {
		return nil, err
	}
	return p.open(o.spec(), copied, l.at(theta).Running)
}

// Network returns the network with which the learner predicts at present. A method that predicts by a rule of its own
// prepares for it, as for [Learner.Evaluate].
func (l *Learner) Network() (*Network, error) {
	return callFor(context.Background(), l, "trained network", l.trained)
}

func (l *Learner) trained() (*Network, error) {
	at, rule, o := rehearsal.Current, rehearsal.Scorer(nil), l.options
	if !l.roll.empty() {
		var err error
		if at, rule, err = l.ruleNow(); err != nil {
			return nil, err
		}
	}
	theta := methodContext{l: l}.at(at)
	values, err := program.Read[float32](theta, l.total())
	if err != nil {
		return nil, err
	}
	t := &Network{
		Model: o.Model.Key(), Method: l.method.Info.Name, Steps: l.steps, Increment: o.Increment, Image: o.Image, Tasks: l.Tasks(),
		Names: maps.Clone(l.roll.names), Loss: keyOf(o.compared()), Scores: scoresOf(lossOf(l.method, method.MemoryID)),
		Tensors: tensors(o.Model.Layout(), values, l.at(theta).Running),
	}
	m, known := rehearsal.MeansOf(rule)
	t.OtherScorer = rule != nil && !known
	if m != nil && !(m.BetweenTasks && o.Increment == "task") {
		t.Means = m
	}
	return t, nil
}
