package method

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// named is what a name stands for: a registered method, and the parts that are joined to it.
type named struct {
	declared
	parts    []any
	prefixes []string // of the parameters' names, such as "der-pp.": the method's, and each part's; empty for a method alone
}

func find(name string) (n named, err error) {
	first, rest, composes := strings.Cut(name, "+")
	d, err := registry.Find(first)
	if err != nil {
		return n, err
	}
	if !composes {
		return named{declared: d, prefixes: []string{""}}, nil
	}
	n = named{declared: d, prefixes: []string{first + "."}}
	for _, part := range strings.Split(rest, "+") {
		p, err := rehearsal.Find(part)
		if _, notRule := registry.Find(part); err != nil && notRule == nil {
			err = fmt.Errorf("%q is a rule, of which a composition has one, and first; parts are %s", part, strings.Join(rehearsal.Names(), ", "))
		}
		if err != nil {
			return named{}, fmt.Errorf("method %q: %w", name, err)
		}
		n.parts, n.prefixes = append(n.parts, p), append(n.prefixes, part+".")
	}
	return n, nil
}

// accepts lists the parameters, with the one that every method has.
func (n named) accepts() (list []params.Param) {
	for i, prefix := range n.prefixes {
		declaration := n.declaration
		if i > 0 {
			declaration = n.parts[i-1]
		}
		for _, p := range params.Of(declaration) {
			p.Name = prefix + p.Name
			list = append(list, p)
		}
	}
	return append(list, rescaleParam)
}

// make makes the method with values of all parameters.
func (n named) make(values map[string]any) (Method, error) {
	rule, err := with(n.declaration, n.prefixes[0], values)
	if err != nil {
		return nil, err
	}
	parts := make([]any, len(n.parts))
	for i, part := range n.parts {
		if parts[i], err = with(part, n.prefixes[i+1], values); err != nil {
			return nil, err
		}
	}
	m, err := started(rule)
	if err != nil || len(parts) == 0 {
		return m, err
	}
	return compose(m, parts...)
}

// with is a declaration with those values whose names have its prefix.
func with(declaration any, prefix string, values map[string]any) (any, error) {
	own := map[string]any{}
	for _, p := range params.Of(declaration) {
		own[p.Name] = values[prefix+p.Name]
	}
	out := pointerTo(declaration)
	err := params.Set(out, own)
	return reflect.ValueOf(out).Elem().Interface(), err
}

// pointerTo returns a pointer to a copy of a declaration.
func pointerTo(declaration any) any {
	out := reflect.New(origin.StructOf(declaration))
	out.Elem().Set(reflect.Indirect(reflect.ValueOf(declaration)))
	return out.Interface()
}

// resolve returns the values of all parameters.
func (n named) resolve(given map[string]any) (all map[string]any, err error) {
	all = map[string]any{}
	list := n.accepts()
	for _, p := range list {
		all[p.Name] = p.Default
	}
	for name := range given {
		if _, ok := all[name]; !ok {
			return nil, fmt.Errorf("it has no parameter %q; want one of %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
	}
	for i, prefix := range append(slices.Clone(n.prefixes), "") {
		var of any = n.declaration
		if i > 0 && i <= len(n.parts) {
			of = n.parts[i-1]
		} else if i > 0 {
			of = rescaling{}
		}
		of = pointerTo(of)
		own := map[string]any{}
		for _, p := range params.Of(of) {
			if v, ok := given[prefix+p.Name]; ok {
				own[p.Name] = v
			}
		}
		if err := params.Decode(of, own); err != nil {
			return nil, err
		}
		for name, v := range params.Values(of) {
			all[prefix+name] = v
		}
	}
	return all, nil
}

// unqualified lets the parameters of a composition be given without the name of the rule or part, where only one
// of them has a parameter of that name.
func (n named) unqualified(given map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		full := n.meant(key)
		if len(full) > 1 {
			return nil, fmt.Errorf("the parameter %q may be %s; write which", key, strings.Join(full, " or "))
		}
		own := key
		if len(full) == 1 {
			own = full[0]
		}
		if _, twice := out[own]; twice {
			return nil, fmt.Errorf("the parameter %s is given twice", own)
		}
		out[own] = given[key]
	}
	return out, nil
}

// meant lists the parameters that a name may stand for.
func (n named) meant(key string) (full []string) {
	for _, p := range n.accepts() {
		if p.Name == key {
			return []string{key}
		}
		if strings.HasSuffix(p.Name, "."+key) {
			full = append(full, p.Name)
		}
	}
	return full
}
