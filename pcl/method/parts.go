package method

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

var parts = map[string]rehearsal.Part{}

func init() {
	for _, p := range rehearsal.All() {
		RegisterPart(p)
	}
}

// RegisterPart makes a part of a rehearsal known under its name, to [New] and the command line. Its parameters are the
// fields of its type that have tags ([rehearsal.Field]). It panics if the name is empty or taken, if the part is not a
// struct, or if a tag's default does not fit its field.
func RegisterPart(p rehearsal.Part) {
	name := p.Info().Name
	if name == "" || strings.Contains(name, "+") {
		panic(fmt.Sprintf("method: RegisterPart: a part needs a name without +, not %q", name))
	}
	if reflect.TypeOf(p).Kind() != reflect.Struct {
		panic(fmt.Sprintf("method: RegisterPart: %q is a %T, want a struct whose fields are its parameters", name, p))
	}
	if err := checkParams(PartParameters(p)); err != nil { // which panics if they cannot be read
		panic(fmt.Sprintf("method: RegisterPart: %q: %v", name, err))
	}
	if _, taken := parts[name]; taken {
		panic(fmt.Sprintf("method: the part %q is registered twice", name))
	}
	parts[name] = p
}

// PartNames returns the names of the registered parts in alphabetical order.
func PartNames() []string { return slices.Sorted(maps.Keys(parts)) }

// LookupPart returns the part that was registered under the name.
func LookupPart(name string) (rehearsal.Part, error) {
	if p, ok := parts[name]; ok {
		return p, nil
	}
	if _, isRule := registry[name]; isRule {
		return nil, fmt.Errorf("%q is a rule, of which a composition has one, and first; parts are %s", name, strings.Join(PartNames(), ", "))
	}
	return nil, fmt.Errorf("unknown part %q%s; known: %s", name, suggested(name, PartNames()), strings.Join(PartNames(), ", "))
}

// PartParameters returns the parameters of a part.
func PartParameters(p rehearsal.Part) (params []Param) {
	for _, f := range rehearsal.Fields(p) {
		params = append(params, Param{Name: f.Name, Default: f.Default, Choices: f.Choices, Doc: f.Doc})
	}
	return params
}

// composition returns the Spec of a method with parts. A parameter that two of them have is known by its qualified
// name only, such as "der-pp.alpha".
func composition(name string, spec Spec, names []string) (Spec, error) {
	spec.Params = qualified(spec.Info.Name, spec.Params)
	var list []rehearsal.Part
	for _, n := range names {
		p, err := LookupPart(n)
		if err != nil {
			return Spec{}, fmt.Errorf("method %q: %w", name, err)
		}
		list = append(list, p)
		spec.Params = append(spec.Params, qualified(n, PartParameters(p))...)
	}
	newRule, rule := spec.New, spec.Info.Name
	make := func(p Params) (Method, error) {
		m, err := newRule(valuesOf(rule, p))
		if err != nil {
			return nil, err
		}
		given := make([]rehearsal.Part, len(list))
		for i, part := range list {
			if given[i], err = rehearsal.With(part, valuesOf(names[i], p)); err != nil {
				return nil, err
			}
		}
		return compose(m, given...)
	}
	own, err := newRule(valuesOf(rule, defaultsOf(spec.Params)))
	if err != nil {
		return Spec{}, fmt.Errorf("method %q: %w", name, err)
	}
	c := composed{info: own.Info()}
	c.describe(list)
	spec.Info, spec.New = c.info, make
	return spec, nil
}

func qualified(name string, params []Param) []Param {
	out := slices.Clone(params)
	for i := range out {
		out[i].Name = name + "." + out[i].Name
	}
	return out
}

// valuesOf returns the parameters that are qualified by a name, without it.
func valuesOf(name string, p Params) Params {
	out := Params{}
	for key, v := range p {
		if own, ok := strings.CutPrefix(key, name+"."); ok {
			out[own] = v
		}
	}
	return out
}

func defaultsOf(params []Param) Params {
	p := Params{}
	for _, d := range params {
		p[d.Name] = d.Default
	}
	return p
}

// unqualified lets the parameters of a composition be given without the name of the rule or part, where only one
// of them has a parameter of that name.
func unqualified(name string, spec Spec, given map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		full := meant(spec.Params, key)
		if len(full) > 1 {
			return nil, fmt.Errorf("method %s: the parameter %q may be %s; write which", name, key, strings.Join(full, " or "))
		}
		own := key
		if len(full) == 1 {
			own = full[0]
		}
		if _, twice := out[own]; twice {
			return nil, fmt.Errorf("method %s: the parameter %s is given twice", name, own)
		}
		out[own] = given[key]
	}
	return out, nil
}

// meant lists the parameters that a name may stand for.
func meant(params []Param, key string) (full []string) {
	for _, d := range params {
		if d.Name == key {
			return []string{key}
		}
		if strings.HasSuffix(d.Name, "."+key) {
			full = append(full, d.Name)
		}
	}
	return full
}
