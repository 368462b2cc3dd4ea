package method

import (
	"encoding/json"
	"iter"

	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

func init() {
	Register(Info{
		Name: "simplecil", Title: "SimpleCIL", Family: "scl",
		Rule:   "no training; predicted is the class whose mean feature vector has the largest cosine with the sample's",
		Source: "Zhou et al., Revisiting Class-Incremental Learning with Pre-Trained Models, arXiv 2303.07338",
		Cost:   "none per step", State: "D numbers for each class", SumW: "1 (not used)",
	}, func() Method { return new(SimpleCIL) })
	Register(Info{
		Name: "lda", Title: "LDA", Family: "scl",
		Rule: "no training; linear discriminant analysis on the features, whose covariance is shrunk by D/(D+n) towards " +
			"its mean variance",
		Source: "Hayes & Kanan, Lifelong Machine Learning with Deep Streaming Linear Discriminant Analysis, arXiv " +
			"1909.01520; exact sums: docs/method.md §12",
		Cost: "none per step; D³/6 per evaluation", State: "D²/2 numbers, and D for each class", SumW: "1 (not used)",
	}, func() Method { return new(LDA) })
	Register(Info{
		Name: "ranpac", Title: "RanPAC", Family: "scl",
		Rule:   "no training; ridge regression on M random features max(0, xR), with R of ±1 and λ = 0.03·tr(G)/M",
		Source: "McDonnell et al., RanPAC: Random Projections and Pre-trained Models for Continual Learning, arXiv 2307.02251",
		Cost:   "none per step; M³/6 per evaluation", State: "M²/2 numbers, and M for each class", SumW: "1 (not used)",
	}, func() Method { return new(RanPAC) })
}

// SimpleCIL is the method "simplecil": it predicts by the cosine with class means (docs/method.md
// §12.2).
type SimpleCIL struct {
	Keep bool `param:"keep" default:"false" doc:"keep the sums of each task, so that it can be unlearnt without its samples"`
	sumsOf
}

// Start makes the sums.
func (m *SimpleCIL) Start() error { return m.start(analytic.ClassMeans{}, m.Keep) }

// LDA is the method "lda": exact linear discriminant analysis on features (docs/method.md §12.2).
type LDA struct {
	Keep bool `param:"keep" default:"false" doc:"keep the sums of each task, so that it can be unlearnt without its samples"`
	sumsOf
}

// Start makes the sums.
func (m *LDA) Start() error { return m.start(analytic.LDA{}, m.Keep) }

// RanPAC is the method "ranpac": ridge regression on random features of the features
// (docs/method.md §12.2).
type RanPAC struct {
	M    float64 `param:"m" default:"2000" range:"whole [1,32768]" doc:"number of random features; 5000 for tens of thousands of samples"`
	Draw float64 `param:"draw" default:"0" range:"whole [0,4294967295]" doc:"seed of the random features; the run's own seed does not change them"`
	Keep bool    `param:"keep" default:"false" doc:"keep the sums of each task, so that it can be unlearnt without its samples"`
	sumsOf
}

// Start makes the sums.
func (m *RanPAC) Start() error {
	return m.start(&analytic.RanPAC{M: int(m.M), Seed: uint64(m.Draw)}, m.Keep)
}

// sumsOf is what the analytic methods have in common.
type sumsOf struct {
	idle
	model *analytic.Model
}

func (s *sumsOf) start(head analytic.Head, keep bool) error {
	s.model = analytic.New(head, keep)
	return nil
}

// Store adds the samples that are seen for the first time to the sums.
func (s *sumsOf) Store(_ rehearsal.Context, current [][]memory.Item) error {
	for _, batch := range current {
		for _, it := range batch {
			if err := s.model.Add(it.Task, it.Class, it.Pixels); err != nil {
				return err
			}
		}
	}
	return nil
}

// Prepare solves for the weights of all samples.
func (s *sumsOf) Prepare(rehearsal.PredictContext) error {
	_, err := s.model.Weights()
	return err
}

// Snapshot returns the weights that Prepare has made.
func (s *sumsOf) Snapshot() (rehearsal.Point, rehearsal.Scorer) {
	rule, _, _ := s.Latest()
	return rehearsal.Current, rule
}

// Latest returns the last weights; see [Analytic].
func (s *sumsOf) Latest() (rehearsal.Scorer, bool, error) {
	w, current, err := s.model.Latest()
	if w == nil {
		return nil, current, err
	}
	return w, current, err
}

// Admit returns an error if features are negative or not finite.
func (s *sumsOf) Admit(x []float32) error { return analytic.Admit(x) }

// Unlearn takes a task's samples from the sums.
func (s *sumsOf) Unlearn(task int, samples iter.Seq2[int, []float32]) error {
	return s.model.Unlearn(task, samples)
}

// Bytes returns how large the sums are.
func (s *sumsOf) Bytes() int { return s.model.Bytes() }

// Seen returns how many samples the sums have.
func (s *sumsOf) Seen() int { return s.model.Seen() }

// Limits say that the method is for classes.
func (s *sumsOf) Limits() rehearsal.Limits { return rehearsal.Limits{Classes: true} }

// End does nothing: the sums of a task stay.
func (s *sumsOf) End(int) {}

// MarshalState returns the sums.
func (s *sumsOf) MarshalState() (json.RawMessage, error) { return s.model.MarshalJSON() }

// UnmarshalState restores them.
func (s *sumsOf) UnmarshalState(text json.RawMessage) error { return s.model.UnmarshalJSON(text) }
