package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// A variable is lost when its process ends and its value is not saved. Until it has a value again,
// cells that read it are refused, also where a function does that they call; else they would find
// zero there.

// losses is what a notebook knows of values.
type losses struct {
	lost     map[string]string   // when the values of variables were lost
	given    map[string]string   // the cells that have given variables their values
	mentions map[string][]string // what functions read and call, of what cells have declared
	sets     map[string][]string // to what functions give values, before they read it
}

// Lose notes that variables have lost their values: all but some. It returns the names of those
// that had them.
func (nb *Notebook) Lose(when string, but ...string) (names []string) {
	for _, v := range nb.Names("var") {
		if !slices.Contains(but, v.Name) && nb.lost[v.Name] == "" {
			names = append(names, v.Name)
		}
	}
	defer nb.lock()()
	for _, name := range names {
		nb.lost[name] = when
	}
	return names
}

// Lost lists the variables without the values that they had.
func (nb *Notebook) Lost() []string {
	defer nb.lock()()
	return slices.Sorted(maps.Keys(nb.lost))
}

// Found notes that variables have values again.
func (nb *Notebook) Found(names ...string) {
	defer nb.lock()()
	maps.DeleteFunc(nb.lost, func(name, _ string) bool { return slices.Contains(names, name) })
}

// Inherit takes over what another notebook knows of lost values.
func (nb *Notebook) Inherit(other *Notebook) { nb.lost, nb.given = other.lost, other.given }

// ReadsLost is the error of a cell that reads variables that are lost.
func (c *Cell) ReadsLost() error {
	defer c.nb.lock()()
	return c.readsLost()
}

func (c *Cell) readsLost() error {
	given := map[string]bool{}
	c.remember()
	for _, p := range c.parts {
		if _, isFunc := p.node.(*ast.FuncDecl); isFunc || p.carried {
			continue
		}
		c.uses(p.node, given, func(at *ast.Ident, name string) {
			c.use(name)
			if lost := c.nb.leadsToLost(name, maps.Clone(given)); lost != "" {
				c.mistake(at.Pos(), c.nb.whyLost(name, lost))
			}
		})
	}
	c.Gives = slices.Sorted(maps.Keys(given))
	return c.wrong.Err()
}

// leadsToLost returns the lost variable that a name stands for, or that the function of that name
// reads.
func (nb *Notebook) leadsToLost(name string, seen map[string]bool) string {
	switch {
	case seen[name] || len(nb.lost) == 0:
		return ""
	case nb.lost[name] != "":
		return name
	}
	seen[name] = true
	for _, next := range nb.mentions[name] {
		if found := nb.leadsToLost(next, seen); found != "" {
			return found
		}
	}
	return ""
}

// whyLost says why a name can't be used: itself, or what the function of that name reads.
func (nb *Notebook) whyLost(name, lost string) string {
	text := lost + " was lost"
	if name != lost {
		text = fmt.Sprintf("%s reads %s, which was lost", name, lost)
	}
	if text += " " + nb.lost[lost]; nb.given[lost] != "" {
		text += fmt.Sprintf(": run %s again, or give it a value", nb.given[lost])
	}
	return text
}

// remember notes what the functions of a cell mention.
func (c *Cell) remember() {
	for _, p := range c.parts {
		if d, ok := p.node.(*ast.FuncDecl); ok {
			var names []string
			given := map[string]bool{}
			c.uses(d, given, func(_ *ast.Ident, name string) { names = append(names, name) })
			c.nb.mentions[p.name], c.nb.sets[p.name] = names, slices.Collect(maps.Keys(given))
		}
	}
}

// uses finds what a part of a cell mentions of what cells have declared. A variable that it gives a
// value before is not among them.
func (c *Cell) uses(n ast.Node, given map[string]bool, found func(at *ast.Ident, name string)) {
	var visit func(n ast.Node) bool
	sets := func(values []ast.Expr, names []*ast.Ident) {
		for _, v := range values {
			ast.Inspect(v, visit)
		}
		for _, id := range names {
			if o := c.objectOf(id); o != nil && isTop(o) {
				given[nameIn(o)] = true
			}
		}
	}
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			sets(n.Values, n.Names)
			return false
		case *ast.AssignStmt:
			var names []*ast.Ident
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE) {
					names = append(names, id)
				} else {
					ast.Inspect(x, visit)
				}
			}
			sets(n.Rhs, names)
			return false
		case *ast.Ident:
			if o := c.info.Uses[n]; o != nil && (isTop(o) || isMethod(o)) && packagePath(o) == Path {
				if name := nameIn(o); !given[name] {
					found(n, name)
					for _, other := range c.nb.sets[name] {
						given[other] = true
					}
				}
			}
		}
		return true
	}
	ast.Inspect(n, visit)
}

func (c *Cell) objectOf(id *ast.Ident) types.Object {
	if o := c.info.Defs[id]; o != nil {
		return o
	}
	return c.info.Uses[id]
}

func isTop(o types.Object) bool {
	return o.Pkg() != nil && o.Parent() != nil && o.Parent().Parent() == types.Universe
}

func isMethod(o types.Object) bool {
	f, ok := o.(*types.Func)
	return ok && f.Pkg() != nil && f.Signature().Recv() != nil
}

// nameIn is the name of something as a part of a cell has it: that of a method is T.M.
func nameIn(o types.Object) string {
	name := o.Name()
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		t := f.Signature().Recv().Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if named, ok := t.(*types.Named); ok {
			return named.Obj().Name() + "." + name
		}
	}
	return name
}
