package method

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(elasticInfo("emgd-gmc", "EMGD (GMC)", "σ = softmax(m/τ), m the moving average of ‖Jᵢ‖",
		"mᵢ per stream"), func() Method {
		return new(EMGDGMC)
	})
	Register(elasticInfo("emgd-gs", "EMGD (GS)", "σ = softmax(Σₖcos(Jᵢ,Jₖ)/τ)", "none"), func() Method {
		return new(EMGDGS)
	})
	Register(elasticInfo("emgd-log", "EMGD (log GMC)", "σ in proportion to m^(1/τ), m the moving average of ‖Jᵢ‖",
		"mᵢ per stream"), func() Method {
		return new(EMGDLog)
	})
}

func elasticInfo(name, title, factors, state string) Info {
	return Info{
		Name: name, Title: title, Family: "pcl",
		Rule:   "argmin ‖Σ λᵢJᵢ‖², Σ λᵢσᵢ = 1, λ ≥ 0, d = Σ λᵢJᵢ; " + factors,
		Source: "Lyu et al., Elastic Multi-Gradient Descent for Parallel Continual Learning, arXiv 2401.01054",
		Cost:   "K(F+B) + Gram O(K²P) + a K×K dual", State: state, SumW: "1/σ_max ≤ Σλ ≤ 1/σ_min",
	}
}

// EMGDGMC is the method "emgd-gmc", Elastic Multi-Gradient Descent (Lyu et al. 2024) with factors
// from the gradients' lengths: σ = softmax(m/τ), where m are moving averages of the lengths
// (docs/method.md §2).
type EMGDGMC struct {
	Tau      Temperature `param:"tau" default:"5" doc:"softmax temperature τ of the elastic factors, in units of the gradient norm; a number, \"inf\", or \"auto\": the moving average of the norms"`
	Momentum *float64    `param:"momentum" default:"0.9" range:"[0,1)" doc:"ε₁, share of the past in the moving average of the norms, m ← ε₁m + (1−ε₁)‖J‖"`
	Floor    Floor       `param:"floor" default:"0" doc:"lower bound of every λ: a number, or \"release\" for 1/(K+1), which gives up the Pareto guarantee"`

	elastic
}

// Start sets the method up.
func (m *EMGDGMC) Start() error { return m.set(emgd.GMC, m.Tau, *m.Momentum, m.Floor) }

// Weights writes the λ of one step to w.
func (m *EMGDGMC) Weights(s *Step, w []float64) (Outcome, error) { return m.step(m, s, w) }

// EMGDGS is the method "emgd-gs", EMGD with factors from the similarities of the step's own
// gradients: σ = softmax(Σcos/τ) (docs/method.md §2).
type EMGDGS struct {
	Tau   Temperature `param:"tau" default:"5" doc:"softmax temperature τ of the elastic factors, in units of a sum of cosines; a number or \"inf\""`
	Floor Floor       `param:"floor" default:"0" doc:"lower bound of every λ: a number, or \"release\" for 1/(K+1), which gives up the Pareto guarantee"`

	elastic
}

// Start sets the method up.
func (m *EMGDGS) Start() error { return m.set(emgd.GS, m.Tau, 0, m.Floor) } // it takes no mean

// Weights writes the λ of one step to w.
func (m *EMGDGS) Weights(s *Step, w []float64) (Outcome, error) { return m.step(m, s, w) }

// EMGDLog is the method "emgd-log", EMGD with factors from the logarithms of the gradients'
// lengths: σ is in proportion to m^(1/τ), where m are moving averages of the lengths
// (docs/method.md §2).
type EMGDLog struct {
	Tau      Temperature `param:"tau" default:"1" doc:"temperature τ of the elastic factors, which are in proportion to m^(1/τ); a number or \"inf\""`
	Momentum *float64    `param:"momentum" default:"0.9" range:"[0,1)" doc:"ε₁, share of the past in the moving average of the norms, m ← ε₁m + (1−ε₁)‖J‖"`
	Floor    Floor       `param:"floor" default:"0" doc:"lower bound of every λ: a number, or \"release\" for 1/(K+1), which gives up the Pareto guarantee"`

	elastic
}

