package method

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Spec describes a kind of method and how to make one; see [Register].
type Spec struct {
	Info   Info
	Params []Param
	// New makes the method. p has a value for every parameter, its default if none was given.
	New func(p Params) (Method, error)
}

var registry = map[string]Spec{}

// Register makes a method known under the name spec.Info.Name, to [New] and the command line. It panics if the name
// is empty or taken or has a +, which joins names, or if spec contradicts itself: if a parameter has the name of another or
// of "rescale", which every method has, or a default of another type than [Param] has, or that is none of its choices.
func Register(spec Spec) {
	name := spec.Info.Name
	if name == "" || strings.Contains(name, "+") || spec.New == nil {
		panic(fmt.Sprintf("method: Register needs a name without +, not %q, and a constructor", name))
	}
	if _, taken := registry[name]; taken {
		panic(fmt.Sprintf("method: %q is registered twice", name))
	}
	if spec.Info.NeedsRows && !spec.Info.NeedsGram {
		panic(fmt.Sprintf("method: %q needs the rows, so it must ask for their Gram matrix", name))
	}
	if err := checkParams(Parameters(spec)); err != nil {
		panic(fmt.Sprintf("method: %q: %v", name, err))
	}
	spec.Params = cloned(spec.Params)
	make := spec.New
	spec.New = func(p Params) (Method, error) {
		m, err := make(p)
		if err == nil && m == nil {
			return nil, errors.New("its constructor returned none")
		}
		return m, err
	}
	registry[name] = spec
}

// Names returns the registered names in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(registry))
	for name := range registry {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Lookup returns the Spec that was registered under the name, or that of a composition such as "emgd-gmc+der-pp": a
// method, and after each + a part of a rehearsal (see [Compose]). A composition that is refused with the defaults of
// its parameters is an error, though [New] may make it with others.
func Lookup(name string) (Spec, error) {
	spec, err := find(name)
	if err == nil && strings.Contains(name, "+") {
		if _, err = spec.New(defaultsOf(spec.Params)); err != nil {
			return Spec{}, fmt.Errorf("method %s: %w", name, err)
		}
	}
	return spec, err
}

func find(name string) (Spec, error) {
	first, rest, composes := strings.Cut(name, "+")
	spec, ok := registry[first]
	spec.Params = cloned(spec.Params)
	switch {
	case !ok && composes:
		return Spec{}, fmt.Errorf("method %q: unknown method %q%s; known: %s", name, first, suggested(first, Names()), strings.Join(Names(), ", "))
	case !ok:
		return Spec{}, fmt.Errorf("unknown method %q%s; known: %s", name, suggested(name, Names()), strings.Join(Names(), ", "))
	case !composes:
		return spec, nil
	}
	return composition(name, spec, strings.Split(rest, "+"))
}

// New makes the method with the given name. Parameters that are missing get their defaults. Besides its own
// parameters, every method has the parameter "rescale" (docs/method.md §1.4). Unknown names and values out of range
// are errors.
func New(name string, params map[string]any) (Method, error) {
	spec, p, err := resolved(name, params)
	if err != nil {
		return nil, err
	}
	own := maps.Clone(p)
	delete(own, rescaleParam.Name)
	m, err := spec.New(own)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", name, err)
	}
	return rescaled(m, p.String(rescaleParam.Name))
}

// Resolve returns the values of all parameters that [New] would make the method with: those that are given, in the
// parameter's type, and the defaults of the others.
func Resolve(name string, params map[string]any) (Params, error) {
	_, p, err := resolved(name, params)
	return p, err
}

func resolved(name string, params map[string]any) (spec Spec, p Params, err error) {
	if spec, err = find(name); err != nil {
		return spec, nil, err
	}
	if params, err = unqualified(name, spec, params); err != nil {
		return spec, nil, err
	}
	p, err = resolve(name, Parameters(spec), params)
	return spec, p, err
}

// ParametersOf returns the parameters that [New] accepts for the method with the given name, also for a composition that
// is refused with their defaults.
func ParametersOf(name string) ([]Param, error) {
	spec, err := find(name)
	if err != nil {
		return nil, err
	}
	return Parameters(spec), nil
}

// Parameters returns the parameters that [New] accepts for a method: its own, and "rescale".
func Parameters(spec Spec) []Param {
	return append(slices.Clone(spec.Params), rescaleParam)
}
