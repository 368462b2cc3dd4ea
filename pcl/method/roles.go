package method

import (
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// These interfaces are the roles that a rule can have besides turning gradients into weights; the roles of a rehearsal
// are in package rehearsal. The learner asks for them with [As]; it knows no method by name.

// Stateful is a rule that remembers something between steps.
type Stateful interface {
	// End is called when a stream has ended. The method forgets what it remembers of the stream, or freezes it.
	End(id int)
	// MarshalState and UnmarshalState save and restore everything that is remembered.
	MarshalState() (json.RawMessage, error)
	UnmarshalState(json.RawMessage) error
}

// Snapshotter is a Stateful method that can copy its state in memory, at less cost than writing it as JSON. Ask for it with
// [Own]: what [As] finds may be a part of a method that remembers more.
type Snapshotter interface {
	Stateful
	// Snapshot returns a function that restores the present state.
	Snapshot() (restore func())
}

// Follower is a method that learns from the losses of a step's batches after the step.
type Follower interface {
	// Follow is called with the step's ids and the losses of its batches at the new parameters.
	Follow(ids []int, losses []float64) error
}

// Idler is a method that may skip training steps.
type Idler interface {
	// Idle reports whether the coming step leaves the parameters as they are.
	Idle() bool
}

// As returns a method, or a part of it, as the role T. The parts are the method that it wraps, and the rule and the
// rehearsal of a composition.
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

// Whole returns an error if a method, or the one that it wraps, implements a role of a rehearsal only in part ([rehearsal.Whole]).
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

// Own returns the method, or the one that it wraps, as a T, or nil. It looks neither into compositions nor into methods that
// wrap another and have a state of their own, because the other part may remember something too.
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
