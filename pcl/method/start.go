package method

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"sync"
	"weak"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// Started is a method at work, as [Start] returns it.
type Started struct {
	Method Method // with the rehearsal that it brings
	Info   Info
	Needs  Needs
	Roles

	of Method // what was started
}

// Start makes a method ready for a learner: it puts the defaults in place of zero values, checks
// ranges, calls [Starter], and joins the rehearsal that the method brings. A method can be started
// once, since it remembers the streams of one learner.
func Start(of Method) (*Started, error) {
	m, err := of, claim(of)
	if err == nil {
		if err = whole(of); err == nil {
			m, err = complete(of)
		}
		if err != nil {
			release(of)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", Describe(m).Name, err)
	}
	return &Started{m, Describe(m), m.Needs(), rolesOf(m), of}, nil
}

// Release gives a method back that has made no step, so that it can be started again.
func (s *Started) Release() { release(s.of) }

// Close ends what the method, or one in it, holds open, such as a process.
func (s *Started) Close() error {
	for m := s.of; m != nil; m = innerOf(m) {
		if c, ok := m.(io.Closer); ok {
			return c.Close()
		}
	}
	return nil
}

// complete sets a method up, and joins it with the rehearsal that it brings.
func complete(m Method) (Method, error) {
	if err := begin(m); err != nil {
		return m, err
	}
	if !has[*Composition](m) && len(partsOf(m)) > 0 {
		m = Compose(m)
	}
	return m, begin(m)
}

// setup says how far a method has come. The methods of this package embed it, so that their first
// step sets them up.
type setup struct{ begun, claimed bool }

func (u *setup) stage() *setup { return u }

// stages holds what methods of others have come to.
var stages sync.Map // of *setup by weak.Pointer[byte]

// stageOf returns how far a method has come. One without a pointer to anything that it could
// remember is always new.
func stageOf(m Method) *setup {
	if own, ok := m.(interface{ stage() *setup }); ok {
		return own.stage()
	}
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer || v.Type().Elem().Size() == 0 {
		return new(setup)
	}
	at := (*byte)(v.UnsafePointer())
	key := weak.Make(at)
	u, known := stages.LoadOrStore(key, new(setup))
	if !known {
		runtime.AddCleanup(at, func(key weak.Pointer[byte]) { stages.Delete(key) }, key)
	}
	return u.(*setup)
}

// begin sets a method up, unless that was done.
func begin(m Method) error {
	u := stageOf(m)
	if u.begun {
		return nil
	}
	if v := reflect.ValueOf(m); v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct {
		if err := params.Fill(m); err != nil {
			return err
		}
	} else if v.Kind() == reflect.Struct && len(params.Of(m)) > 0 {
		panic(fmt.Sprintf("method: %T has parameters, whose defaults could not be filled in; want a pointer to it", m))
	}
	if r, ok := m.(interface{ remember() }); ok {
		r.remember()
	}
	if in := innerOf(m); in != nil {
		if err := begin(in); err != nil {
			return err
		}
	}
	if r, ok := m.(Starter); ok {
		if err := r.Start(); err != nil {
			return err
		}
	}
	u.begun = true
	return nil
}

var errClaimed = errors.New(
	"it belongs to another learner, whose streams it remembers; want a new one for each learner")

// claim marks a method, and those in it, as taken.
func claim(m Method) error {
	for in := m; in != nil; in = innerOf(in) {
		if stageOf(in).claimed {
			return errClaimed
		}
	}
	for ; m != nil; m = innerOf(m) {
		stageOf(m).claimed = true
	}
	return nil
}

func release(m Method) {
	for ; m != nil; m = innerOf(m) {
		stageOf(m).claimed = false
	}
}
