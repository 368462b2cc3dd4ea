package method

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// named is what a name stands for: a registered method, and the parts that are joined to it.
type named struct {
	declared
	parts  []rehearsal.Part
	params []params.Param
}

func find(name string) (n named, err error) {
	first, rest, composes := strings.Cut(name, "+")
	d, ok := registry[first]
	if !ok {
		return n, fmt.Errorf("unknown method %q; known: %s", first, strings.Join(Names(), ", "))
	}
	n = named{declared: d, params: params.Of(d.declaration)}
	if !composes {
		return n, nil
	}
	n.params = qualified(first, n.params)
	for _, part := range strings.Split(rest, "+") {
		p, err := LookupPart(part)
		if err != nil {
			return named{}, fmt.Errorf("method %q: %w", name, err)
		}
		n.parts, n.params = append(n.parts, p), append(n.params, qualified(part, params.Of(p))...)
	}
	return n, nil
}

// accepts lists the parameters, with the one that every method has.
func (n named) accepts() []params.Param { return append(slices.Clone(n.params), rescaleParam) }

// make makes the method with values of all parameters.
func (n named) make(values map[string]any) (Method, error) {
	own := maps.Clone(values)
	delete(own, rescaleParam.Name)
	if len(n.parts) > 0 {
		own = valuesOf(n.info.Name, values)
	}
	rule, err := params.With(n.declaration, own)
	if err != nil {
		return nil, err
	}
	m, err := started(rule)
	if err != nil || len(n.parts) == 0 {
		return m, err
	}
	given := make([]rehearsal.Part, len(n.parts))
	for i, part := range n.parts {
		if given[i], err = params.With(part, valuesOf(part.Info().Name, values)); err != nil {
			return nil, err
		}
	}
	return compose(m, given...)
}

// qualified returns the parameters of a composition's rule or part, which are known by names such as "der-pp.alpha".
func qualified(name string, list []params.Param) []params.Param {
	out := slices.Clone(list)
	for i := range out {
		out[i].Name = name + "." + out[i].Name
	}
	return out
}

// valuesOf returns the parameters that are qualified by a name, without it.
func valuesOf(name string, values map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range values {
		if own, ok := strings.CutPrefix(key, name+"."); ok {
			out[own] = v
		}
	}
	return out
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
	for _, p := range n.params {
		if p.Name == key {
			return []string{key}
		}
		if strings.HasSuffix(p.Name, "."+key) {
			full = append(full, p.Name)
		}
	}
	return full
}
