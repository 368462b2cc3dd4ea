package cell

import (
	"fmt"
	"slices"
)

// withMethods makes types and methods come together. A cell that declares a method on a type of an earlier cell, or changes
// one, declares the type again with all its methods. A cell that says of a type what is known already declares nothing.
// If the methods of earlier cells don't fit, they can be dropped.
func (nb *Notebook) withMethods(parts []part) (out []part, dropped func() []string, notes []string) {
	own, methods := map[string]part{}, map[string][]part{}
	var touched []string // types that the cell declares or gives methods
	touch := func(name string) {
		if !slices.Contains(touched, name) {
			touched = append(touched, name)
		}
	}
	for _, p := range parts {
		switch {
		case p.kind == isType:
			own[p.name] = p
			touch(p.name)
		case p.kind == isFunc && p.on != "":
			methods[p.on] = append(methods[p.on], p)
			touch(p.on)
		}
	}
	known := map[string]bool{} // types that stay as they are
	var carried []string
	for _, name := range touched {
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
				carried = append(carried, fmt.Sprintf("%s.%s", name, m.name))
			}
		}
	}
	for _, p := range parts {
		if p.kind == isType && known[p.name] || p.kind == isFunc && known[p.on] {
			continue
		}
		out = append(out, p)
	}
	if len(carried) == 0 {
		return out, nil, nil
	}
	return out, func() []string {
		var notes []string
		for _, m := range carried {
			notes = append(notes, fmt.Sprintf("The method %s does not fit the new type and is left out: run its cell again.", m))
		}
		return notes
	}, nil
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
	if mentionsName(t.decl.text, name) {
		return true
	}
	return slices.ContainsFunc(t.methods, func(m part) bool { return mentionsName(m.text, name) })
}

func mentionsName(text, name string) bool {
	s, _ := newScanner([]byte(text), 0)
	for {
		_, tok, lit := s.Scan()
		if lit == name {
			return true
		}
		if tok.String() == "EOF" {
			return false
		}
	}
}

// repeated marks a part as one of an earlier cell.
func (p part) repeated() part {
	p.again = true
	return p
}

// first is the part as it was at first.
func (p part) first() part {
	p.again = false
	return p
}
