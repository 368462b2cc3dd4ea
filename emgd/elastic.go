package emgd

import (
	"fmt"
	"maps"
	"math"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// Rule is the quantity that elastic factors are computed from.
type Rule int

const (
	// GMC, gradient magnitude change: z_i = m_i, the moving average of ‖J_i‖.
	GMC Rule = iota
	// GS, gradient similarity: z_i = Σ_{k≠i} cos(J_i, J_k). With K = 2 both z are the same, so
	// σ = (½, ½) for every τ and EMGD is twice MGDA.
	GS
	// LogGMC is GMC on the logarithms of the lengths: z_i = log m_i, so that σ_i is in proportion
	// to m_i^{1/τ}. It has no unit: σ does not change when all gradients are multiplied by the same
	// number. With τ = 1 and a positive solution EMGD's step is that of ConFIG, with τ → ∞ it is K
	// times MGDA's. It is not in the paper.
	LogGMC
)

const (
	// defaultTau is the temperature of the authors' code, in units of the gradient norm.
	defaultTau = 5
	// defaultLogTau is the temperature of LogGMC, which has no unit: σ is in proportion to m.
	defaultLogTau = 1
	// defaultMomentum is the paper's ε1; ε2 = 1 − ε1.
	defaultMomentum = 0.9
	// minSigma is the smallest elastic factor: the convergence proof needs inf σ_i > 0.
	minSigma = 1e-6
)

// Elastic computes the elastic factors σ = softmax(z/τ) of one step after another. The zero value
// is GMC with τ = 5 and ε1 = 0.9. Its state is keyed by stream id, so streams may join and leave at
// any step; its JSON has that state, without the settings. It is not safe for concurrent use.
type Elastic struct {
	Rule Rule `json:"-"`
	// Tau is the temperature: 0 means 5, or 1 for LogGMC; +Inf means equal factors.
	Tau float64 `json:"-"`
	// AutoTau replaces Tau by a moving average of the mean of m_i over the active streams, which
	// makes σ independent of the unit of the gradients. Only for GMC: the cosines of GS and the
	// logarithms of LogGMC have no unit.
	AutoTau bool `json:"-"`
	// Momentum is ε1 in m_i ← ε1·m_i + (1−ε1)·‖J_i‖; 0 means 0.9, negative means none.
	Momentum float64 `json:"-"`

	// Norms are the m_i by stream, of which finished ones may be deleted, and Level is the moving
	// average behind AutoTau, which has a value once it has Seen a step.
	Norms map[int]float64 `json:"norms"`
	Level float64         `json:"level"`
	Seen  bool            `json:"seen"`

	z []float64
}

// Factors updates what is remembered of the given streams and writes their factors to sigma. They
// sum to 1 and are at least 1e-6 (docs/method.md §2.1). p is the problem of the streams' gradients.
// A stream seen for the first time starts at m_i = ‖J_i‖; m is updated before σ is computed. Leave
// out a stream whose gradient is not finite: its moving average then stays as it is. Gradients
// longer than float64 can hold are an error, which changes nothing. The ids differ. Factors panics
// if ids or sigma have another length, or if a setting is out of its range.
func (e *Elastic) Factors(ids []int, p *Problem, sigma []float64) error {
	k := len(ids)
	if k != p.k || len(sigma) != k {
		panic(fmt.Sprintf("emgd: %d ids and %d factors for %d gradients", k, len(sigma), p.k))
	}
	if e.Rule < GMC || e.Rule > LogGMC || !(e.Tau >= 0) || e.AutoTau && e.Rule != GMC || !(e.Momentum < 1) ||
		math.IsInf(e.Momentum, -1) {
		panic(fmt.Sprintf("emgd: Rule %d, Tau %v, AutoTau %t, Momentum %v; want GMC, GS or LogGMC, a number ≥ 0, "+
			"AutoTau with GMC alone, and a number below 1", e.Rule, e.Tau, e.AutoTau, e.Momentum))
	}
	e.z = fp.Grow(e.z, k)
	z := e.z
	if e.Rule == GS {
		cosineSums(p.c, z)
	} else {
		for i := range k {
			z[i] = p.Length(i)
			if math.IsInf(z[i], 1) {
				return fmt.Errorf("emgd: the length of gradient %d (counted from 0) leaves the range of float64; scale the "+
					"gradients down", i)
			}
		}
		e.observe(ids, z)
	}
	if e.Rule == LogGMC {
		logs(z)
	}
	softmax(z, e.temperature(), sigma)
	raise(sigma)
	return nil
}

// Clone returns a copy that remembers the same and shares nothing with e.
func (e *Elastic) Clone() *Elastic {
	c := *e
	c.Norms, c.z = maps.Clone(e.Norms), nil
	return &c
}

func (e *Elastic) momentum() float64 {
	switch {
	case e.Momentum == 0:
		return defaultMomentum
	case e.Momentum < 0:
		return 0
	}
	return e.Momentum
}

func (e *Elastic) temperature() float64 {
	switch {
	case e.AutoTau:
		return e.Level
	case e.Tau == 0 && e.Rule == LogGMC:
		return defaultLogTau
	case e.Tau == 0:
		return defaultTau
	}
	return e.Tau
}

// observe takes the lengths in z into the moving averages, and leaves these in z.
func (e *Elastic) observe(ids []int, z []float64) {
	if e.Norms == nil {
		e.Norms = make(map[int]float64)
	}
	k, eps1 := len(ids), e.momentum()
	mean := 0.0
	for i, id := range ids {
		norm := z[i]
		if m, ok := e.Norms[id]; ok {
			norm = eps1*m + (1-eps1)*norm
		}
		e.Norms[id] = norm
		z[i] = norm
		mean += norm / float64(k)
	}
	mean = min(mean, math.MaxFloat64) // which the parts of very long gradients may exceed by rounding
	if e.Seen {
		mean = eps1*e.Level + (1-eps1)*mean
	}
	e.Level, e.Seen = mean, true
}

// cosineSums writes z_i = Σ_{k≠i} cos(J_i, J_k); a zero gradient has cosine 0 with every other.
func cosineSums(gram, z []float64) {
	k := len(z)
	clear(z)
	for i := range k {
		for j := range i {
			c := cosine(gram[i*k+j], gram[i*k+i], gram[j*k+j])
			z[i] += c
			z[j] += c
		}
	}
}

func cosine(ab, aa, bb float64) float64 {
	if aa == 0 || bb == 0 {
		return 0
	}
	return min(1, max(-1, ab/math.Sqrt(aa)/math.Sqrt(bb)))
}

// logs replaces lengths by their logarithms. A length of 0 becomes so small a number that its
// factor is 0, unless all are 0.
func logs(z []float64) {
	for i, m := range z {
		z[i] = fp.Log(max(m, math.SmallestNonzeroFloat64))
	}
}

// softmax writes softmax(z/tau). A temperature of +Inf, or of 0 because every norm is 0, gives
// equal factors.
func softmax(z []float64, tau float64, sigma []float64) {
	top := z[0]
	for _, v := range z {
		top = max(top, v)
	}
	sum := 0.0
	for i, v := range z {
		x := 0.0
		if tau > 0 {
			x = (v - top) / tau
		}
		sigma[i] = math.Exp(x)
		sum += sigma[i]
	}
	for i := range sigma {
		sigma[i] /= sum
	}
}

// raise lifts factors below minSigma to it and takes the difference from the others in proportion.
func raise(sigma []float64) {
	floor := min(minSigma, 0.5/float64(len(sigma)))
	for range sigma {
		low, rest, changed := 0, 0.0, false
		for _, s := range sigma {
			if s <= floor {
				low++
				changed = changed || s < floor
			} else {
				rest += s
			}
		}
		if !changed {
			return
		}
		scale := (1 - float64(low)*floor) / rest
		for i, s := range sigma {
			if s <= floor {
				sigma[i] = floor
			} else {
				sigma[i] = s * scale
			}
		}
	}
}
