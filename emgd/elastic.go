package emgd

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// Rule is the quantity that elastic factors are computed from.
type Rule int

const (
	// GMC, gradient magnitude change: z_i = m_i, the moving average of ‖J_i‖.
	GMC Rule = iota
	// GS, gradient similarity: z_i = Σ_{k≠i} cos(J_i, J_k). With K = 2 both z are the same, so
	// σ = (½, ½) for every τ and EMGD is twice MGDA.
	GS
	// LogGMC is GMC on the logarithms of the lengths: z_i = log m_i, so that σ_i is in proportion to m_i^{1/τ}. It has
	// no unit: σ does not change when all gradients are multiplied by the same number. With τ = 1 and a positive
	// solution EMGD's step is that of ConFIG, with τ → ∞ it is K times MGDA's. It is not in the paper.
	LogGMC
)

var ruleNames = []string{"gmc", "gs", "log-gmc"}

// String returns "gmc", "gs" or "log-gmc".
func (r Rule) String() string { return nameOf(ruleNames, int(r)) }

// MarshalText writes what String returns.
func (r Rule) MarshalText() ([]byte, error) { return writeName(ruleNames, int(r)) }

// UnmarshalText reads what MarshalText writes.
func (r *Rule) UnmarshalText(text []byte) error { return readName(ruleNames, text, (*int)(r)) }

const (
	// DefaultTau is the temperature of the authors' code, in units of the gradient norm.
	DefaultTau = 5
	// DefaultLogTau is the temperature of LogGMC, which has no unit: σ is in proportion to m.
	DefaultLogTau = 1
	// DefaultMomentum is the paper's ε1; ε2 = 1 − ε1.
	DefaultMomentum = 0.9
	// MinSigma is the smallest elastic factor: the convergence proof needs inf σ_i > 0.
	MinSigma = 1e-6
)

// Elastic computes the elastic factors σ = softmax(z/τ) of one step after another. The zero value is GMC with
// τ = 5 and ε1 = 0.9. What it remembers is keyed by stream id, so streams may join and leave at any step.
// Settings and memory are saved and restored as JSON. It is not safe for
// concurrent use.
type Elastic struct {
	Rule Rule
	// Tau is the temperature: 0 means DefaultTau, or DefaultLogTau for LogGMC; +Inf means equal factors.
	Tau float64
	// AutoTau replaces Tau by c times a moving average of the mean of m_i over the active streams,
	// which makes σ independent of the unit of the gradients. Only for GMC: the cosines of GS and the
	// logarithms of LogGMC have no unit.
	AutoTau bool
	// AutoScale is the c of AutoTau; 0 means 1.
	AutoScale float64
	// Momentum is ε1 in m_i ← ε1·m_i + (1−ε1)·‖J_i‖; 0 means DefaultMomentum, negative means none.
	Momentum float64

	norms map[int]float64 // m_i
	level float64         // the moving average behind AutoTau
	seen  bool            // level has a value
	z     []float64
}

