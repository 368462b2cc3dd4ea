package method

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// These interfaces are the roles that a method can have besides turning gradients into weights; the
// roles of a rehearsal are in package rehearsal. A learner asks for them by type assertion; it
// knows no method by name.

// Starter is a method that has to be set up. Start is called once, before the first step, when
// defaults have been filled in and ranges checked.
type Starter interface {
	Start() error
}

// Stateful is a method that remembers something between steps.
type Stateful interface {
	// End is called when a stream has ended. The method forgets what it remembers of the stream, or
	// freezes it.
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

// Rehearser is a method that brings parts of a rehearsal. Its Weights are those of the rule alone.
// Parts is called after Start.
type Rehearser interface {
	Parts() []rehearsal.Part
}

// Analytic is a method that learns from sums over its samples instead of by gradients. Learners
// make no steps for it, and their network is not used.
type Analytic interface {
	// Admit returns an error if the method cannot take a sample. It is called before samples are
	// learnt.
	Admit(x []float32) error
	// Latest returns the last rule that was made, and whether it is for all samples. If it is not,
	// a new one is being made when Latest returns. nil stands for no samples.
	Latest() (rule rehearsal.Scorer, current bool, err error)
	// Unlearn takes away all that a task has added. samples are the class and the values of each
	// sample that it added, in any order; nil stands for sums that were kept. After an error
	// nothing has changed.
	Unlearn(task int, samples iter.Seq2[int, []float32]) error
	// Seen returns how many samples the sums have, Bytes how large they are in memory.
	Seen() int
	Bytes() int
}

// Describer is a method whose Info is not only what it was registered with.
type Describer interface {
	Info() Info
}

// Elastic is a method whose weights follow from elastic factors σ, which can also be given to it.
type Elastic interface {
	// WeightsFor is Weights for given factors, which it neither computes nor remembers. The method
	// must have been started.
	WeightsFor(s *Step, sigma, w []float64) (Outcome, error)
}

// Wrapper is a method around another one, which is started with it and may be nil before. It has
// the roles of the other one that it does not have itself, and brings its rehearsal.
type Wrapper interface {
	Unwrap() Method
}

// IsAnalytic says whether a method learns from sums instead of by gradients ([Analytic]).
func IsAnalytic(m Method) bool { return has[Analytic](m) }

// Roles are the roles of a method at work; those that it does not have are nil.
type Roles struct {
	Stateful Stateful
	Follower Follower
	Idler    Idler
	Analytic Analytic
	rehearsal.Roles
}

// rolesOf asks a method for its roles.
func rolesOf(m Method) (r Roles) {
	if c, ok := m.(*Composition); ok {
		return c.roles
	}
	r.Stateful, _ = m.(Stateful)
	r.Follower, _ = m.(Follower)
	r.Idler, _ = m.(Idler)
	r.Analytic, _ = m.(Analytic)
	r.Roles = rehearsal.RolesOf(m)
	if in := innerOf(m); in != nil {
		others := rolesOf(in)
		r.Stateful, r.Follower, r.Idler = cmp.Or(r.Stateful, others.Stateful), cmp.Or(r.Follower, others.Follower),
			cmp.Or(r.Idler, others.Idler)
		r.Analytic = cmp.Or(r.Analytic, others.Analytic)
		r.Roles = r.Roles.Or(others.Roles)
	}
	return r
}

// innerOf is the method that another one is made around; nil if there is none.
func innerOf(m Method) Method {
	if w, ok := m.(Wrapper); ok {
		return w.Unwrap()
	}
	return nil
}

// partsOf are the parts of a rehearsal that a method brings.
func partsOf(m Method) []rehearsal.Part {
	if r, ok := m.(Rehearser); ok {
		return r.Parts()
	}
	if in := innerOf(m); in != nil {
		return partsOf(in)
	}
	return nil
}

// has says whether a method, or one in it, is a T.
func has[T any](m Method) bool {
	for ; m != nil; m = innerOf(m) {
		if _, ok := m.(T); ok {
			return true
		}
	}
	return false
}

// whole returns an error if a method has the main method of a rehearsal's role but lacks others,
// and so would never be called.
func whole(m Method) error {
	t := reflect.TypeOf(m)
	for main, role := range map[string]reflect.Type{
		"Replays": reflect.TypeFor[rehearsal.Replayer](), "Curate": reflect.TypeFor[rehearsal.Curator](),
		"Observe": reflect.TypeFor[rehearsal.Observer](),
		"Prepare": reflect.TypeFor[rehearsal.Predictor](), "Penalise": reflect.TypeFor[rehearsal.Penalty](),
	} {
		if _, has := t.MethodByName(main); has && !t.Implements(role) {
			return fmt.Errorf("%s has %s, but not all methods of %s", t, main, role)
		}
	}
	if in := innerOf(m); in != nil {
		return whole(in)
	}
	return nil
}
