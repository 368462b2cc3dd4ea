package method

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/params"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// named is what a name stands for: a new method, new parts that are joined to it, and how its d is
// scaled.
type named struct {
	rule     Method
	parts    []rehearsal.Part
	rescale  rescaling
	prefixes []string // of the parameters' names, such as "der-pp.": the rule's, and each part's; empty for a rule alone
}

func find(name string) (*named, error) {
	first, rest, composes := strings.Cut(name, "+")
	rule, err := ruleOf(first)
	if err != nil {
		return nil, err
	}
	n := &named{rule: rule, prefixes: []string{""}}
	if !composes {
		return n, nil
	}
	n.prefixes[0] = first + "."
	for _, part := range strings.Split(rest, "+") {
		p, err := rehearsal.Find(part)
		if _, notRule := registry.Find(part); err != nil && notRule == nil {
			err = fmt.Errorf("%q is a rule; a composition has one rule, at its beginning; parts are %s", part,
				strings.Join(rehearsal.Names(), ", "))
		}
		if err != nil {
			return nil, fmt.Errorf("method %q: %w", name, err)
		}
		n.parts, n.prefixes = append(n.parts, p), append(n.prefixes, part+".")
	}
	return n, nil
}

// ruleOf makes the rule with a name that is registered or that begins with a scheme, as in
// "python:FILE:NAME".
func ruleOf(name string) (Method, error) {
	if scheme, rest, has := strings.Cut(name, ":"); has {
		if open, known := schemes[scheme]; known {
			return open(rest)
		}
	}
	r, err := registry.Find(name)
	if err != nil {
		return nil, err
	}
	return r.new(), nil
}

// each calls f with each struct of parameters, and what their names begin with.
func (n *named) each(f func(declaration any, prefix string) error) error {
	if err := f(n.rule, n.prefixes[0]); err != nil {
		return err
	}
	for i, p := range n.parts {
		if err := f(p, n.prefixes[i+1]); err != nil {
			return err
		}
	}
	return f(&n.rescale, "")
}

// accepts lists the parameters, with the one that every method has.
func (n *named) accepts() (list []params.Param) {
	_ = n.each(func(declaration any, prefix string) error {
		for _, p := range params.Of(declaration) {
			p.Name = prefix + p.Name
			list = append(list, p)
		}
		return nil
	})
	return list
}

// set gives all parameters their values: those that are given, and defaults.
func (n *named) set(given map[string]any) error {
	given, err := n.qualified(given)
	if err != nil {
		return err
	}
	return n.each(func(declaration any, prefix string) error {
		own := map[string]any{}
		for _, p := range params.Of(declaration) {
			if v, ok := given[prefix+p.Name]; ok {
				own[p.Name] = v
			}
		}
		if err := params.Decode(declaration, own); err != nil && prefix != "" {
			return fmt.Errorf("%s: %w", strings.TrimSuffix(prefix, "."), err)
		} else {
			return err
		}
	})
}

func (n *named) values() map[string]any {
	all := map[string]any{}
	_ = n.each(func(declaration any, prefix string) error {
		for name, v := range params.Values(declaration) {
			all[prefix+name] = v
		}
		return nil
	})
	return all
}

// make makes the method. In a composition the rule alone is rescaled, so that Σw and the mean
// gradient belong to the rows that it sees.
func (n *named) make(given map[string]any) (Method, error) {
	if err := n.set(given); err != nil {
		return nil, err
	}
	m := n.rule
	if n.rescale.Rescale != RescaleNative {
		m = &Rescaled{Method: m, To: n.rescale.Rescale}
	}
	if len(n.parts) > 0 {
		m = Compose(m, n.parts...)
	}
	return complete(m)
}

// qualified lets the parameters of a composition be given without the name of the rule or part,
// where only one of them has a parameter of that name.
func (n *named) qualified(given map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		full := n.meant(key)
		switch {
		case len(full) > 1:
			return nil, fmt.Errorf("the parameter %q may be %s; write which", key, strings.Join(full, " or "))
		case len(full) == 0:
			return nil, fmt.Errorf("it has no parameter %q; want one of %s", key, strings.Join(n.names(), ", "))
		}
		if _, twice := out[full[0]]; twice {
			return nil, fmt.Errorf("the parameter %s is given twice", full[0])
		}
		out[full[0]] = given[key]
	}
	return out, nil
}

func (n *named) names() (list []string) {
	for _, p := range n.accepts() {
		list = append(list, p.Name)
	}
	return list
}

// meant lists the parameters that a name may stand for.
func (n *named) meant(key string) (full []string) {
	for _, name := range n.names() {
		if name == key {
			return []string{key}
		}
		if strings.HasSuffix(name, "."+key) {
			full = append(full, name)
		}
	}
	return full
}
