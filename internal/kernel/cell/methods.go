package cell

import (
	"regexp"
	"slices"
)

// withMethods makes types and methods come together. A cell that declares a method on a type of an earlier cell, or changes
// one, declares the type again with all its methods. A cell that says of a type what is known already declares nothing.
// The methods that come from earlier cells are carried; if they don't fit, they can be dropped.
func (nb *Notebook) withMethods(parts []part) (out []part, carried []string) {
	own, methods := map[string]part{}, map[string][]part{}
	var touched []string // types that the cell declares or gives methods
	for _, p := range parts {
		switch {
		case p.kind == isType:
			own[p.name] = p
			touched = append(touched, p.name)
		case p.kind == isFunc && p.on != "":
			methods[p.on] = append(methods[p.on], p)
			touched = append(touched, p.on)
		}
	}
	slices.Sort(touched)
	known := map[string]bool{} // types that stay as they are
	for _, name := range slices.Compact(touched) {
		before, ok := nb.types[name]
		if !ok {
			continue
		}
		decl, declares := own[name]
		if (!declares || decl.text == before.decl.text) && nb.unchanged(before, methods[name], own) {
			known[name] = true
			continue
		}
		if !declares {
			out = append(out, before.decl.repeated())
		}
		for _, m := range before.methods {
			if !slices.ContainsFunc(methods[name], func(p part) bool { return p.name == m.name }) {
				out = append(out, m.repeated())
				carried = append(carried, name+"."+m.name)
			}
		}
	}
	for _, p := range parts {
		if p.kind == isType && known[p.name] || p.kind == isFunc && known[p.on] {
			continue
		}
		out = append(out, p)
	}
	return out, carried
}

// unchanged says whether methods are those that a type has, and what the type is made of is still the same.
func (nb *Notebook) unchanged(before typeText, methods []part, own map[string]part) bool {
	for _, p := range methods {
		if !slices.ContainsFunc(before.methods, func(m part) bool { return m.text == p.text }) {
			return false
		}
	}
	for name, p := range own { // a type that this cell changes may be part of this one
		if old, ok := nb.types[name]; (!ok || old.decl.text != p.text) && before.mentions(name) {
			return false
		}
	}
	for name, t := range nb.types {
		if t.cell > before.cell && before.mentions(name) {
			return false
		}
	}
	return true
}

func (t typeText) mentions(name string) bool {
	word := regexp.MustCompile(`(^|[^\pL\d_])` + name + `($|[^\pL\d_])`)
	return slices.ContainsFunc(append(slices.Clone(t.methods), t.decl), func(p part) bool { return word.MatchString(p.text) })
}

// repeated marks a part as one of an earlier cell.
func (p part) repeated() part {
	p.again = true
	return p
}
