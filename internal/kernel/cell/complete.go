package cell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Proposal is what may stand at a place in a cell.
type Proposal struct{ Text, Kind, Signature string }

// cursor is the name that stands where something is to be completed.
const cursor = our + "cursor"

// Complete proposes names that may stand at an offset of a cell, in place of what is there from start on.
func (nb *Notebook) Complete(code string, offset int) (start int, list []Proposal) {
	start = offset
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(code[:start])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		start -= size
	}
	begun := code[start:offset]
	src := Read(code[:start]).Go
	if len(src) < start || inText(src) {
		return offset, nil
	}
	nb.mu.Lock()
	defer nb.mu.Unlock()
	text := src + cursor + strings.Join(openBrackets(src), "")
	c := nb.understand(text)
	if c == nil {
		return offset, nil
	}
	seen := map[string]bool{}
	for _, p := range c.proposals() {
		fits := len(p.Text) >= len(begun) && strings.EqualFold(p.Text[:len(begun)], begun)
		if fits && !seen[p.Text] && !strings.HasPrefix(p.Text, our) && p.Text != "_" {
			seen[p.Text] = true
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b Proposal) int {
		exact := func(p Proposal) int {
			if strings.HasPrefix(p.Text, begun) {
				return 0
			}
			return 1
		}
		if d := exact(a) - exact(b); d != 0 {
			return d
		}
		return strings.Compare(a.Text, b.Text)
	})
	return start, list
}

// understand checks code that need not be right.
func (nb *Notebook) understand(code string) *checked {
	parts, err := split("In[0]", code, true)
	if err != nil {
		return nil
	}
	parts, _, _ = nb.withMethods(parts)
	c, err := nb.check("In[0]", parts, true)
	if err != nil || c.syntax == nil || c.info == nil {
		return nil
	}
	return c
}

// inText says whether code ends within a string, a character or a comment.
func inText(code string) bool {
	s, file := newScanner([]byte(code+"\x00"), 1)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return false
		}
		end := file.Offset(pos) + len(lit)
		if (tok == token.STRING || tok == token.CHAR || tok == token.COMMENT) && end > len(code) {
			return true
		}
	}
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
	line, column := place(src, offset)
	for _, text := range []string{src, src[:endOfName(src, offset)] + strings.Join(openBrackets(src[:endOfName(src, offset)]), "")} {
		c := nb.understand(text)
		if c == nil {
			continue
		}
		if o := c.objectAt(line, column); o != nil {
			return types.ObjectString(o, shortNames), strings.TrimSpace(c.nb.comment(o))
		}
	}
	return "", ""
}

func endOfName(src string, at int) int {
	for at < len(src) {
		r, size := utf8.DecodeRuneInString(src[at:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		at += size
	}
	return at
}

// objectAt is what the name at a line and column of the cell means.
func (c *checked) objectAt(line, column int) (found types.Object) {
	ast.Inspect(c.syntax, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		pos := c.nb.fset.Position(id.Pos())
		if pos.Line == line && pos.Column <= column && column <= pos.Column+len(id.Name) && strings.HasPrefix(pos.Filename, "In[") {
			if o := c.info.Uses[id]; o != nil {
				found = o
			} else if o := c.info.Defs[id]; o != nil {
				found = o
			}
		}
		return true
	})
	return found
}

// comment is what stands above the declaration of something, in the source of its package.
func (nb *Notebook) comment(o types.Object) string {
	pos := nb.fset.Position(o.Pos())
	if p, ok := o.(*types.PkgName); ok {
		return "package " + p.Imported().Path()
	}
	file := strings.Replace(pos.Filename, "$GOROOT", nb.root, 1)
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	best := ""
	for _, g := range f.Comments { // the one that ends on the line before
		if fset.Position(g.End()).Line == pos.Line-1 {
			best = g.Text()
		}
	}
	return best
}
