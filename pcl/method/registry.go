package method

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/names"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// registered is what [Register] was given.
type registered struct {
	info Info
	new  func() Method
	kind reflect.Type
}

var registry = names.Registry[registered]{Kind: "method"}

// Register makes a method known under the name info.Name, to [New] and the command line. make
// returns a new one with the zero values of its parameters, which are the tagged fields of its
// struct (package params).
//
// Register panics if the name is empty or taken or has a +, which joins names, if the struct is
// registered already, or if its tags contradict themselves or use the name "rescale", which is a
// parameter of every method.
func Register(info Info, make func() Method) {
	m := make()
	list, kind := params.Of(m), names.StructOf(m)
	before, twice := registeredAs(m)
	switch {
	case strings.Contains(info.Name, "+"):
		panic(fmt.Sprintf("method: Register needs a name without +, not %q", info.Name))
	case twice && before.info.Name != info.Name:
		panic(fmt.Sprintf("method: %s, the struct of %q, is registered as %q", kind, info.Name, before.info.Name))
	case m.Needs().Rows && !m.Needs().Gram:
		panic(fmt.Sprintf("method: %q needs the rows, so it must ask for their Gram matrix", info.Name))
	case slices.ContainsFunc(list, func(p params.Param) bool { return p.Name == rescaleParam.Name }):
		panic(fmt.Sprintf("method: %q has a parameter rescale, which every method has", info.Name))
	}
	registry.Add(info.Name, registered{info, make, kind})
}

// schemes are what [RegisterScheme] was given.
var schemes = map[string]func(string) (Method, error){}

// RegisterScheme makes names known that begin with a scheme and a colon, such as
// "python:rules.py:mine"; open is given the rest of a name. Call it in an init function.
func RegisterScheme(scheme string, open func(rest string) (Method, error)) { schemes[scheme] = open }

// registeredAs returns what a method's struct was registered as.
func registeredAs(m Method) (r registered, ok bool) {
	kind := names.StructOf(m)
	for _, r := range registry.All() {
		if r.kind == kind {
			return r, true
		}
	}
	return r, false
}

// Describe returns the Info of a method: its own ([Describer]), the registered one, that of the
// method that it wraps, or else one with only the name of its type.
func Describe(m Method) Info {
	if d, ok := m.(Describer); ok {
		return d.Info()
	}
	return registeredInfo(m)
}

// infoOf is what a new method was registered with, or for one that is not registered what it says
// itself.
func infoOf(m Method) Info {
	if _, registered := registeredAs(m); registered {
		return registeredInfo(m)
	}
	return Describe(m)
}

func registeredInfo(m Method) Info {
	if r, ok := registeredAs(m); ok {
		return r.info
	}
	if in := innerOf(m); in != nil {
		return Describe(in)
	}
	name := names.StructOf(m).Name()
	return Info{Name: name, Title: name, State: "none"}
}

// Names returns the registered names in alphabetical order.
func Names() []string { return registry.Names() }

// Description is what [Lookup] knows of a method.
type Description struct {
	Info
	Needs
	Params []params.Param `json:"params"` // those that New accepts
}

// Lookup describes the method that was registered under the name, or a composition such as
// "emgd-gmc+der-pp": a method, and after each + a part of a rehearsal (see [Compose]). Whether the
// parts can be joined is for [New] to say.
func Lookup(name string) (Description, error) {
	n, err := find(name)
	if err != nil {
		return Description{}, err
	}
	return Description{described(infoOf(n.rule), n.parts), n.rule.Needs(), n.accepts()}, nil
}

// New makes the method with the given name and sets it up. Parameters that are missing get their
// defaults. Besides its own parameters, every method has the parameter "rescale" (docs/method.md
// §1.4). Unknown names and values out of range are errors, as are parts that cannot be joined.
func New(name string, values map[string]any) (Method, error) {
	n, err := find(name)
	if err != nil {
		return nil, err
	}
	m, err := n.make(values)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", name, err)
	}
	return m, nil
}

// Resolve returns the values of all parameters that [New] would make the method with: those that
// are given, and the defaults of the others.
func Resolve(name string, values map[string]any) (map[string]any, error) {
	n, err := find(name)
	if err != nil {
		return nil, err
	}
	if err := n.set(values); err != nil {
		return nil, fmt.Errorf("method %s: %w", name, err)
	}
	return n.values(), nil
}
