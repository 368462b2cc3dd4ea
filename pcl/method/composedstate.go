package method

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// jointState is the state of a composition whose rehearsal remembers something: the rule's state,
// if it has one, and the parts'. A composition without such parts has the state of its rule alone.
type jointState struct {
	rule  Stateful // nil if the rule remembers nothing
	parts []rehearsal.Saver
}

type composedState struct {
	Rule  json.RawMessage   `json:"rule,omitempty"`
	Parts []json.RawMessage `json:"parts"`
}

// End tells the rule. Parts learn of an end as Penalty or Curator.
func (c jointState) End(id int) { endOf(c.rule, id) }

// MarshalState writes the states of the rule and the parts.
func (c jointState) MarshalState() (json.RawMessage, error) {
	var out composedState
	var err error
	if out.Rule, err = stateOf(c.rule); err != nil {
		return nil, err
	}
	for _, p := range c.parts {
		state, err := p.MarshalState()
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, state)
	}
	return json.Marshal(out)
}

// UnmarshalState restores what MarshalState wrote.
func (c jointState) UnmarshalState(data json.RawMessage) error {
	var in composedState
	if err := jsonin.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("its saved state: %w", err)
	}
	if len(in.Parts) != len(c.parts) {
		return fmt.Errorf("its saved state has %d parts, want %d", len(in.Parts), len(c.parts))
	}
	if err := restore(c.rule, in.Rule); err != nil {
		return err
	}
	for i, p := range c.parts {
		if err := p.UnmarshalState(in.Parts[i]); err != nil {
			return fmt.Errorf("its saved state: %w", err)
		}
	}
	return nil
}

// These functions call the methods of a Stateful that may be nil.

func endOf(s Stateful, id int) {
	if s != nil {
		s.End(id)
	}
}

func stateOf(s Stateful) (json.RawMessage, error) {
	if s == nil {
		return nil, nil
	}
	return s.MarshalState()
}

func restore(s Stateful, state json.RawMessage) error {
	switch {
	case s != nil:
		return s.UnmarshalState(state)
	case state != nil:
		return errors.New("the saved state is that of another rule, which remembers something")
	}
	return nil
}
