package method

import "math"

func init() {
	Register(Info{
		Name: "excess-mtl", Title: "ExcessMTL", Family: "mtl",
		Rule: "d = Σ λᵢJᵢ, λᵢ ∝ λᵢ·exp(ηEᵢ/Eᵢ(0)), where Eᵢ = Jᵢ·Hᵢ⁻¹Jᵢ is the excess " +
			"risk, and Hᵢ = √Σ Jᵢ², entry by entry, sums over the steps",
		Source: "He et al., Robust Multi-Task Learning with Excess Risks, ICML 2024 (arXiv 2402.02009), Eqs. 6–9",
		Cost:   "K(F+B) + O(KP)", State: "Hᵢ (P numbers), λᵢ and Eᵢ(0) per stream", SumW: "1",
	}, func() Method { return new(ExcessMTL) })
}

// ExcessMTL gives weight to the streams whose losses are far above what they can reach. During a
// stream's warm-up, its risk counts as equal to Eᵢ(0). It enters with λ = 1/K. The authors' code
// and LibMTL bring Σλ to K instead of the paper's 1, and add 1e-7 under the root of H, which makes
// the rule depend on the scale of the gradients; here an entry that was always 0 adds no risk.
type ExcessMTL struct {
	LR     *float64 `param:"lr" default:"0.01" range:"[0,1e6]" doc:"η ≥ 0, step size of log λ"`
	Warmup float64  `param:"warmup" default:"1" range:"whole [1,1e9]" doc:"number of first steps of a stream whose mean risk is Eᵢ(0), to which later risks are compared; the paper takes three epochs, its code one step"`

	setup
	memo[excessStream]
}

type excessStream struct {
	Root vector  `json:"root" range:"[0,inf)"`    // H
	Log  float64 `json:"log" range:"(-inf,1e-9]"` // log λ
	Sum  float64 `json:"sum" range:"[0,inf)"`     // of the risks of the warm-up
	Seen int     `json:"seen" range:"[0,1e9]"`    // its steps so far; those without a gradient do not count
}

// Needs asks for the Gram matrix and the gradients.
func (*ExcessMTL) Needs() Needs { return Needs{Gram: true, Rows: true} }

// Weights writes the weights of one step to w.
func (m *ExcessMTL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	roots, err := track(s, func(id int) vector { return m.memo[id].Root })
	if err != nil {
		return Outcome{}, err
	}
	m.enter(s.IDs, roots)
	for i, id := range s.IDs {
		t := m.memo[id]
		w[i] = t.Log + *m.LR*m.excess(&t, s.Rows[i])
		m.memo[id] = t
	}
	logs := logSoftmax(w)
	softmax(w)
	for i, id := range s.IDs {
		t := m.memo[id]
		t.Log = logs[i]
		m.memo[id] = t
	}
	return Outcome{}, nil
}

// enter gives new streams log 1/K and the others the rest.
func (m *ExcessMTL) enter(ids []int, roots []vector) {
	var known []float64
	for _, id := range ids {
		if t, ok := m.memo[id]; ok {
			known = append(known, t.Log)
		}
	}
	rest := math.Log(float64(len(known)) / float64(len(ids)))
	known = logSoftmax(known)
	for i, id := range ids {
		t, ok := m.memo[id]
		if ok {
			t.Log, known = known[0]+rest, known[1:]
		} else {
			t = excessStream{Root: roots[i], Log: -math.Log(float64(len(ids)))}
		}
		m.memo[id] = t
	}
}

// excess takes a gradient into H and returns the risk in units of E(0).
func (m *ExcessMTL) excess(t *excessStream, row []float64) float64 {
	risk := 0.0
	for p, x := range row {
		root := math.Hypot(float64(t.Root[p]), x)
		if root > 0 {
			risk += math.Abs(x) * (math.Abs(x) / root)
		}
		t.Root[p] = float32(root)
	}
	if t.Seen >= int(m.Warmup) && t.Sum > 0 {
		return min(risk*float64(t.Seen)/t.Sum, mostExcess)
	}
	if risk > 0 {
		t.Sum, t.Seen = t.Sum+risk, t.Seen+1
	}
	return 1
}

// mostExcess bounds E/E(0), which may follow on a first gradient of nearly 0.
const mostExcess = 1e12

// logSoftmax is the logarithm of softmax(z), which does not underflow.
func logSoftmax(z []float64) []float64 {
	logs, top, sum := make([]float64, len(z)), math.Inf(-1), 0.0
	for _, x := range z {
		top = max(top, x)
	}
	for _, x := range z {
		sum += math.Exp(x - top)
	}
	for i, x := range z {
		logs[i] = x - top - math.Log(sum)
	}
	return logs
}
