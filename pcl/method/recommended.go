package method

import (
	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

func init() {
	Register(Info{
		Name: "emgd", Title: "EMGD (recommended)", Family: "pcl",
		Rule: "argmin ‖Σ λᵢJᵢ‖², Σ λᵢσᵢ = 1, λ ≥ 0, d = Σ λᵢJᵢ, with σ in proportion to " +
			"‖Jᵢ‖^(1/τ); the memory's loss is cross-entropy + α·MSE to the logits at the end of the sample's task; " +
			"samples are kept by herding; among classes of several tasks the nearest class mean predicts",
		Source: "a composition of Lyu et al., arXiv 2401.01054 (EMGD), Buzzega et al., arXiv 2004.07211 (DER++) and " +
			"Rebuffi et al., arXiv 1611.07725 (herding, nearest class mean)",
		Cost:  "K(F+B) + Gram O(K²P) + a K×K dual; F of the candidates when a task ends, and of the memory per evaluation",
		State: "mᵢ per stream; the logits stored with the samples", SumW: "1/σ_max ≤ Σλ ≤ 1/σ_min",
	}, func() Method { return new(Recommended) })
}

// Recommended is the method "emgd", the composition that did best on data that no table uses
// (docs/results.md, "Rules and rehearsals"): EMGD with factors of the step's own lengths, and a
// rehearsal of three parts.
type Recommended struct {
	Tau      Temperature `param:"tau" default:"1.5" doc:"temperature τ of the elastic factors, which are in proportion to ‖J‖^(1/τ); a number or \"inf\""`
	Momentum float64     `param:"momentum" default:"0" range:"[0,1)" doc:"share of the past in the moving average of the norms; 0 takes those of the step itself"`
	Floor    Floor       `param:"floor" default:"0" doc:"lower bound of every λ: a number, or \"release\" for 1/(K+1), which gives up the Pareto guarantee"`
	Alpha    *float64    `param:"alpha" default:"0.2" range:"[0,1e6]" doc:"α ≥ 0, weight of the squared difference to the stored logits; 0 leaves it out"`
	Pool     float64     `param:"pool" default:"500" range:"whole [1,1e9]" doc:"number of samples of each class of a running task from which those for the memory are chosen, at least 1; never fewer than the memory can take"`

	elastic
}

// Start sets the method up.
func (m *Recommended) Start() error { return m.set(emgd.LogGMC, m.Tau, m.Momentum, m.Floor) }

// Weights writes the λ of one step to w.
func (m *Recommended) Weights(s *Step, w []float64) (Outcome, error) { return m.step(m, s, w) }

// Parts are the loss of the memory, what is kept and what predicts.
func (m *Recommended) Parts() []rehearsal.Part {
	return []rehearsal.Part{
		&rehearsal.Distill{Alpha: m.Alpha, Beta: new(1.0), Draws: rehearsal.DrawsOne},
		&rehearsal.Herding{Pool: m.Pool}, &rehearsal.NearestMean{Where: "between-tasks"},
	}
}
