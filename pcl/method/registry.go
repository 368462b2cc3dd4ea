package method

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// A declaration, or a pointer to it, is one of these. Those of this package end the work at an error by package fail.
type (
	weigher interface {
		Weights(s *Step, w []float64) (Outcome, error)
	}
	starter interface{ Start() (Method, error) }

	rule interface {
		weights(s *Step, w []float64) Outcome
	}
	starting interface{ start(info Info) Method }
)

// A rule may also be one of these.
type (
	informed  interface{ informs(info Info) Info } // its Info depends on its parameters
	rehearsed interface{ part() any }              // it brings a part of a rehearsal
)

// declared is a registered method.
type declared struct {
	info        Info
	declaration any
	rule        rule // that of a method whose declaration is a part of a rehearsal; see presets.go
}

var registry = origin.Registry[declared]{Kind: "method"}

// declarationOf returns what the struct of a declaration was registered as.
func declarationOf(declaration any) (d declared, registered bool) {
	return registry.OfType(declaration, func(d declared) any { return d.declaration })
}

// Register makes a method known under the name info.Name, to [New], [Make] and the command line. The declaration is a
// struct whose tagged fields are the method's parameters (package params). It, or a pointer to it, has the method
//
//	Weights(s *Step, w []float64) (Outcome, error)
//
// of [Method]. It is called with the defaults in place of zero values, after ranges and choices have been checked. A method
// that has to be set up, or that brings a rehearsal, has Start() (Method, error) instead, which is called likewise.
//
// Register panics if the name is empty or taken or has a +, which joins names, if the struct is registered already, or if
// its tags contradict themselves or use the name "rescale", which is a parameter of every method.
func Register(info Info, declaration any) { register(declared{info: info, declaration: declaration}) }

func register(d declared) {
	list, t, name := params.Of(d.declaration), origin.StructOf(d.declaration), d.info.Name
	named, twice := declarationOf(d.declaration)
	switch {
	case strings.Contains(name, "+"):
		panic(fmt.Sprintf("method: Register needs a name without +, not %q", name))
	case twice && named.info.Name != name:
		panic(fmt.Sprintf("method: %s, the struct of %q, is registered as %q", t, name, named.info.Name))
	case d.info.NeedsRows && !d.info.NeedsGram:
		panic(fmt.Sprintf("method: %q needs the rows, so it must ask for their Gram matrix", name))
	case slices.ContainsFunc(list, func(p params.Param) bool { return p.Name == rescaleParam.Name }):
		panic(fmt.Sprintf("method: %q has a parameter rescale, which every method has", name))
	}
	switch reflect.New(t).Interface().(type) {
	case weigher, starter, rule, starting:
	default:
		if d.rule == nil {
			panic(fmt.Sprintf("method: %s has neither Weights nor Start", t))
		}
	}
	registry.Add(name, d)
}

// published registers a method of this package in the file that holds it.
func published(info Info, declaration any) (none struct{}) {
	Register(info, declaration)
	return none
}

// plain is a rule with its Info: the door at which its steps are checked.
type plain struct {
	rule any // a rule or a weigher
	info Info
}

func (p plain) Info() Info { return p.info }

func (p plain) Weights(s *Step, w []float64) (out Outcome, err error) {
	defer fail.Caught(&err)
	s.check(p.info, w)
	if r, ok := p.rule.(weigher); ok { // also where its struct embeds that of a published rule
		return r.Weights(s, w)
	}
	return p.rule.(rule).weights(s, w), nil
}

