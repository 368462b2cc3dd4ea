package pcl

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Snapshot returns a predictor that predicts with the learner as it is now, while the learner
// continues. It waits for the call in progress, if there is one, and must therefore not be called
// from within a stream. A method that predicts by a rule of its own prepares for it, as for
// [Learner.Evaluate]; one that learns from sums does that in the background while tasks run
// ([Predictor.Seen]).
func (l *Learner) Snapshot() (*Predictor, error) {
	return callFor(context.Background(), l, "snapshot", func() (*Predictor, error) { return l.predictor(l.latestRule) })
}

// Preview is Snapshot for programs that renew a predictor often while tasks run: it costs training
// little. A method that compares classes by the means of their samples' features takes these of few
// samples of each class, at most [PreviewSamples], but all of them at the present parameters. For
// other methods, and when no task runs, it is Snapshot.
func (l *Learner) Preview() (*Predictor, error) {
	return callFor(context.Background(), l, "preview", l.preview)
}

func (l *Learner) preview() (*Predictor, error) {
	own, can := l.method.Predictor.(rehearsal.Previewer)
	if !can || len(l.tasks.running) == 0 || l.prediction.current(l.context()) {
		return l.predictor(l.latestRule)
	}
	p, err := l.predictor(func() (at rehearsal.Point, rule rehearsal.Scorer, behind bool, err error) {
		defer recovered(&err, byMethod(l.method)+" panicked")
		rule, err = own.Preview(l.context(), PreviewSamples)
		return rehearsal.Current, rule, false, err
	})
	if err == nil {
		p.preview = true
	}
	return p, err
}

// PreviewSamples is of how many samples of a class [Learner.Preview] takes the mean.
const PreviewSamples = 24

// Predict predicts with the learner as it is after its last step; see [Predictor.Predict]. It may
// be called from any goroutine, but not from within a stream or [Options.Trace]. The first call
// after a step waits for the call in progress and takes a snapshot: to predict often beside
// training, call [Learner.Snapshot] from time to time, and use what it returns.
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
	return l.prediction.newest(func() int { return l.status.Load().version }, l.Snapshot)
}

// rule returns the parameters that predictions are made with, and what is compared if it is not the
// logits.
func (l *Learner) rule() (rehearsal.Point, rehearsal.Scorer, error) {
	return l.prediction.rule(l.context())
}

// predictor takes a snapshot with a rule, for callers that have entered the learner.
func (l *Learner) predictor(
	ruled func() (at rehearsal.Point, rule rehearsal.Scorer, behind bool, err error),
) (*Predictor, error) {
	point, rule, behind, err := ruled()
	if err != nil {
		return nil, err
	}
	o, at := l.options, l.network.at(l.network.point(point))
	p := &Predictor{
		outside: o.Features, programs: o.Programs, method: l.method.Info.Name, image: o.Image,
		scores: lossOf(l.method, method.MemoryID),
		loss:   keyOf(o.compared()), registry: l.tasks.registry, rule: rule, behind: behind, steps: l.steps,
		version: l.version,
	}
	a, err := answeringOn(o.Backend)
	if err != nil {
		return nil, err
	}
	theta, err := l.prediction.copyOf(a, l.network, at.Theta)
	if err != nil {
		return nil, err
	}
	return p.open(a, o.spec(), theta, at.Running)
}

// latestRule is rule, but while tasks run a method that learns from sums gives the last rule that
// it has, which may be behind, and makes the next one meanwhile.
func (l *Learner) latestRule() (at rehearsal.Point, rule rehearsal.Scorer, behind bool, err error) {
	m := l.method.Analytic
	if m == nil || len(l.tasks.running) == 0 {
		at, rule, err = l.rule()
		return at, rule, false, err
	}
	defer recovered(&err, byMethod(l.method)+" panicked")
	rule, current, err := m.Latest()
	return rehearsal.Current, rule, !current, err
}

// Network returns the network with which the learner predicts at present. A method that predicts by
// a rule of its own prepares for it, as for [Learner.Evaluate].
func (l *Learner) Network() (*Network, error) {
	return callFor(context.Background(), l, "trained network", l.trained)
}

func (l *Learner) trained() (*Network, error) {
	point, rule, o := rehearsal.Current, rehearsal.Scorer(nil), l.options
	if !l.tasks.registry.empty() {
		var err error
		if point, rule, err = l.rule(); err != nil {
			return nil, err
		}
	}
	at := l.network.at(l.network.point(point))
	values, err := l.network.read(at.Theta)
	if err != nil {
		return nil, err
	}
	t := &Network{
		Model: o.Model.Key(), Method: l.method.Info.Name, Steps: l.steps, Increment: o.Increment, Image: o.Image,
		Tasks: l.Tasks(), Names: maps.Clone(l.tasks.registry.names), Loss: keyOf(o.compared()),
		Scores: scoresOf(lossOf(l.method, method.MemoryID)), Tensors: tensors(o.Model.Layout(), values, at.Running),
	}
	t.compareBy(rule)
	return t, nil
}

// prediction owns how a learner predicts: whether its method has prepared for the present
// parameters, and the snapshot that [Learner.Predict] took last.
type prediction struct {
	prepared int     // one more than the steps made when the method last prepared; for the caller whose turn it is
	copied   *shared // the present θ, if a snapshot has copied it; for the caller whose turn it is
	edition  int     // of the network when it was copied

	mu     sync.Mutex
	latest *Predictor
}

// outdate has the method prepare again, since a task has come or gone or the parameters were
// replaced.
func (p *prediction) outdate() { p.prepared = 0 }

// current says whether the method has prepared for the present parameters.
func (p *prediction) current(c methodContext) bool { return p.prepared == c.number+1 }

// copyOf returns a copy of parameters for one more predictor: that of an earlier one, if they are
// the network's own and have not changed since.
func (p *prediction) copyOf(a *answering, n *network, theta compute.Buffer) (*shared, error) {
	own := theta == n.theta
	if own && p.copied != nil && p.edition == n.edition {
		return p.copied.hold(), nil
	}
	values, err := n.read(theta)
	if err != nil {
		return nil, err
	}
	copied, err := a.share(values, n.layout())
	if err == nil && own {
		p.copied.drop()
		p.copied, p.edition = copied.hold(), n.edition
	}
	return copied, err
}

// rule returns the parameters that predictions are made with, and what is compared if it is not the
// logits. A method that predicts by a rule of its own prepares for it once after each step that was
// made or task that came or went.
func (p *prediction) rule(c methodContext) (at rehearsal.Point, rule rehearsal.Scorer, err error) {
	own := c.method.Predictor
	if own == nil {
		return rehearsal.Current, nil, nil
	}
	defer recovered(&err, byMethod(c.method)+" panicked")
	if !p.current(c) {
		if err := own.Prepare(c); err != nil {
			return 0, nil, err
		}
		p.prepared = c.number + 1
	}
	at, rule = own.Snapshot()
	return at, rule, nil
}

// newest returns the last snapshot if it is of the present version, and otherwise takes another.
func (p *prediction) newest(version func() int, take func() (*Predictor, error)) (*Predictor, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.latest
	if old != nil && old.version == version() && !old.behind {
		return old, nil
	}
	taken, err := take()
	if err != nil {
		return nil, err
	}
	if old != nil {
		old.Close()
	}
	p.latest = taken
	return taken, nil
}

// close lets go of the last snapshot. Predictors that are still open can be used on.
func (p *prediction) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest != nil {
		p.latest.Close()
	}
	p.latest = nil
	p.copied.drop()
	p.copied = nil
}
