package cell

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// Proposal is what may stand at a place in a cell. The signature is the type of a value or the path
// of a package.
type Proposal struct{ Text, Kind, Signature string }

// jupyterKinds are the names that front ends have for kinds.
var jupyterKinds = map[string]string{"func": "function", "var": "variable", "const": "constant"}

// cursor is the name that stands where something is to be completed.
const cursor = our + "cursor"

// Complete proposes names that may stand at an offset of a cell, in place of what is there from
// start on.
func (nb *Notebook) Complete(code string, offset int) (start int, list []Proposal) {
	defer nb.lock()()
	start = len(strings.TrimRightFunc(code[:offset], inName))
	src := Read("In[0]", code[:start])
	if len(src.Go) < start {
		return offset, nil
	}
	begun, in := src.tokensTo(start)
	switch {
	case in == token.STRING && begun[0].tok == token.IMPORT:
		start = begun[len(begun)-1].at + 1
		return start, nb.importPaths(code[start:offset])
	case in != token.ILLEGAL:
		return offset, nil
	}
	_, objects := nb.objectsAt(src, start, code[start:offset])
	for _, o := range objects {
		list = append(list, Proposal{o.Name(), cmp.Or(jupyterKinds[kindOf(o)], kindOf(o)),
			strings.TrimPrefix(typeName(o), "func")})
	}
	if n := len(begun); n > 0 && begun[n-1].tok == token.PERIOD {
		return start, list
	}
	for keyword := token.BREAK; keyword <= token.VAR; keyword++ {
		if strings.HasPrefix(keyword.String(), code[start:offset]) {
			list = append(list, Proposal{Text: keyword.String(), Kind: "keyword"})
		}
	}
	return start, list
}

// importPaths lists the packages that can be imported whose path, or an element of it, begins with
// a text.
func (nb *Notebook) importPaths(begun string) (list []Proposal) {
	add := func(path, name string) {
		if strings.HasPrefix(path, begun) || strings.Contains(path, "/"+begun) {
			list = append(list, Proposal{path, "module", name})
		}
	}
	for name, paths := range nb.byName {
		for _, p := range paths {
			add(p, name)
		}
	}
	for _, p := range nb.others() {
		add(p.Path, p.Name)
	}
	slices.SortFunc(list, func(a, b Proposal) int {
		order := func(p Proposal) int {
			if strings.HasPrefix(p.Text, begun) {
				return rank(p.Text)
			}
			return 10
		}
		return cmp.Or(order(a)-order(b), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(list)
}

// others lists the packages that cells could have, but for those that they have.
func (nb *Notebook) others() []Package {
	if nb.Others == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(nb.Others()), func(p Package) bool { return nb.exports[p.Path] != "" })
}

// objectsAt lists what may stand at an offset and begins with a text: fields, then the others,
// sorted by name.
func (nb *Notebook) objectsAt(src Source, start int, begun string) (c *Cell, list []types.Object) {
	src.Go = src.Go[:start] + cursor // which is no name within a string or a comment
	c, _ = nb.understand(src, nil, nil)
	for _, o := range c.atCursor() {
		name := o.Name()
		if len(name) >= len(begun) && strings.EqualFold(name[:len(begun)], begun) && !strings.HasPrefix(name, our) {
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(a, b types.Object) int {
		if isField(a) != isField(b) { // first what fits a literal best
			if isField(a) {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return c, slices.CompactFunc(list, func(a, b types.Object) bool { return a.Name() == b.Name() })
}

// atCursor lists what may stand at the cursor.
func (c *Cell) atCursor() (list []types.Object) {
	ast.Inspect(c.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Name == cursor {
				list = append(list, c.members(n.X)...)
				return false
			}
		case *ast.CompositeLit:
			given := map[string]bool{}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					given[types.ExprString(kv.Key)] = true
				}
				if id, ok := e.(*ast.Ident); ok && id.Name == cursor {
					list = append(list, slices.DeleteFunc(fields(c.info.TypeOf(n)), func(o types.Object) bool {
						return given[o.Name()]
					})...)
				}
			}
		case *ast.Ident:
			if n.Name == cursor {
				list = append(list, c.inScope(n.Pos())...)
			}
		}
		return true
	})
	return list
}

// members lists the fields and methods of a value, or the names of a package.
func (c *Cell) members(x ast.Expr) (list []types.Object) {
	id, _ := x.(*ast.Ident)
	if p, ok := c.info.Uses[id].(*types.PkgName); ok {
		for _, name := range p.Imported().Scope().Names() {
			list = append(list, p.Imported().Scope().Lookup(name))
		}
	} else if t := c.info.TypeOf(x); t != nil {
		list = fields(t)
		for _, m := range typeutil.IntuitiveMethodSet(t, nil) {
			list = append(list, m.Obj())
		}
	}
	return slices.DeleteFunc(list, func(o types.Object) bool { return !isVisible(o) })
}

func isField(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.IsField()
}

// isVisible says whether cells see a field or a method.
func isVisible(o types.Object) bool { return o.Exported() || packagePath(o) == Path }

// fields lists the fields of a struct that cells see, with those of embedded ones.
func fields(t types.Type) (list []types.Object) {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for f := range s.Fields() {
		if isVisible(f) {
			list = append(list, f)
		}
		if f.Embedded() && len(list) < 1000 {
			list = append(list, fields(f.Type())...)
		}
	}
	return list
}

// inScope lists what is known at a position, and packages that can be imported.
func (c *Cell) inScope(at token.Pos) (list []types.Object) {
	for scope := c.scope.Innermost(at); scope != nil; scope = scope.Parent() {
		for _, name := range scope.Names() {
			list = append(list, scope.Lookup(name))
		}
	}
	for name, paths := range c.nb.byName {
		if rank(paths[0]) < 3 {
			list = append(list, types.NewPkgName(token.NoPos, nil, name, types.NewPackage(paths[0], name)))
		}
	}
	return list
}
