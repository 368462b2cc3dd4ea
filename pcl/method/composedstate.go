package method

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// rememberer is a role of a rehearsal that remembers something between steps.
type rememberer interface {
	MarshalState() (json.RawMessage, error)
	UnmarshalState(json.RawMessage) error
}

// statefulParts is the state of a composition whose rehearsal remembers something: the rule's state, if it has one, and
// the parts'. A composition without such parts has the state of its rule alone.
type statefulParts struct {
	*composed
	states []rememberer
}

// statesOf lists the roles of a rehearsal that remember something.
func statesOf(roles []any) (states []rememberer) {
	for _, r := range roles {
		if s, ok := r.(rememberer); ok {
			states = append(states, s)
		}
	}
	return states
}

type composedState struct {
	Rule  json.RawMessage   `json:"rule,omitempty"`
	Parts []json.RawMessage `json:"parts"`
}

// End tells the rule. Parts learn of an end as Penalty or Curator.
func (c statefulParts) End(id int) { end(c.rule, id) }

// MarshalState writes the states of the rule and the parts.
func (c statefulParts) MarshalState() (json.RawMessage, error) {
	var out composedState
	var err error
	if out.Rule, err = stateOf(c.rule); err != nil {
		return nil, err
	}
	for _, p := range c.states {
		state, err := p.MarshalState()
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, state)
	}
	return json.Marshal(out)
}

// UnmarshalState restores what MarshalState wrote.
func (c statefulParts) UnmarshalState(data json.RawMessage) error {
	var in composedState
	if err := jsonin.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("its saved state: %w", err)
	}
	if len(in.Parts) != len(c.states) {
		return fmt.Errorf("its saved state has %d parts, want %d", len(in.Parts), len(c.states))
	}
	if err := restore(c.rule, in.Rule); err != nil {
		return err
	}
	for i, p := range c.states {
		if err := p.UnmarshalState(in.Parts[i]); err != nil {
			return fmt.Errorf("its saved state: %w", err)
		}
	}
	return nil
}

// These functions call the methods of [Stateful] on a rule that may not have them.

func end(rule Method, id int) {
	if s, ok := As[Stateful](rule); ok {
		s.End(id)
	}
}

func stateOf(rule Method) (json.RawMessage, error) {
	if s, ok := As[Stateful](rule); ok {
		return s.MarshalState()
	}
	return nil, nil
}

func restore(rule Method, state json.RawMessage) error {
	if s, ok := As[Stateful](rule); ok {
		return s.UnmarshalState(state)
	}
	if state != nil {
		return errors.New("the saved state is that of another rule, which remembers something")
	}
	return nil
}
