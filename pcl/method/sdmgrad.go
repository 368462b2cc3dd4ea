package method

import "fmt"

func init() {
	Register(Spec{
		Info:   sdmGradInfo,
		Params: []Param{{Name: "lambda", Default: 0.3, Doc: "λ ≥ 0, how strongly d is pulled towards the mean gradient: 0 gives MGDA, a large λ the mean"}},
		New:    func(p Params) (Method, error) { return newSDMGrad(p.Float("lambda")) },
	})
}

var sdmGradInfo = Info{
	Name: "sdmgrad", Title: "SDMGrad", Family: "mtl",
	Rule:   "d = (Σ μᵢJᵢ + λg₀)/(1+λ) with the μ on the simplex that minimises ‖Σ μᵢJᵢ + λg₀‖², where g₀ is the mean gradient",
	Source: "Xiao et al., Direction-oriented Multi-objective Learning, NeurIPS 2023 (arXiv 2305.18409)",
	Cost:   "K(F+B) + Gram O(K²P) + a K×K dual", State: "none", SumW: "1",
	NeedsGram: true,
}

// sdmGrad is the deterministic form, one batch per stream and μ exact, of SDMGrad (docs/method.md §4.14).
type sdmGrad struct {
	lambda float64
	min    shifted
}

func newSDMGrad(lambda float64) (*sdmGrad, error) {
	if !(lambda >= 0) || lambda > 1e6 {
		return nil, fmt.Errorf("lambda %g is outside [0, 1e6]", lambda)
	}
	return &sdmGrad{lambda: lambda}, nil
}

func (*sdmGrad) Info() Info { return sdmGradInfo }

func (m *sdmGrad) Weights(s *Step, w []float64) (Outcome, error) {
	r, err := keep(sdmGradInfo, s, w)
	if err != nil || r.k() == 0 {
		return r.outcome(), err
	}
	r.level()
	mu, err := m.min.solve(r.gram, m.lambda, r.k())
	if err != nil {
		return Outcome{}, err
	}
	v := make([]float64, r.k())
	for i, x := range mu {
		v[i] = (x + m.lambda/float64(r.k())) / (1 + m.lambda)
	}
	return r.write(v, w), nil
}
