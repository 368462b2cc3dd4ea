package cell

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Proposal is what may stand at a place in a cell.
type Proposal struct{ Text, Kind, Signature string }

// cursor is the name that stands where something is to be completed.
const cursor = our + "cursor"

// Complete proposes names that may stand at an offset of a cell, in place of what is there from start on.
func (nb *Notebook) Complete(code string, offset int) (start int, list []Proposal) {
	start = len(strings.TrimRightFunc(code[:offset], inName))
	begun := code[start:offset]
	src := Read(code[:start]).Go
	end := endOf(src)
	if len(src) < start || end.inText {
		return offset, nil
	}
	nb.mu.Lock()
	defer nb.mu.Unlock()
	c := nb.understand(src + cursor + strings.Join(end.closing, ""))
	if c == nil {
		return offset, nil
	}
	for _, p := range c.proposals() {
		fits := len(p.Text) >= len(begun) && strings.EqualFold(p.Text[:len(begun)], begun)
		if fits && !strings.HasPrefix(p.Text, our) && p.Text != "_" {
			list = append(list, p)
		}
	}
	other := func(p Proposal) int { // those that begin with other letters come last
		if strings.HasPrefix(p.Text, begun) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Proposal) int {
		return cmp.Or(other(a)-other(b), strings.Compare(a.Text, b.Text))
	})
	return start, slices.CompactFunc(list, func(a, b Proposal) bool { return a.Text == b.Text })
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// understand checks code that need not be right.
func (nb *Notebook) understand(code string) *checked {
	parts, err := split("In[0]", code, true)
	if err != nil {
		return nil
	}
	parts, _ = nb.withMethods(parts)
	c, err := nb.check("In[0]", parts, true)
	if err != nil {
		return nil
	}
	return c
}

// proposals lists what may stand at the cursor.
func (c *checked) proposals() (list []Proposal) {
	var found bool
	var at token.Pos
	ast.Inspect(c.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Name == cursor {
				found, list = true, c.members(n.X)
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if id, ok := e.(*ast.Ident); ok && id.Name == cursor {
					list = append(list, c.fields(c.info.TypeOf(n))...)
				}
			}
		case *ast.Ident:
			if n.Name == cursor {
				at = n.Pos()
			}
		}
		return true
	})
	if !found && at.IsValid() {
		list = append(list, c.scopeNames(at)...)
	}
	return list
}

// members lists the fields and methods of a value, or the names of a package.
func (c *checked) members(x ast.Expr) (list []Proposal) {
	if id, ok := x.(*ast.Ident); ok {
		if p, ok := c.info.Uses[id].(*types.PkgName); ok {
			scope := p.Imported().Scope()
			for _, name := range scope.Names() {
				if token.IsExported(name) {
					list = append(list, c.proposal(scope.Lookup(name)))
				}
			}
			return list
		}
	}
	t := c.info.TypeOf(x)
	if t == nil {
		return nil
	}
	list = c.fields(t)
	if _, ok := t.(*types.Pointer); !ok && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		if o := set.At(i).Obj(); c.sees(o) {
			list = append(list, c.proposal(o))
		}
	}
	return list
}

func (c *checked) sees(o types.Object) bool {
	return o.Exported() || o.Pkg() != nil && o.Pkg().Path() == ourPath
}

// fields lists the fields of a struct, with those of embedded ones.
func (c *checked) fields(t types.Type) (list []Proposal) {
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
		if c.sees(f) {
			list = append(list, c.proposal(f))
		}
		if f.Embedded() && len(list) < 1000 {
			list = append(list, c.fields(f.Type())...)
		}
	}
	return list
}

// scopeNames lists the names that are known at a position, and packages that can be imported.
func (c *checked) scopeNames(at token.Pos) (list []Proposal) {
	for scope := c.pkg.Scope().Innermost(at); scope != nil; scope = scope.Parent() {
		for _, name := range scope.Names() {
			o := scope.Lookup(name)
			if o.Pos() < at || scope == types.Universe || scope == c.pkg.Scope() {
				list = append(list, c.proposal(o))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.nb.byName)) {
		if rank(c.nb.byName[name][0]) < 3 {
			list = append(list, Proposal{Text: name, Kind: "package", Signature: c.nb.byName[name][0]})
		}
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		list = append(list, Proposal{Text: t.String(), Kind: "keyword"})
	}
	return list
}

func (c *checked) proposal(o types.Object) Proposal {
	p := Proposal{Text: o.Name(), Kind: kindOf(o)}
	if v, ok := o.(*types.Var); ok && v.IsField() {
		p.Kind = "field"
	}
	if f, ok := o.(*types.Func); ok {
		p.Signature = strings.TrimPrefix(types.TypeString(f.Type(), shortNames), "func")
		if f.Signature().Recv() != nil {
			p.Kind = "method"
		}
	} else if t := o.Type(); t != nil {
		p.Signature = types.TypeString(t, shortNames)
	}
	return p
}

// Inspect describes the name at an offset of a cell: its declaration, and what its comment says.
func (nb *Notebook) Inspect(code string, offset int) (declaration, doc string) {
	src := Read(code).Go
	if len(src) != len(code) {
		return "", ""
	}
	nb.mu.Lock()
	defer nb.mu.Unlock()
	end := len(src) - len(strings.TrimLeftFunc(src[offset:], inName))
	for _, text := range []string{src, src[:end] + strings.Join(endOf(src[:end]).closing, "")} { // the rest may not parse
		c := nb.understand(text)
		if c == nil {
			continue
		}
		if o := c.objectAt(place(src, offset)); o != nil {
			return types.ObjectString(o, shortNames), strings.TrimSpace(nb.comment(o))
		}
	}
	return "", ""
}

// objectAt is what the name at a line and column of the cell means.
func (c *checked) objectAt(line, column int) (found types.Object) {
	for _, names := range []map[*ast.Ident]types.Object{c.info.Defs, c.info.Uses} {
		for id, o := range names {
			pos := c.nb.fset.Position(id.Pos())
			if o != nil && pos.Line == line && pos.Column <= column && column <= pos.Column+len(id.Name) && strings.HasPrefix(pos.Filename, "In[") {
				found = o
			}
		}
	}
	return found
}

// comment is what stands above the declaration of something, in the source of its package.
func (nb *Notebook) comment(o types.Object) (best string) {
	if p, ok := o.(*types.PkgName); ok {
		return "package " + p.Imported().Path()
	}
	pos := nb.fset.Position(o.Pos())
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, strings.Replace(pos.Filename, "$GOROOT", nb.root, 1), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	for _, g := range f.Comments { // the one that ends on the line before
		if fset.Position(g.End()).Line == pos.Line-1 {
			best = g.Text()
		}
	}
	return best
}
