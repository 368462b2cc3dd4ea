package cell

import (
	"maps"
	"slices"
	"strings"
)

// withMethods makes types and methods come together. A cell that declares a method on a type of an earlier cell, or changes
// one, declares the type again with all its methods. A cell that says of a type what is known already declares nothing.
// The methods that come from earlier cells are carried; if they don't fit, they can be dropped.
func (nb *Notebook) withMethods(parts []part) (out []part, carried []string) {
	said := map[string][]part{} // of types that the notebook knows
	for _, p := range parts {
		if _, before := nb.types[p.of]; before {
			said[p.of] = append(said[p.of], p)
		}
	}
	renewed := map[string]bool{}
	for last := -1; len(renewed) > last; { // a type that changes may be part of another
		last = len(renewed)
		for name, now := range said {
			if nb.differs(name, now, renewed) {
				renewed[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(renewed)) {
		for _, p := range nb.types[name] {
			if slices.ContainsFunc(said[name], func(now part) bool { return now.name == p.name }) {
				continue
			}
			out = append(out, nb.repeated(p))
			if p.isMethod() {
				carried = append(carried, p.name)
			}
		}
	}
	for _, p := range parts {
		if said[p.of] == nil || renewed[p.of] {
			out = append(out, p)
		}
	}
	return out, carried
}

// differs says whether a cell changes what it says of a type, or the type is made of another that is newer.
func (nb *Notebook) differs(name string, now []part, renewed map[string]bool) bool {
	before := nb.types[name]
	for _, p := range now {
		if !slices.ContainsFunc(before, func(b part) bool { return b.text == p.text }) {
			return true
		}
	}
	for _, p := range before {
		for _, word := range strings.FieldsFunc(p.text, func(r rune) bool { return !inName(r) }) {
			if renewed[word] || nb.types[word] != nil && nb.symbols[exported(word)].cell > nb.symbols[exported(name)].cell {
				return true
			}
		}
	}
	return false
}

// repeated is a part of an earlier cell as a part of this one.
func (nb *Notebook) repeated(p part) part {
	_, parts, _ := parse(nb.fset, p.from) // it has been read before
	again := parts[slices.IndexFunc(parts, func(q part) bool { return q.name == p.name })]
	again.again = true
	return again
}

func (p part) isMethod() bool { return p.name != p.of }
