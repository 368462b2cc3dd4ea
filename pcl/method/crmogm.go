package method

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

func init() {
	Register(Info{
		Name: "cr-mogm", Title: "CR-MOGM", Family: "mtl",
		Rule:   "w = α·w(t−1) + (1−α)·ŵ, where ŵ are the weights of another method",
		Source: "Zhou et al., On the Convergence of Stochastic Multi-Objective Gradient Manipulation and Beyond, NeurIPS 2022",
		Cost:   "as the other method", State: "wᵢ per stream, and that of the other method",
		SumW: "as the other method (smoothed)",
	}, func() Method { return new(CRMOGM) })
}

// CRMOGM is the method "cr-mogm": it smooths another method's weights. A new stream enters with the
// weight that the method gives it; where streams came or went, the previous weights of those that
// stayed are first brought to the sum that the method now gives to these.
type CRMOGM struct {
	Method string   `param:"method" default:"mgda" doc:"the method whose weights are smoothed, with its default parameters"`
	Alpha  *float64 `param:"alpha" default:"0.9" range:"[0,0.999999999]" doc:"α in [0, 1), the share of the previous weights"`

	setup
	info  Info             // of the other method
	of    Method           // its rule
	parts []rehearsal.Part // those that it brings
	memo  map[int]float64
	ended bool // a stream of the last step has ended since
}

// Start makes the method whose weights are smoothed. Its rehearsal becomes that of CR-MOGM.
func (m *CRMOGM) Start() error {
	if m.Method == "cr-mogm" {
		return errors.New("parameter method: cr-mogm would smooth itself")
	}
	of, err := New(m.Method, nil)
	switch {
	case err != nil:
		return fmt.Errorf("parameter method: %w", err)
	case of.Needs().Direction:
		return fmt.Errorf("parameter method: %q gives a direction, which weights do not determine", m.Method)
	}
	m.info, m.parts = Describe(of), partsOf(of)
	if m.of = of; m.memo == nil {
		m.memo = map[int]float64{}
	}
	if c, ok := of.(*Composition); ok {
		m.of = c.rule
	}
	return nil
}

// Info names the other method, once that is made.
func (m *CRMOGM) Info() Info {
	info := registeredInfo(m)
	if m.of != nil {
		info.Title += " of " + m.info.Title
		info.Family, info.Cost = Describe(m.of).Family, m.info.Cost
	}
	return info
}

// Needs returns the other method's, once that is made.
func (m *CRMOGM) Needs() Needs {
	if m.of == nil {
		return Needs{}
	}
	return m.of.Needs()
}

// Parts returns the other method's.
func (m *CRMOGM) Parts() []rehearsal.Part { return m.parts }

// Unwrap returns the rule of the other method, once that is made.
func (m *CRMOGM) Unwrap() Method { return m.of }

// Weights writes the smoothed weights of one step to w.
func (m *CRMOGM) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	out, err := m.of.Weights(s, w)
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
			w[i] = *m.Alpha*factor*old + (1-*m.Alpha)*w[i]
		}
		m.memo[id] = w[i]
	}
	m.ended = false
	return out, nil
}

// End forgets a stream.
func (m *CRMOGM) End(id int) {
	_, known := m.memo[id]
	m.ended = m.ended || known
	delete(m.memo, id)
	endOf(rolesOf(m.of).Stateful, id)
}

type crmogmState struct {
	Weights map[int]float64 `json:"weights"`
	Ended   bool            `json:"ended"`
	Inner   json.RawMessage `json:"inner,omitempty"`
}

// MarshalState writes the weights, and the state of the other method.
func (m *CRMOGM) MarshalState() (json.RawMessage, error) {
	inner, err := stateOf(rolesOf(m.of).Stateful)
	if err != nil {
		return nil, err
	}
	return json.Marshal(crmogmState{m.memo, m.ended, inner})
}

// UnmarshalState reads what MarshalState wrote.
func (m *CRMOGM) UnmarshalState(data json.RawMessage) error {
	state := crmogmState{}
	if string(data) == "null" {
		data = json.RawMessage("{}") // as for the other methods
	}
	if err := jsonin.Unmarshal(data, &state); err != nil {
		return fmt.Errorf("its saved state: %w", err)
	}
	if err := restore(rolesOf(m.of).Stateful, state.Inner); err != nil {
		return err
	}
	if m.memo, m.ended = state.Weights, state.Ended; m.memo == nil {
		m.memo = map[int]float64{}
	}
	return nil
}
