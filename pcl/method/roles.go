package method

import (
	"encoding/json"
	"fmt"
	"reflect"

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

// As returns a method, or a part of it, as the role T. The parts are the method that it wraps, and the rehearsal and the
// rule of a composition.
func As[T any](m any) (role T, ok bool) {
	if role, ok = m.(T); ok {
		return role, true
	}
	for _, part := range inside(m) {
		if role, ok = As[T](part); ok {
			return role, true
		}
	}
	return role, false
}

// inside lists the parts of a method.
func inside(m any) []any {
	switch m := m.(type) {
	case plain:
		return []any{m.rule}
	case *composed:
		return m.roles
	case interface{ Unwrap() Method }:
		return []any{m.Unwrap()}
	}
	return nil
}

// Whole returns an error if a method, or a part of it, has the main method of a rehearsal's role but lacks others, and so
// would never be called.
func Whole(m any) error {
	t := reflect.TypeOf(m)
	for main, role := range map[string]reflect.Type{
		"Replays": reflect.TypeFor[rehearsal.Replayer](), "Curate": reflect.TypeFor[rehearsal.Curator](),
		"Prepare": reflect.TypeFor[rehearsal.Predictor](), "Penalise": reflect.TypeFor[rehearsal.Penalty](),
	} {
		if _, has := t.MethodByName(main); has && !t.Implements(role) {
			return fmt.Errorf("%s has %s, but not all methods of %s", t, main, role)
		}
	}
	for _, part := range inside(m) {
		if err := Whole(part); err != nil {
			return err
		}
	}
	return nil
}