// Factors updates what is remembered of the given streams and writes their factors to sigma. They sum to 1
// and are at least MinSigma (docs/method.md §2.1). p is the problem of the streams' gradients.
// A stream seen for the first time starts at m_i = ‖J_i‖; m is updated before σ is computed.
// Leave out a stream whose gradient is not finite: what is remembered of it then stays as it is. On an error
// nothing changes. The ids differ. Factors panics if ids or sigma have another length.
func (e *Elastic) Factors(ids []int, p *Problem, sigma []float64) error {
	k := len(ids)
	if k != p.k || len(sigma) != k {
		panic(fmt.Sprintf("emgd: %d ids and %d factors for %d gradients", k, len(sigma), p.k))
	}
	if err := e.checkSettings(); err != nil {
		return err
	}
	e.z = fp.Grow(e.z, k)
	z := e.z
	if e.Rule == GS {
		cosineSums(p.c, z)
	} else {
		for i := range k {
			z[i] = p.Length(i)
			if math.IsInf(z[i], 1) {
				return fmt.Errorf("emgd: the length of gradient %d (counted from 0) leaves the range of float64; scale the gradients down", i)
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

// End forgets a finished stream. Unknown ids are ignored.
func (e *Elastic) End(id int) { delete(e.norms, id) }

// Clone returns a copy that remembers the same and shares nothing with e.
func (e *Elastic) Clone() *Elastic {
	c := *e
	c.norms, c.z = maps.Clone(e.norms), nil
	return &c
}

// Norm returns m_i of a stream, the moving average of its gradient norm, and whether it is known.
func (e *Elastic) Norm(id int) (m float64, ok bool) {
	m, ok = e.norms[id]
	return m, ok
}

func (e *Elastic) checkSettings() error {
	switch {
	case e.Rule < GMC || e.Rule > LogGMC:
		return fmt.Errorf("emgd: unknown rule %d", int(e.Rule))
	case !(e.Tau >= 0):
		return fmt.Errorf("emgd: temperature τ = %v; want a positive number, 0 for the default, or +Inf for equal factors", e.Tau)
	case e.AutoTau && e.Rule != GMC:
		return fmt.Errorf("emgd: the automatic temperature is in units of the gradient norm, and rule %s has none; set Tau instead", e.Rule)
	case !(e.AutoScale >= 0) || math.IsInf(e.AutoScale, 1):
		return fmt.Errorf("emgd: AutoScale = %v; want a positive number, or 0 for 1", e.AutoScale)
	case !(e.Momentum < 1) || math.IsInf(e.Momentum, -1):
		return fmt.Errorf("emgd: momentum ε1 = %v; want a number below 1", e.Momentum)
	}
	return nil
}

func (e *Elastic) momentum() float64 {
	switch {
	case e.Momentum == 0:
		return DefaultMomentum
	case e.Momentum < 0:
		return 0
	}
	return e.Momentum
}

func (e *Elastic) temperature() float64 {
	switch {
	case e.AutoTau && e.AutoScale > 0:
		return e.AutoScale * e.level
	case e.AutoTau:
		return e.level
	case e.Tau == 0 && e.Rule == LogGMC:
		return DefaultLogTau
	case e.Tau == 0:
		return DefaultTau
	}
	return e.Tau
}

// observe takes the lengths in z into the moving averages, and leaves these in z.
func (e *Elastic) observe(ids []int, z []float64) {
	if e.norms == nil {
		e.norms = make(map[int]float64)
	}
	k, eps1 := len(ids), e.momentum()
	mean := 0.0
	for i, id := range ids {
		norm := z[i]
		if m, ok := e.norms[id]; ok {
			norm = eps1*m + (1-eps1)*norm
		}
		e.norms[id] = norm
		z[i] = norm
		mean += norm / float64(k)
	}
	mean = min(mean, math.MaxFloat64) // which the parts of very long gradients may exceed by rounding
	if e.seen {
		mean = eps1*e.level + (1-eps1)*mean
	}
	e.level, e.seen = mean, true
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

// logs replaces lengths by their logarithms. A length of 0 becomes so small a number that its factor is 0, unless
// all are 0.
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

// raise lifts factors below MinSigma to it and takes the difference from the others in proportion.
func raise(sigma []float64) {
	floor := min(MinSigma, 0.5/float64(len(sigma)))
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

type elasticJSON struct {
	Rule      Rule            `json:"rule"`
	Tau       jsonFloat       `json:"tau"`
	AutoTau   bool            `json:"auto_tau"`
	AutoScale float64         `json:"auto_scale"`
	Momentum  float64         `json:"momentum"`
	Norms     map[int]float64 `json:"norms"`
	Level     float64         `json:"level"`
	Seen      bool            `json:"seen"`
}

// jsonFloat is a float64 that may be infinite, which JSON numbers may not.
type jsonFloat float64

func (f jsonFloat) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(f), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(f))
}

func (f *jsonFloat) UnmarshalJSON(data []byte) error {
	if string(data) == `"inf"` {
		*f = jsonFloat(math.Inf(1))
		return nil
	}
	return jsonin.Unmarshal(data, (*float64)(f))
}

// MarshalJSON writes the settings and everything remembered; float64 values survive exactly.
func (e Elastic) MarshalJSON() ([]byte, error) {
	return json.Marshal(elasticJSON{e.Rule, jsonFloat(e.Tau), e.AutoTau, e.AutoScale, e.Momentum, e.norms, e.level, e.seen})
}

// UnmarshalJSON restores what MarshalJSON wrote; the restored value continues exactly as the saved
// one would have.
func (e *Elastic) UnmarshalJSON(data []byte) error {
	var s elasticJSON
	if err := jsonin.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("emgd: elastic factors: %w", err)
	}
	if !(s.Level >= 0) {
		return fmt.Errorf("emgd: elastic factors: the level of the automatic temperature is %v; want a number ≥ 0", s.Level)
	}
	for id, m := range s.Norms {
		if !(m >= 0) {
			return fmt.Errorf("emgd: elastic factors: the mean norm of stream %d is %v; want a number ≥ 0", id, m)
		}
	}
	r := Elastic{
		Rule: s.Rule, Tau: float64(s.Tau), AutoTau: s.AutoTau, AutoScale: s.AutoScale, Momentum: s.Momentum,
		norms: maps.Clone(s.Norms), level: s.Level, seen: s.Seen,
	}
	if err := r.checkSettings(); err != nil {
		return err
	}
	*e = r
	return nil
}
