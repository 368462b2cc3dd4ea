package method

import "math"

func init() {
	Register(Info{
		Name: "moco", Title: "MoCo", Family: "mtl",
		Rule: "d = Σ λᵢyᵢ, yᵢ ← yᵢ − β(yᵢ − Jᵢ), λ ← P(λ − γ(YYᵀ + ρI)λ), where P is the " +
			"projection on the simplex",
		Source: "Fernando et al., Mitigating Gradient Bias in Multi-Objective Learning, ICLR 2023 (arXiv 2210.12624)",
		Cost:   "K(F+B) + Gram O(K²P)", State: "yᵢ (P numbers) and λᵢ per stream", SumW: "1 (nominal)",
	}, func() Method { return new(MoCo) })
}

// MoCo approaches MGDA's weights for moving averages of the gradients, which removes the bias of
// mini-batches. A stream's mean starts at its first gradient and its λ at 1/K. LibMTL departs from
// the paper: its means start at 0, they follow ℓᵢJᵢ/‖Jᵢ‖ (norm = loss), and a softmax stands for
// the projection. The nominal weights are λ.
type MoCo struct {
	Beta       *float64     `param:"beta" default:"0.5" range:"[0,1]" doc:"β in [0, 1], what part of the way to the gradient yᵢ moves"`
	BetaDecay  float64      `param:"beta_decay" default:"0" range:"[0,1e9]" doc:"σ ≥ 0: β becomes β/n^σ in the stream's n-th step. The theory takes 0.5, but yᵢ then lags behind a network that changes"`
	Gamma      *float64     `param:"gamma" default:"0.1" range:"[0,1e9]" doc:"γ ≥ 0, step size of λ"`
	GammaDecay *float64     `param:"gamma_decay" default:"0.5" range:"[0,1e9]" doc:"the same for γ, with the n-th step of the newest stream"`
	Rho        float64      `param:"rho" default:"0" range:"[0,1e9]" doc:"ρ ≥ 0, how strongly λ is pulled towards equal weights"`
	Norm       GradientNorm `param:"norm" default:"none" choices:"none,loss" doc:"follow Jᵢ as in the paper, or ℓᵢJᵢ/‖Jᵢ‖ as in the authors' code"`

	setup
	memo[mocoStream]
	d []float64
}

type mocoStream struct {
	Mean  vector  `json:"mean"`                // y
	Share float64 `json:"share" range:"[0,1]"` // λ
	Steps int     `json:"steps" range:"[1,2147483647]"`
}

// Needs says what the method reads of a step: also the losses where the gradients are scaled by
// them.
func (m *MoCo) Needs() Needs {
	losses := m.Norm == NormLoss
	return Needs{Gram: true, Rows: true, Direction: true, Losses: losses, PositiveLosses: losses}
}

// Weights writes the weights of one step to w.
func (m *MoCo) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	means, newest, err := m.follow(s)
	if err != nil {
		return Outcome{}, err
	}
	tracked := *s // the vectors are in the range of float32, and so their products in that of float64
	tracked.Problem = nil
	tracked.Gram = make([]float64, 0, s.k()*s.k())
	for _, a := range means {
		for _, b := range means {
			tracked.Gram = append(tracked.Gram, product(a, b))
		}
	}
	r := keep(&tracked, w)
	if r.k() > 0 {
		m.move(s, r, newest, w)
	}
	m.d = combineVectors(m.d, means, w)
	return Outcome{Direction: m.d, Dropped: r.dropped}, nil
}

// follow moves the means and returns for how many steps the newest stream has been there.
func (m *MoCo) follow(s *Step) (means []vector, newest int, err error) {
	if means, err = track(s, func(id int) vector { return m.memo[id].Mean }); err != nil {
		return nil, 0, err
	}
	newest = math.MaxInt
	lengths := s.lengths()
	for i, id := range s.IDs {
		t, known := m.memo[id]
		t.Mean, t.Steps = means[i], t.Steps+1
		rate, scale := *m.Beta/math.Pow(float64(t.Steps), m.BetaDecay), 1.0
		if !known {
			rate, t.Share = 1, 1/float64(s.k())
		}
		if norm := lengths[i]; m.Norm == NormLoss && norm > 0 {
			scale = s.Losses[i] / norm
		}
		approach(t.Mean, s.Rows[i], scale, rate)
		m.memo[id] = t
		newest = min(newest, t.Steps)
	}
	return means, newest, nil
}

// move makes the step of λ for the streams in r and writes it to w.
func (m *MoCo) move(s *Step, r *rows, newest int, w []float64) {
	ids := r.ids(s)
	share := entered(ids, func(id int) (float64, bool) { return m.memo[id].Share, m.memo[id].Steps > 1 })
	rate := *m.Gamma / math.Pow(float64(newest), *m.GammaDecay)
	for i, slope := range times(r.gram, share) {
		share[i] -= rate * (slope + m.Rho*share[i])
	}
	toSimplex(share)
	for i, id := range ids {
		t := m.memo[id]
		t.Share = share[i]
		m.memo[id] = t
	}
	r.write(share, w)
}