// Start sets the method up.
func (m *EMGDLog) Start() error { return m.set(emgd.LogGMC, m.Tau, *m.Momentum, m.Floor) }

// Weights writes the λ of one step to w.
func (m *EMGDLog) Weights(s *Step, w []float64) (Outcome, error) { return m.step(m, s, w) }

// elastic is Elastic Multi-Gradient Descent: elastic factors, then the exact dual.
type elastic struct {
	setup
	factors emgd.Elastic
	solver  emgd.Solver
	release bool // floor 1/(K+1)
	sigma   []float64
}

// set takes the settings over.
func (e *elastic) set(rule emgd.Rule, tau Temperature, momentum float64, floor Floor) error {
	if tau == AutoTau && rule != emgd.GMC {
		return errAutoTau
	}
	e.factors.Rule, e.factors.Momentum, e.factors.Tau, e.factors.AutoTau = rule, momentum, float64(tau), tau == AutoTau
	if momentum == 0 {
		e.factors.Momentum = -1 // none: 0 stands for emgd's default
	}
	if e.factors.AutoTau {
		e.factors.Tau = 0
	}
	if e.release = floor == ReleaseFloor; !e.release {
		e.solver.Floor = float64(floor)
	}
	return nil
}

// Needs asks for the Gram matrix.
func (*elastic) Needs() Needs { return Needs{Gram: true} }

// step makes a step of m, whose factors and solver are in e.
func (e *elastic) step(m Method, s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	kept := keep(s, w)
	e.sigma = fp.Grow(e.sigma, s.k())
	if kept.k() == 0 {
		fill(e.sigma, 1/float64(s.k()))
		return e.WeightsFor(s, e.sigma, w)
	}
	checked, err := *s, error(nil) // once, for the factors and the solver
	if checked.Problem, err = s.problem(); err != nil {
		return Outcome{}, err
	}
	if err := e.observe(&checked, kept); err != nil {
		return Outcome{}, err
	}
	return e.WeightsFor(&checked, e.sigma, w)
}

// observe divides σ among the rows kept. A converged row has σ = 0, is guaranteed nothing, and is
// not observed (docs/method.md §2.8).
func (e *elastic) observe(s *Step, kept *rows) error {
	if len(kept.dropped) == 0 {
		return e.factors.Factors(s.IDs, s.Problem, e.sigma)
	}
	sigma := make([]float64, kept.k())
	if err := e.factors.Factors(kept.ids(s), s.Problem.Subset(kept.at), sigma); err != nil {
		return err
	}
	clear(e.sigma)
	for i, at := range kept.at {
		e.sigma[at] = sigma[i]
	}
	return nil
}

// Snapshot returns a function that restores the present state.
func (e *elastic) Snapshot() func() {
	kept := e.factors.Clone()
	return func() { e.factors = *kept }
}

// WeightsFor is Weights for the given σ, which it neither computes nor remembers; see package
// weigh.
func (e *elastic) WeightsFor(s *Step, sigma, w []float64) (Outcome, error) {
	if !e.begun {
		return Outcome{}, errors.New("the method has not been started, so that its floor is not known; call Start first")
	}
	if e.release {
		e.solver.Floor = 1 / float64(s.k()+1)
	}
	return solve(&e.solver, s, sigma, w)
}

// End forgets a stream.
func (e *elastic) End(id int) { delete(e.factors.Norms, id) }

// MarshalState writes the mean lengths.
func (e *elastic) MarshalState() (json.RawMessage, error) { return json.Marshal(&e.factors) }

// UnmarshalState also reads states of older versions, in which the settings stand too.
func (e *elastic) UnmarshalState(data json.RawMessage) error {
	var saved emgd.Elastic
	if err := json.Unmarshal(data, &saved); err != nil {
		return fmt.Errorf("its saved state: %w", err)
	}
	for _, m := range append(slices.Collect(maps.Values(saved.Norms)), saved.Level) {
		if m < 0 {
			return fmt.Errorf("its saved state: a mean length is %g; want a number ≥ 0", m)
		}
	}
	e.factors.Norms, e.factors.Level, e.factors.Seen = saved.Norms, saved.Level, saved.Seen
	return nil
}
