package method

import (
	"math"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

func init() {
	Register(Info{
		Name: "pcd", Title: "PCD", Family: "mtl",
		Rule: "d ∝ argmin ‖d − g₁‖² such that gⱼ·d ≥ τ‖gⱼ‖² for all other streams, where gᵢ is " +
			"Jᵢ divided by its mean length and g₁ belongs to the primary stream; ‖d‖ = ‖J₁‖",
		Source: "Varam & AlHajri, Not All Objectives Are Born Equal: Priority-Constrained Descent for Hierarchical " +
			"Multi-Objective Optimization, TMLR 2026 (arXiv 2606.29521)",
		Cost: "K(F+B) + Gram O(K²P) + a K×K dual", State: "mean ‖Jᵢ‖² per stream", SumW: "not fixed",
	}, func() Method { return new(PCD) })
}

// PCD follows one stream and lets every other one make some progress. If that is impossible for all
// of them at once, d is the primary's gradient, as in the paper. If the primary has converged, the
// next stream leads. The paper adds 1e-8 to the mean squared lengths; here nothing is added, which
// keeps the rule independent of scale.
type PCD struct {
	Tau     *float64   `param:"tau" default:"0.02" range:"[0,1]" doc:"τ in [0, 1], how much progress every other stream gets, relative to a step along its own gradient"`
	Beta    *float64   `param:"beta" default:"0.999" range:"[0,0.999999999]" doc:"β in [0, 1), share of the past in the moving averages of ‖Jᵢ‖²"`
	Primary PCDPrimary `param:"primary" default:"first" choices:"first,last" doc:"the primary stream: first is the memory or, without one, the oldest task; last is the newest task"`

	setup
	memo[pcdStream]
	solver emgd.Solver
}

type pcdStream struct {
	Square float64 `json:"square" range:"[0,inf)"`            // Σ of ‖J‖² in the moving average, before it is divided by Weight
	Weight float64 `json:"weight" range:"[1e-9,1.000000001]"` // 1 − βⁿ after n steps
	// Exponent says that Square is in units of 4^Exponent; 0 for gradients of ordinary size.
	Exponent int `json:"exponent,omitempty" range:"[-2000,2000]"`
}

// add takes a squared length in units of 4^exponent into the mean.
func (t *pcdStream) add(beta, square float64, exponent int) {
	unit := max(t.Exponent, exponent)
	switch {
	case square == 0:
		unit = t.Exponent
	case t.Square == 0:
		unit = exponent
	}
	t.Square = beta*math.Ldexp(t.Square, 2*(t.Exponent-unit)) + (1-beta)*math.Ldexp(square, 2*(exponent-unit))
	t.Weight = beta*t.Weight + (1 - beta)
	t.Exponent = unit
}

// Needs asks for the Gram matrix.
func (*PCD) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *PCD) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	r := keep(s, w)
	for i, id := range s.IDs {
		t := m.memo[id]
		t.add(*m.Beta, s.Gram[i*s.k()+i], s.exponent())
		m.memo[id] = t
	}
	if r.k() == 0 {
		return r.outcome(), nil
	}
	primary, lengths := 0, r.norms()
	for i, at := range r.at {
		if m.leads(s.IDs[at], s.IDs[r.at[primary]]) {
			primary = i
		}
		t := m.memo[s.IDs[at]]
		lengths[i] = math.Ldexp(lengths[i]/math.Sqrt(t.Square/t.Weight), s.exponent()-t.Exponent)
	}
	v, err := m.project(r.cosines(), lengths, primary)
	if err != nil {
		return Outcome{}, err
	}
	n := r.norms()
	for i := range v {
		v[i] *= n[primary] / n[i]
	}
	return r.write(v, w), nil
}

// leads says whether one stream is the primary rather than another.
func (m *PCD) leads(id, other int) bool {
	if m.Primary == PCDLast {
		return id > other
	}
	return pcdPlace(id) < pcdPlace(other)
}

// pcdPlace puts the rows of the memory first, from the first on, then the tasks in the order in
// which they came, and a penalty last.
func pcdPlace(id int) int {
	switch {
	case id == rehearsal.PenaltyID:
		return math.MaxInt
	case id <= MemoryID:
		return math.MinInt - id
	}
	return id
}

// project returns the weights of the unit gradients in d/‖d‖; their cosines are c, and lengths
// those of the gradients g. With e = d − g₁ the problem is to find the shortest e with uⱼ·e ≥ bⱼ
// for the unit gradients uⱼ. Of the cone {(e,t) : uⱼ·e ≥ bⱼt} the point next to (0,1) has the
// solution as its e/t, and that point is the EMGD dual with σ = 1 on (0,1) and 0 on the constraints
// (docs/method.md §2.7).
func (m *PCD) project(c, lengths []float64, primary int) ([]float64, error) {
	k := len(lengths)
	v, b, size := make([]float64, k), make([]float64, k), lengths[primary]
	v[primary] = 1
	for j := range k {
		if j != primary {
			b[j] = *m.Tau*lengths[j] - c[primary*k+j]*lengths[primary]
			size = max(size, math.Abs(b[j]))
		}
	}
	// In the place of the primary stands (0,1); lengths are in units of size.
	b[primary] = -size
	gram, sigma := make([]float64, k*k), make([]float64, k)
	sigma[primary] = 1
	for i := range k {
		for j := range k {
			if i != primary && j != primary {
				gram[i*k+j] = c[i*k+j]
			}
			gram[i*k+j] += b[i] / size * (b[j] / size)
		}
	}
	b[primary] = 0
	bounded(gram, k)
	p, err := emgd.NewProblem(gram)
	if err != nil {
		return nil, err
	}
	cert, err := solveGram(&m.solver, p, sigma)
	if err != nil {
		return nil, err
	}
	t := 1 - inner(cert.Lambda, b)/size
	if cert.Status == emgd.Stationary || !(t > 0) {
		return v, nil // the constraints contradict each other
	}
	parts := 0.0
	for j, l := range cert.Lambda {
		v[j] = l / t
		if j == primary {
			v[j] = lengths[j] / size
		}
		parts += v[j]
	}
	length := normOf(c, v)
	if length <= cancelled*parts {
		clear(v) // d is 0 up to rounding
		return v, nil
	}
	for j := range v {
		v[j] /= length
	}
	return v, nil
}
