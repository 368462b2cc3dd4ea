// Package weigh turns gradients that were computed elsewhere into the weights of a step: `pcl weigh`, the C library
// and the Python package call it. A [Rule] is a method by its name, together with what it remembers and its random
// numbers. It checks what it is given, and a call that fails changes nothing. Begin with [New].
package weigh

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Rule is a method outside of a learner. It is not safe for concurrent use.
type Rule struct {
	settings string // its parameters
	method   method.Method
	info     method.Info
	rng      *seed.Source
	stateful method.Stateful                          // nil if nothing is remembered
	keeper   interface{ Snapshot() (restore func()) } // nil if the state has to be written as JSON to be kept
	follower method.Follower                          // nil if losses after the step are of no use

	step      method.Step
	direction []float64 // what Outcome.Direction uses
}

// New makes the method with a name that package method knows, with its parameters; those that are missing get their
// defaults. The seed is that of methods that draw random numbers.
func New(name string, params map[string]any, runSeed uint64) (r *Rule, err error) {
	defer fail.Caught(&err)
	m, all := fail.Or(method.New(name, params)), fail.Or(method.Resolve(name, params))
	r = &Rule{settings: text(all), method: m, info: m.Info(), rng: seed.New(runSeed, "method")}
	r.stateful, _ = method.As[method.Stateful](m)
	r.keeper, _ = r.stateful.(interface{ Snapshot() (restore func()) })
	r.follower, _ = method.As[method.Follower](m)
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

// Follows says whether the rule learns from the losses after a step; see [Rule.Follow].
func (r *Rule) Follows() bool { return r.follower != nil }

// Follow passes the losses of the latest step's batches after that step to the rule. A rule that does not learn from
// them ignores them.
func (r *Rule) Follow(ids []int, losses []float64) error {
	if r.follower == nil {
		return nil
	}
	if ids == nil {
		ids = counted(len(losses))
	}
	if len(ids) != len(losses) {
		return fmt.Errorf("%d losses after the step for %d ids", len(losses), len(ids))
	}
	return r.follower.Follow(ids, losses)
}

// End says that a stream has ended. The rule forgets what it remembers of it.
func (r *Rule) End(id int) {
	if r.stateful != nil {
		r.stateful.End(id)
	}
}

// state is what a rule remembers of the streams, and the state of its random numbers.
type state struct {
	Method   string          `json:"method"`
	Settings string          `json:"settings,omitempty"` // older states have none
	Rand     []byte          `json:"rand"`
	State    json.RawMessage `json:"state,omitempty"`
}

// State returns everything that the rule remembers, as JSON. A rule with the same name and parameters that is given it
// by [Rule.SetState] goes on with the same bits.
func (r *Rule) State() (data []byte, err error) {
	defer fail.Caught(&err)
	s := state{Method: r.info.Name, Settings: r.settings, Rand: fail.Or(r.rng.MarshalBinary())}
	if r.stateful != nil {
		s.State = fail.Or(r.stateful.MarshalState())
	}
	return json.Marshal(s)
}

// SetState replaces what the rule remembers by what [Rule.State] returned. A state of another method, or one that was
// saved with other parameters, is refused and changes nothing.
func (r *Rule) SetState(data []byte) (err error) {
	defer fail.Caught(&err)
	var s state
	if err := jsonin.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("it is not a state of pcl weigh: %w", err)
	}
	if s.Method != r.info.Name {
		return fmt.Errorf("it holds the state of %q, not of %s", s.Method, r.info.Name)
	}
	if s.Settings != "" && s.Settings != r.settings {
		return fmt.Errorf("use the settings it was saved with: %s; this rule has %s", s.Settings, r.settings)
	}
	rng := seed.New(0, "")
	fail.If(rng.UnmarshalBinary(s.Rand))
	if r.stateful != nil {
		back := r.mark()
		if err := r.stateful.UnmarshalState(s.State); err != nil {
			back() // a composition may have taken over a part of it
			return err
		}
	}
	r.rng = rng
	return nil
}

// mark returns a function that goes back to what the rule remembers now.
func (r *Rule) mark() (back func()) {
	draws, restore := r.rng.Mark(), func() {}
	switch {
	case r.keeper != nil:
		restore = r.keeper.Snapshot()
	case r.stateful != nil:
		state := fail.Or(r.stateful.MarshalState())
		restore = func() { fail.If(r.stateful.UnmarshalState(state)) }
	}
	return func() {
		r.rng.Return(draws)
		restore()
	}
}

// counted are the ids 1, 2, …, k.
func counted(k int) (ids []int) {
	for i := range k {
		ids = append(ids, i+1)
	}
	return ids
}
