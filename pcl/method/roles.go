package method

import (
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// These interfaces are the roles that a rule can have besides turning gradients into weights; those of a rehearsal
// are in package rehearsal. The learner asks for them with [As]; it knows no method by its name.

// Stateful is a rule that remembers something between steps.
type Stateful interface {
	// End is called when a stream has ended. The method forgets what it remembers of the stream, or freezes it.
	End(id int)
	// MarshalState and UnmarshalState save and restore everything that is remembered.
	MarshalState() (json.RawMessage, error)
	UnmarshalState(json.RawMessage) error
}

// Snapshotter is a Stateful method that can copy what it remembers in memory, at less cost than writing it as JSON. It is the
// method itself that has to be one: what [As] finds may be a part of a method that remembers more.
type Snapshotter interface {
	Stateful
	// Snapshot returns a function that goes back to what is remembered now.
	Snapshot() (restore func())
}

// Follower is a method that wants to know the losses of a step's batches after the step has been made.
type Follower interface {
	// Follow is called with the step's ids and the losses of its batches at the new parameters.
	Follow(ids []int, losses []float64) error
}

// Idler is a method that may skip training steps.
type Idler interface {
	// Idle reports whether the coming step leaves the parameters as they are.
	Idle() bool
}

// As returns the role T of a method, or that of a part of it: of the method that it wraps, of the rule or of the
// rehearsal that were joined to it.
func As[T any](m Method) (T, bool) {
	if role, ok := m.(T); ok {
		return role, true
	}
	if p, ok := m.(plain); ok {
		if own, ok := p.weigher.(Method); ok {
			return As[T](own)
		}
		role, ok := p.weigher.(T)
		return role, ok
	}
	if w, ok := m.(interface{ Unwrap() Method }); ok {
		return As[T](w.Unwrap())
	}
	if c, ok := m.(*composed); ok {
		for _, part := range c.roles {
			if role, ok := part.(T); ok {
				return role, true
			}
		}
		return As[T](c.rule)
	}
	var none T
	return none, false
}

// Whole returns an error if a method, or the one that it wraps, has only a part of a role of a rehearsal ([rehearsal.Whole]).
func Whole(m Method) error {
	switch m := m.(type) {
	case plain:
		if own, ok := m.weigher.(Method); ok {
			return Whole(own)
		}
		return rehearsal.Whole(m.weigher)
	case *composed:
		return Whole(m.rule)
	case interface{ Unwrap() Method }:
		return Whole(m.Unwrap())
	}
	return rehearsal.Whole(m)
}

// Own returns the method as a T, or the one that it wraps, or nil. A part of a composition does not count, and neither does
// what a method wraps that has a state of its own, because the others may remember something too.
func Own[T Stateful](m Method) (none T) {
	switch m := m.(type) {
	case T:
		return m
	case plain:
		role, _ := m.weigher.(T)
		return role
	case Stateful:
		return none
	case interface{ Unwrap() Method }:
		return Own[T](m.Unwrap())
	}
	return none
}
