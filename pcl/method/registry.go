package method

import (
	"fmt"
	"slices"
	"strings"
)

// Spec is what a method registers under its name.
type Spec struct {
	Info   Info
	Params []Param
	// New builds the method from parameters that already hold every default.
	New func(p Params) (Method, error)
}

var registry = map[string]Spec{}

// Register adds a method under spec.Info.Name, for [New] and the command line. It panics on programming
// errors: if the name is empty or taken, or if Info contradicts itself.
func Register(spec Spec) {
	name := spec.Info.Name
	if name == "" || spec.New == nil {
		panic("method: Register needs a name and a constructor")
	}
	if _, taken := registry[name]; taken {
		panic(fmt.Sprintf("method: %q is registered twice", name))
	}
	if spec.Info.NeedsRows && !spec.Info.NeedsGram {
		panic(fmt.Sprintf("method: %q needs the rows, so it must ask for their Gram matrix", name))
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

// Lookup returns the Spec that is registered under a name.
func Lookup(name string) (Spec, error) {
	spec, ok := registry[name]
	if !ok {
		return Spec{}, fmt.Errorf("unknown method %q; known: %s", name, strings.Join(Names(), ", "))
	}
	return spec, nil
}

// New builds the named method. Parameters that are absent get their defaults; all methods understand
// "rescale" (docs/method.md §1.4). Unknown names and values out of range are errors.
func New(name string, params map[string]any) (Method, error) {
	spec, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	p, err := resolve(name, Parameters(spec), params)
	if err != nil {
		return nil, err
	}
	m, err := spec.New(p)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", name, err)
	}
	return rescaled(m, p.String("rescale"))
}

// Parameters returns what [New] accepts for a method: its own parameters, and "rescale".
func Parameters(spec Spec) []Param {
	return append(slices.Clone(spec.Params), rescaleParam)
}