// Make makes the method that a struct declares, such as EMGDGMC{Tau: 10}, joined with the parts of a rehearsal
// (docs/method.md §8), for example
//
//	method.Make(method.EMGDGMC{Tau: 10}, rehearsal.Distill{Alpha: new(0.5)})
//
// A zero field stands for the default. A published method may have a rehearsal of its own, whose parts then come first.
// [New] makes the same method from the name "emgd-gmc+der-pp". Make(rehearsal.Distill{}) makes the method "der-pp", which
// is the part with the rule that it was published with.
//
// A [Method] whose type is not registered is taken as it is. Values out of range are errors, as are parts that cannot be
// joined. Make panics if a struct is not registered.
func Make(declaration any, parts ...any) (Method, error) {
	if declaration == nil || slices.Contains(parts, nil) {
		return nil, errors.New("method: Make: the declaration or a part is nil")
	}
	m, ok := declaration.(Method)
	if d, declares := declarationOf(declaration); declares || !ok {
		var err error
		if m, err = started(declaration); err != nil {
			return nil, fmt.Errorf("method %s: %w", d.info.Name, err)
		}
	}
	if len(parts) == 0 {
		return m, nil
	}
	return compose(m, parts...)
}

// started makes the method of a declaration alone.
func started(declaration any) (m Method, err error) {
	defer fail.Caught(&err)
	d, registered := declarationOf(declaration)
	if d.rule != nil {
		return joined(plain{d.rule, d.info}, declaration), nil
	}
	filled := pointerTo(declaration)
	fail.If(params.Fill(filled))
	if m, ok := filled.(interface{ begin() }); ok {
		m.begin()
	}
	switch f := filled.(type) { // the methods of one's own first: its struct may embed that of a published rule
	case starter:
		m, err := f.Start()
		if err == nil && m == nil {
			err = fmt.Errorf("%T: Start returned no method", declaration)
		}
		return m, err
	case Method: // its Info depends on its parameters
		return plain{f, f.Info()}, nil
	}
	if !registered {
		panic(fmt.Sprintf("method: %T is not registered and has no Start", declaration))
	}
	switch f := filled.(type) {
	case weigher:
		return plain{f, d.info}, nil
	case starting:
		return f.start(d.info), nil
	}
	return ruled(filled.(rule), d.info), nil
}

// ruled is the method of a rule of this package.
func ruled(r rule, info Info) Method {
	if i, ok := r.(informed); ok {
		info = i.informs(info)
	}
	if p, ok := r.(rehearsed); ok {
		return joined(plain{r, info}, p.part())
	}
	return plain{r, info}
}

// Names returns the registered names in alphabetical order.
func Names() []string { return registry.Names() }

// Description is what [Lookup] knows of a method.
type Description struct {
	Info
	Params []params.Param `json:"params"` // those that New accepts
}

// Lookup describes the method that was registered under the name, or a composition such as "emgd-gmc+der-pp": a
// method, and after each + a part of a rehearsal (see [Make]). Whether the parts can be joined is for [New] to say.
func Lookup(name string) (Description, error) {
	n, err := find(name)
	if err != nil {
		return Description{}, err
	}
	return Description{described(n.info, n.parts), n.accepts()}, nil
}

// New makes the method with the given name. Parameters that are missing get their defaults. Besides its own
// parameters, every method has the parameter "rescale" (docs/method.md §1.4). Unknown names and values out of range
// are errors.
func New(name string, values map[string]any) (Method, error) {
	n, all, err := resolved(name, values)
	if err != nil {
		return nil, err
	}
	m, err := n.make(all)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", name, err)
	}
	return rescaled(m, all[rescaleParam.Name].(string)), nil
}

// Resolve returns the values of all parameters that [New] would make the method with: those that are given, in the
// parameter's type, and the defaults of the others.
func Resolve(name string, values map[string]any) (map[string]any, error) {
	_, all, err := resolved(name, values)
	return all, err
}

func resolved(name string, values map[string]any) (n named, all map[string]any, err error) {
	if n, err = find(name); err != nil {
		return n, nil, err
	}
	if values, err = n.unqualified(values); err == nil {
		all, err = n.resolve(values)
	}
	if err != nil {
		return n, nil, fmt.Errorf("method %s: %w", name, err)
	}
	return n, all, nil
}
