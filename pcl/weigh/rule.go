// Package weigh turns gradients that were computed elsewhere into the weights of a step: `pcl
// weigh`, the C library and the Python package call it. A [Scorer] is a method by its name,
// together with what it remembers and its random numbers. It checks what it is given, and a call
// that fails changes nothing. Begin with [New].
package weigh

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Rule is a method outside of a learner. It is not safe for concurrent use.
type Rule struct {
	settings string // its parameters
	method   *method.Started
	rng      *seed.Source
	keeper   interface{ Snapshot() (restore func()) } // nil if the state has to be written as JSON to be kept

	step      method.Step
	direction []float64 // what Outcome.Direction uses
}

// New makes the method with a name that package method knows, with its parameters; missing ones get
// their defaults. The seed is that of methods that draw random numbers.
func New(name string, params map[string]any, runSeed uint64) (*Rule, error) {
	all, err := method.Resolve(name, params)
	if err != nil {
		return nil, err
	}
	m, err := method.New(name, params)
	if err != nil {
		return nil, err
	}
	at, err := method.Start(m)
	if err != nil {
		return nil, err
	}
	r := &Rule{settings: text(all), method: at, rng: seed.New(runSeed, "method")}
	r.keeper, _ = at.Stateful.(interface{ Snapshot() (restore func()) })
	return r, nil
}

// text lists parameters by their names. Numbers that are written in several ways have one text.
func text(all map[string]any) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		if s, ok := value.(string); ok {
			if x, err := strconv.ParseFloat(s, 64); err == nil {
				value = x
			}
		}
		list = append(list, fmt.Sprintf("%s=%v", name, value))
	}
	return strings.Join(list, " ")
}

// Follows says whether the rule learns from the losses after a step; see [Scorer.Follow].
func (r *Rule) Follows() bool { return r.method.Follower != nil }

// Follow passes the losses of the latest step's batches after that step to the rule. A rule that
// does not learn from them ignores them.
func (r *Rule) Follow(ids []int, losses []float64) error {
	if r.method.Follower == nil {
		return nil
	}
	if ids == nil {
		ids = counted(len(losses))
	}
	if len(ids) != len(losses) {
		return fmt.Errorf("%d losses after the step for %d ids", len(losses), len(ids))
	}
	return r.method.Follower.Follow(ids, losses)
}

// End says that a stream has ended. The rule forgets what it remembers of it.
func (r *Rule) End(id int) {
	if r.method.Stateful != nil {
		r.method.Stateful.End(id)
	}
}

// state is what a rule remembers of the streams, and the state of its random numbers.
type state struct {
	Method   string          `json:"method"`
	Settings string          `json:"settings,omitempty"` // older states have none
	Rand     []byte          `json:"rand"`
	State    json.RawMessage `json:"state,omitempty"`
}

// State returns everything that the rule remembers, as JSON. A rule with the same name and
// parameters that is given it by [Scorer.SetState] goes on with the same bits.
func (r *Rule) State() (data []byte, err error) {
	s := state{Method: r.method.Info.Name, Settings: r.settings}
	if s.Rand, err = r.rng.MarshalBinary(); err != nil {
		return nil, err
	}
	if r.method.Stateful != nil {
		if s.State, err = r.method.Stateful.MarshalState(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(s)
}

// SetState replaces what the rule remembers by what [Scorer.State] returned. A state of another
// method, or one that was saved with other parameters, is refused and changes nothing.
func (r *Rule) SetState(data []byte) error {
	var s state
	if err := jsonin.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("it is not a state of pcl weigh: %w", err)
	}
	if s.Method != r.method.Info.Name {
		return fmt.Errorf("it holds the state of %q, not of %s", s.Method, r.method.Info.Name)
	}
	if s.Settings != "" && s.Settings != r.settings {
		return fmt.Errorf("use the settings it was saved with: %s; this rule has %s", s.Settings, r.settings)
	}
	rng := seed.New(0, "")
	if err := rng.UnmarshalBinary(s.Rand); err != nil {
		return err
	}
	if r.method.Stateful != nil {
		back, err := r.mark()
		if err != nil {
			return err
		}
		if err := r.method.Stateful.UnmarshalState(s.State); err != nil {
			return errors.Join(err, back()) // a composition may have taken over a part of it
		}
	}
	r.rng = rng
	return nil
}

// mark returns a function that goes back to what the rule remembers now.
func (r *Rule) mark() (back func() error, err error) {
	draws, restore := r.rng.Mark(), func() error { return nil }
	switch {
	case r.keeper != nil:
		undo := r.keeper.Snapshot()
		restore = func() error { undo(); return nil }
	case r.method.Stateful != nil:
		state, err := r.method.Stateful.MarshalState()
		if err != nil {
			return nil, err
		}
		restore = func() error { return r.method.Stateful.UnmarshalState(state) }
	}
	return func() error {
		r.rng.Return(draws)
		return restore()
	}, nil
}

// counted are the ids 1, 2, …, k.
func counted(k int) (ids []int) {
	for i := range k {
		ids = append(ids, i+1)
	}
	return ids
}
