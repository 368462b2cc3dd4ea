package method

import "encoding/json"

func init() { Register(imtlInfo, IMTL{}) }

var imtlInfo = Info{
	Name: "imtl", Title: "IMTL", Family: "mtl",
	Rule:   "IMTL-G applied to the gradients exp(sᵢ)Jᵢ, as scaled by IMTL-L",
	Source: "Liu et al., Towards Impartial Multi-Task Learning, ICLR 2021",
	Cost:   "K(F+B) + Gram O(K²P) + a K×K eigenproblem", State: "sᵢ per stream", SumW: "not fixed",
	NeedsGram: true, NeedsLosses: true,
}

// IMTL is the method "imtl".
type IMTL struct {
	LR   *float64 `param:"lr" default:"0.1" range:"[0,1]" doc:"step size of s, in [0, 1]"`
	Init string   `param:"init" default:"zero" choices:"zero,loss" doc:"s of a new stream: 0, or −log ℓ, the value at which it would no longer change"`
}

func (p IMTL) Start() (Method, error) {
	return &imtl{losses: &IMTLL{LR: p.LR, Init: p.Init, memo: memo[float64]{}}}, nil
}

// imtl is L inside G (docs/method.md §4.8). IMTL-G does not see the lengths of the gradients, so the
// direction is IMTL-G's and the scales decide on the length alone, and, by the sign of the sum that is divided by, on whether
// losses fall or rise.
type imtl struct {
	losses    *IMTLL
	gradients IMTLG
}

func (*imtl) Info() Info { return imtlInfo }

func (m *imtl) Weights(s *Step, w []float64) (Outcome, error) {
	r := keep(imtlInfo, s, w)
	scale := make([]float64, s.K())
	if err := m.losses.scale(imtlInfo, s, scale); err != nil || r.k() == 0 {
		return r.outcome(), err
	}
	var kept []float64
	for _, i := range r.at {
		kept = append(kept, scale[i])
	}
	for i, a := range kept {
		for j, b := range kept {
			r.gram[i*r.k()+j] *= a * b
		}
	}
	r.level()
	alpha, err := m.gradients.impartial(r)
	if err != nil {
		return Outcome{}, err
	}
	for i, a := range kept {
		alpha[i] *= a
	}
	return r.write(alpha, w), nil
}

func (m *imtl) End(id int) { m.losses.End(id) }

func (m *imtl) MarshalState() (json.RawMessage, error) { return m.losses.MarshalState() }

func (m *imtl) UnmarshalState(data json.RawMessage) error { return m.losses.UnmarshalState(data) }
