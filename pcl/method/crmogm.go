package method

import (
	"encoding/json"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/jsonin"
)

var _ = published(Info{
	Name: "cr-mogm", Title: "CR-MOGM", Family: "mtl",
	Rule:   "w = α·w(t−1) + (1−α)·ŵ, where ŵ are the weights of another method",
	Source: "Zhou et al., On the Convergence of Stochastic Multi-Objective Gradient Manipulation and Beyond, NeurIPS 2022",
	Cost:   "as the other method", State: "wᵢ per stream, and that of the other method", SumW: "as the other method (smoothed)",
}, CRMOGM{})

// CRMOGM is the method "cr-mogm".
type CRMOGM struct {
	Method string   `param:"method" default:"mgda" doc:"the method whose weights are smoothed, with its default parameters"`
	Alpha  *float64 `param:"alpha" default:"0.9" range:"[0,0.999999999]" doc:"α in [0, 1), the share of the previous weights"`
}

// start makes the method, joined with the rehearsal of the one that is smoothed.
func (p CRMOGM) start(info Info) Method {
	fail.When(p.Method == info.Name, "method %q would smooth itself", p.Method)
	m, err := New(p.Method, nil)
	fail.When(err != nil, "parameter method: %w", err)
	fail.When(m != nil && m.Info().Direct, "parameter method: %q gives a direction, which weights do not determine", p.Method)
	rule, parts := apart(m)
	of := rule.Info()
	info.NeedsGram, info.NeedsLosses, info.NeedsRows, info.NeedsCross = of.NeedsGram, of.NeedsLosses, of.NeedsRows, of.NeedsCross
	info.Title += " of " + m.Info().Title
	info.Family, info.Cost = of.Family, m.Info().Cost
	c := plain{&crmogm{inner: rule, alpha: *p.Alpha, memo: map[int]float64{}}, info}
	if len(parts) == 0 {
		return c
	}
	with := fail.Or(compose(c, parts...)).(*composed)
	with.info = info
	return with
}

// crmogm smooths another method's weights. A new stream enters with the weight that the method gives
// it; where streams came or went, the previous weights of those that stayed are first brought to the
// sum that the method now gives to these.
type crmogm struct {
	inner Method // a rule; the rehearsal that it may have come with is joined to the smoothed one
	alpha float64
	memo  map[int]float64
	ended bool // a stream of the last step has ended since
}

// Unwrap gives access to the method's roles.
func (m *crmogm) Unwrap() Method { return m.inner }

func (m *crmogm) weights(s *Step, w []float64) Outcome {
	out := fail.Or(m.inner.Weights(s, w))
	out.Certificate, out.Dropped = nil, nil // they are about the weights before smoothing
	before, now, stayed := 0.0, 0.0, 0
	for i, id := range s.IDs {
		if old, ok := m.memo[id]; ok {
			before, now, stayed = before+old, now+w[i], stayed+1
		}
	}
	factor := 1.0
	if changed := m.ended || stayed < len(w) || stayed < len(m.memo); changed && before*now > 0 {
		factor = now / before
	}
	for i, id := range s.IDs {
		if old, ok := m.memo[id]; ok {
			w[i] = m.alpha*factor*old + (1-m.alpha)*w[i]
		}
		m.memo[id] = w[i]
	}
	m.ended = false
	return out
}

func (m *crmogm) End(id int) {
	_, known := m.memo[id]
	m.ended = m.ended || known
	delete(m.memo, id)
	end(m.inner, id)
}

type crmogmState struct {
	Weights map[int]float64 `json:"weights"`
	Ended   bool            `json:"ended"`
	Inner   json.RawMessage `json:"inner,omitempty"`
}

func (m *crmogm) MarshalState() (json.RawMessage, error) {
	inner, err := stateOf(m.inner)
	if err != nil {
		return nil, err
	}
	return json.Marshal(crmogmState{m.memo, m.ended, inner})
}

func (m *crmogm) UnmarshalState(data json.RawMessage) error {
	state := crmogmState{}
	if string(data) == "null" {
		data = json.RawMessage("{}") // as for the other methods
	}
	if err := jsonin.Unmarshal(data, &state); err != nil {
		return fmt.Errorf("its saved state: %w", err)
	}
	if err := restore(m.inner, state.Inner); err != nil {
		return err
	}
	if m.memo, m.ended = state.Weights, state.Ended; m.memo == nil {
		m.memo = map[int]float64{}
	}
	return nil
}
