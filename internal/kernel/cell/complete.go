package cell

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"unicode"

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
	start, objects := nb.objectsAt(code, offset)
	for _, o := range objects {
		list = append(list, Proposal{o.Name(), cmp.Or(jupyterKinds[kindOf(o)], kindOf(o)),
			strings.TrimPrefix(typeName(o), "func")})
	}
	return start, list
}

// Inspect describes the name at an offset of a cell: its declaration, and what its comment says.
func (nb *Notebook) Inspect(code string, offset int) (declaration, doc string) {
	defer nb.lock()()
	end := len(code) - len(strings.TrimLeftFunc(code[offset:], inName))
	start, list := nb.objectsAt(code, end)
	for _, o := range list {
		if o.Name() == code[start:end] {
			return types.ObjectString(o, packageName), strings.TrimSpace(nb.comment(o))
		}
	}
	return "", ""
}

// objectsAt lists what may stand at an offset of a cell, sorted by name. The part of the name that
// is typed already lies between start and the offset.
func (nb *Notebook) objectsAt(code string, offset int) (start int, list []types.Object) {
	start = len(strings.TrimRightFunc(code[:offset], inName))
	src := Read("In[0]", code[:start])
	if len(src.Go) < start {
		return offset, nil
	}
	src.Go += cursor // which is no name within a string or a comment
	c, _ := nb.understand(src, nil, nil)
	begun := code[start:offset]
	for _, o := range c.atCursor() {
		name := o.Name()
		if len(name) >= len(begun) && strings.EqualFold(name[:len(begun)], begun) && !strings.HasPrefix(name, our) {
			list = append(list, o)
		}
	}
	byName := func(a, b types.Object) int { return strings.Compare(a.Name(), b.Name()) }
	slices.SortStableFunc(list, byName)
	return start, slices.CompactFunc(list, func(a, b types.Object) bool { return byName(a, b) == 0 })
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

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
			for _, e := range n.Elts {
				if id, ok := e.(*ast.Ident); ok && id.Name == cursor {
					list = append(list, fields(c.info.TypeOf(n))...)
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

// comment is what stands above the declaration of something, in the source of its package.
func (nb *Notebook) comment(o types.Object) (text string) {
	if o.Pkg() == nil || o.Pkg().Path() == Path { // there is none
		return ""
	}
	pos := nb.fset.Position(o.Pos())
	source, _ := os.ReadFile(strings.Replace(pos.Filename, "$GOROOT", nb.root, 1))
	lines := strings.Split(string(source), "\n")
	for _, line := range slices.Backward(lines[:max(0, min(pos.Line-1, len(lines)))]) {
		line, isComment := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !isComment {
			break
		}
		text = strings.TrimPrefix(line, " ") + "\n" + text
	}
	return text
}
