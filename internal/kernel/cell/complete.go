package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"unicode"
)

// Proposal is what may stand at a place in a cell.
type Proposal struct {
	Text, Kind, Signature string
	object                types.Object
}

// cursor is the name that stands where something is to be completed.
const cursor = our + "cursor"

// Complete proposes names that may stand at an offset of a cell, in place of what is there from start on.
func (nb *Notebook) Complete(code string, offset int) (start int, list []Proposal) {
	start = len(strings.TrimRightFunc(code[:offset], inName))
	begun := code[start:offset]
	src := Read(code[:start]).Go
	form := source{"", src}.form()
	if len(src) < start || form.inText {
		return offset, nil
	}
	nb.mu.Lock()
	defer nb.mu.Unlock()
	c, _, _ := nb.understand(source{"In[0]", src + cursor + form.closing}, true)
	if c == nil {
		return offset, nil
	}
	for _, p := range c.proposals() {
		if len(p.Text) >= len(begun) && strings.EqualFold(p.Text[:len(begun)], begun) && p.Text != "_" {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b Proposal) int { return strings.Compare(a.Text, b.Text) })
	return start, slices.CompactFunc(list, func(a, b Proposal) bool { return a.Text == b.Text })
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// proposals lists what may stand at the cursor.
func (c *Cell) proposals() (list []Proposal) {
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
				list = append(list, c.scopeNames(n.Pos())...)
			}
		}
		return true
	})
	return list
}

// members lists the fields and methods of a value, or the names of a package.
func (c *Cell) members(x ast.Expr) (list []Proposal) {
	if id, ok := x.(*ast.Ident); ok {
		if p, ok := c.info.Uses[id].(*types.PkgName); ok {
			scope := p.Imported().Scope()
			for _, name := range scope.Names() {
				list = appendSeen(list, scope.Lookup(name))
			}
			return list
		}
	}
	t := c.info.TypeOf(x)
	if t == nil {
		return nil
	}
	list = fields(t)
	if _, ok := t.(*types.Pointer); !ok && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		list = appendSeen(list, m.Obj())
	}
	return list
}

// appendSeen appends something if cells see it.
func appendSeen(list []Proposal, o types.Object) []Proposal {
	if o.Exported() {
		list = append(list, proposal(o))
	}
	return list
}

// fields lists the fields of a struct, with those of embedded ones.
func fields(t types.Type) (list []Proposal) {
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
		list = appendSeen(list, f)
		if f.Embedded() && len(list) < 1000 {
			list = append(list, fields(f.Type())...)
		}
	}
	return list
}

// scopeNames lists the names that are known at a position, and packages that can be imported.
func (c *Cell) scopeNames(at token.Pos) (list []Proposal) {
	for scope := c.pkg.Scope().Innermost(at); scope != nil; scope = scope.Parent() {
		for _, name := range scope.Names() {
			o := scope.Lookup(name)
			if o.Pos() < at || scope == types.Universe || scope == c.pkg.Scope() {
				list = append(list, proposal(o))
			}
		}
	}
	for name, paths := range c.nb.byName {
		if rank(paths[0]) < 3 {
			list = append(list, Proposal{Text: name, Kind: "package", Signature: paths[0]})
		}
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		list = append(list, Proposal{Text: t.String(), Kind: "keyword"})
	}
	return list
}

func proposal(o types.Object) Proposal {
	p := Proposal{Text: Plain(o.Name()), Kind: kindOf(o), object: o}
	if v, ok := o.(*types.Var); ok && v.IsField() {
		p.Kind = "field"
	}
	if t := o.Type(); t != nil {
		p.Signature = typeName(t)
	}
	if f, ok := o.(*types.Func); ok {
		p.Signature = strings.TrimPrefix(p.Signature, "func")
		if f.Signature().Recv() != nil {
			p.Kind = "method"
		}
	}
	return p
}

// Inspect describes the name at an offset of a cell: its declaration, and what its comment says.
func (nb *Notebook) Inspect(code string, offset int) (declaration, doc string) {
	end := len(code) - len(strings.TrimLeftFunc(code[offset:], inName))
	start, list := nb.Complete(code, end)
	for _, p := range list {
		if p.Text == code[start:end] && p.object != nil {
			return Plain(types.ObjectString(p.object, (*types.Package).Name)), strings.TrimSpace(nb.comment(p.object))
		}
	}
	return "", ""
}

// comment is what stands above the declaration of something, in the source of its package.
func (nb *Notebook) comment(o types.Object) (text string) {
	pos := nb.fset.Position(o.Pos())
	source, _ := os.ReadFile(strings.Replace(pos.Filename, "$GOROOT", nb.root, 1)) // of a cell there is none
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
