package method

import (
	"encoding/json"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/jsonin"
)

func init() { Register(crmogmInfo, CRMOGM{}) }

var crmogmInfo = Info{
	Name: "cr-mogm", Title: "CR-MOGM", Family: "mtl",
	Rule:   "w = α·w(t−1) + (1−α)·ŵ, where ŵ are the weights of another method",
	Source: "Zhou et al., On the Convergence of Stochastic Multi-Objective Gradient Manipulation and Beyond, NeurIPS 2022",
	Cost:   "as the other method", State: "wᵢ per stream, and that of the other method", SumW: "as the other method (smoothed)",
}

// CRMOGM is the method "cr-mogm".
type CRMOGM struct {
	Method string   `param:"method" default:"mgda" doc:"the method whose weights are smoothed, with its default parameters"`
	Alpha  *float64 `param:"alpha" default:"0.9" range:"[0,0.999999999]" doc:"α in [0, 1), the share of the previous weights"`
}

// Start makes the method, joined with the rehearsal of the one that is smoothed.
func (p CRMOGM) Start() (Method, error) {
	name := p.Method
	if name == crmogmInfo.Name {
		return nil, fmt.Errorf("method %q would smooth itself", name)
	}
	m, err := New(name, nil)
	if err != nil {
		return nil, fmt.Errorf("parameter method: %w", err)
	}
	if m.Info().Direct {
		return nil, fmt.Errorf("parameter method: %q gives a direction, which weights do not determine", name)
	}
	rule, parts := apart(m)
	c := &crmogm{info: crmogmInfo, inner: rule, alpha: *p.Alpha, memo: map[int]float64{}}
	c.info.NeedsGram, c.info.NeedsLosses = rule.Info().NeedsGram, rule.Info().NeedsLosses
	c.info.NeedsRows, c.info.NeedsCross = rule.Info().NeedsRows, rule.Info().NeedsCross
	c.info.Title += " of " + m.Info().Title
	c.info.Family, c.info.Cost = rule.Info().Family, m.Info().Cost
	if len(parts) == 0 {
		return c, nil
	}
	with, err := compose(c, parts...)
	if err == nil {
		with.(*composed).info = c.info
	}
	return with, err
}

// crmogm smooths another method's weights. A new stream enters with the weight that the method gives
// it; where streams came or went, the previous weights of those that stayed are first brought to the
// sum that the method now gives to these.
type crmogm struct {
	info  Info
	inner Method // a rule; the rehearsal that it may have come with is joined to the smoothed one
	alpha float64
	memo  map[int]float64
	ended bool // a stream of the last step has ended since
}

func (m *crmogm) Info() Info { return m.info }

// Unwrap gives access to the method's roles.
func (m *crmogm) Unwrap() Method { return m.inner }

func (m *crmogm) Weights(s *Step, w []float64) (out Outcome, err error) {
	defer fail.Caught(&err)
	s.check(m.info, w)
	out, err = m.inner.Weights(s, w)
	if err != nil {
		return out, err
	}
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
	return out, nil
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
