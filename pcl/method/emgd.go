package method

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(elasticInfo("emgd-gmc", "EMGD (GMC)", "σ = softmax(m/τ), m the moving mean of ‖Jᵢ‖", "mᵢ per stream"), EMGDGMC{})
	Register(elasticInfo("emgd-gs", "EMGD (GS)", "σ = softmax(Σₖcos(Jᵢ,Jₖ)/τ)", "none"), EMGDGS{})
	Register(elasticInfo("emgd-log", "EMGD (log GMC)", "σ in proportion to m^(1/τ), m the moving mean of ‖Jᵢ‖", "mᵢ per stream"), EMGDLog{})
}

// EMGDGMC is the method "emgd-gmc", Elastic Multi-Gradient Descent with factors from the gradients' lengths.
type EMGDGMC struct {
	Tau      Temperature `param:"tau" default:"5" doc:"softmax temperature τ of the elastic factors, in units of the gradient norm; a number, \"inf\", or \"auto\": the moving mean of the norms"`
	Momentum *float64    `param:"momentum" default:"0.9" range:"[0,1)" doc:"ε₁, share of the past in the moving mean of the norms, m ← ε₁m + (1−ε₁)‖J‖"`
	Floor    Floor       `param:"floor" default:"0" doc:"lower bound of every λ: a number, or \"release\" for 1/(K+1), which gives up the Pareto guarantee"`
}

func (p EMGDGMC) start(info Info) Method {
	return newElastic(info, emgd.GMC, p.Tau, *p.Momentum, p.Floor)
}

// EMGDGS is the method "emgd-gs", with factors from the similarities of the step's own gradients.
type EMGDGS struct {
	Tau   Temperature `param:"tau" default:"5" doc:"softmax temperature τ of the elastic factors, in units of a sum of cosines; a number or \"inf\""`
	Floor Floor       `param:"floor" default:"0" doc:"lower bound of every λ: a number, or \"release\" for 1/(K+1), which gives up the Pareto guarantee"`
}

func (p EMGDGS) start(info Info) Method {
	return newElastic(info, emgd.GS, p.Tau, 0, p.Floor) // it takes no mean
}

// EMGDLog is the method "emgd-log", with factors from the logarithms of the gradients' lengths.
type EMGDLog struct {
	Tau      Temperature `param:"tau" default:"1" doc:"temperature τ of the elastic factors, which are in proportion to m^(1/τ); a number or \"inf\""`
	Momentum *float64    `param:"momentum" default:"0.9" range:"[0,1)" doc:"ε₁, share of the past in the moving mean of the norms, m ← ε₁m + (1−ε₁)‖J‖"`
	Floor    Floor       `param:"floor" default:"0" doc:"lower bound of every λ: a number, or \"release\" for 1/(K+1), which gives up the Pareto guarantee"`
}

func (p EMGDLog) start(info Info) Method {
	return newElastic(info, emgd.LogGMC, p.Tau, *p.Momentum, p.Floor)
}

func elasticInfo(name, title, factors, state string) Info {
	return Info{
		Name: name, Title: title, Family: "pcl",
		Rule:   "argmin ‖Σ λᵢJᵢ‖², Σ λᵢσᵢ = 1, λ ≥ 0, d = Σ λᵢJᵢ; " + factors,
		Source: "Lyu et al., Elastic Multi-Gradient Descent for Parallel Continual Learning, arXiv 2401.01054",
		Cost:   "K(F+B) + Gram O(K²P) + a K×K dual", State: state, SumW: "1/σ_max ≤ Σλ ≤ 1/σ_min",
		NeedsGram: true,
	}
}

// elastic is Elastic Multi-Gradient Descent (docs/method.md §2): elastic factors, then the exact dual.
type elastic struct {
	info    Info
	factors emgd.Elastic
	solver  emgd.Solver
	release bool // floor 1/(K+1)
	sigma   []float64
}

func newElastic(info Info, rule emgd.Rule, tau Temperature, momentum float64, floor Floor) *elastic {
	e := &elastic{info: info, release: floor == ReleaseFloor}
	e.factors.Rule, e.factors.Momentum, e.factors.Tau = rule, momentum, float64(tau)
	if momentum == 0 {
		e.factors.Momentum = -1 // none: 0 stands for emgd's default
	}
	if tau == AutoTau {
		fail.When(rule != emgd.GMC, "%w", errAutoTau)
		e.factors.AutoTau, e.factors.Tau = true, 0
	}
	if !e.release {
		e.solver.Floor = float64(floor)
	}
	return e
}

func (e *elastic) Info() Info { return e.info }

func (e *elastic) Weights(s *Step, w []float64) (out Outcome, err error) {
	defer fail.Caught(&err)
	s.check(e.info, w)
	kept := keep(s, w)
	e.sigma = fp.Grow(e.sigma, s.k())
	if kept.k() == 0 {
		fill(e.sigma, 1/float64(s.k()))
		return e.WeightsFor(s, e.sigma, w)
	}
	checked := *s // once, for the factors and the solver
	checked.Problem = s.problem()
	e.observe(&checked, kept)
	return e.WeightsFor(&checked, e.sigma, w)
}

// observe divides σ among the rows kept. A converged row has σ = 0, is guaranteed nothing, and is not
// observed (docs/method.md §2.8).
func (e *elastic) observe(s *Step, kept *rows) {
	if len(kept.dropped) == 0 {
		fail.If(e.factors.Factors(s.IDs, s.Problem, e.sigma))
		return
	}
	sigma := make([]float64, kept.k())
	fail.If(e.factors.Factors(kept.ids(s), s.Problem.Only(kept.at), sigma))
	clear(e.sigma)
	for i, at := range kept.at {
		e.sigma[at] = sigma[i]
	}
}

// Snapshot returns a function that restores the present state.
func (e *elastic) Snapshot() func() {
	kept := e.factors.Clone()
	return func() { e.factors = *kept }
}

// WeightsFor is Weights for the given σ, which it neither computes nor remembers; see package weigh.
func (e *elastic) WeightsFor(s *Step, sigma, w []float64) (out Outcome, err error) {
	defer fail.Caught(&err)
	s.check(e.info, w)
	if e.release {
		e.solver.Floor = 1 / float64(s.k()+1)
	}
	return solve(&e.solver, s, sigma, w), nil
}

func (e *elastic) End(id int) { delete(e.factors.Norms, id) }

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
