package pcl

import (
	"errors"
	"maps"

	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Inputs returns how many values a sample has.
func (p *Predictor) Inputs() int {
	if p.outside != nil {
		return p.outside.Inputs()
	}
	return p.model.Inputs()
}

// Network returns the network that the predictor predicts with, for a file from which
// [NewPredictor] makes another predictor. It asks nothing of the learner.
func (p *Predictor) Network() (*Network, error) {
	p.use.RLock()
	defer p.use.RUnlock()
	if p.closed {
		return nil, ErrClosed
	}
	if p.registry.empty() {
		return nil, errors.New("pcl: network of a predictor: no task has arrived yet")
	}
	theta, err := p.theta.read()
	if err != nil {
		return nil, err
	}
	t := &Network{
		Model: p.model.Key(), Method: p.method, Steps: p.steps, Increment: p.registry.increment, Image: p.image,
		Tasks: p.registry.infos(nil), Names: maps.Clone(p.registry.names), Loss: p.loss,
		Scores: scoresOf(p.scores), Tensors: tensors(p.model.Layout(), theta, p.statistics),
	}
	t.compareBy(p.rule)
	return t, nil
}

// compareBy notes how a network's learner compares classes.
func (t *Network) compareBy(rule rehearsal.Scorer) {
	m, known := rehearsal.MeansOf(rule)
	t.OtherScorer = rule != nil && !known
	if sums, ok := rule.(*analytic.Weights); ok {
		t.Sums = new(sums.Map())
	}
	if m != nil && !(m.BetweenTasks && t.Increment == "task") {
		t.Means = m
	}
}
