package cell

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Cell is a cell as a Go package. Its functions [Run] and [Replay] run it.
type Cell struct {
	ID    int
	Text  string
	Notes []string // what the user should know

	Missing []string // packages that it imports and the notebook does not have; see [Notebook.Add]

	nb      *Notebook
	parts   []part
	syntax  *ast.File
	pkg     *types.Package
	info    *types.Info
	top     map[string]bool               // what the cell declares
	symbols map[string]symbol             // and imports; see [Notebook]
	same    map[types.Object]types.Object // variables and functions that are those of an earlier cell, or ours
	again   map[*ast.Ident]string         // what is assigned to again by :=, and is blank for the checker
	wrong   scanner.ErrorList

	inFuncs map[string]bool   // names of the notebook that functions mention
	needs   map[string]string // the names of packages that the translation mentions, by path
	outside []ast.Decl        // types, constants and functions
	begin   []string          // statements that declare the cell
	enters  []ast.Stmt        // those that make parts of the program known
	body    []ast.Stmt        // all
}

// understand reads and checks code. Methods of types that the code changes come along unless carry is false. What it returns is
// of use also with an error, unless it is nil.
func (nb *Notebook) understand(s Source, carry bool) (*Cell, error) {
	f, parts, err := parse(nb.fset, s)
	if f == nil {
		return nil, err
	}
	id := nb.last + 1
	c := &Cell{ID: id, nb: nb, syntax: f, pkg: types.NewPackage(Path(id), fmt.Sprint(our, id)), top: map[string]bool{},
		symbols: map[string]symbol{}, same: map[types.Object]types.Object{}, again: map[*ast.Ident]string{},
		inFuncs: map[string]bool{}, needs: map[string]string{Runtime: runtimeName}}
	c.withMethods(parts, carry)
	c.check()
	return c, cmp.Or(err, c.wrong.Err())
}

// withMethods makes types and methods come together. A cell that declares a method on a type of an earlier cell, or changes
// one, declares the type again with all its methods. A cell that says of a type what is known already declares nothing.
func (c *Cell) withMethods(parts []part, carry bool) {
	said := map[string][]part{} // of types that the notebook knows
	for _, p := range parts {
		if c.nb.types[p.of] != nil {
			said[p.of] = append(said[p.of], p)
		}
	}
	renewed := map[string]bool{}
	for range said { // a type that changes may be part of another
		for name, now := range said {
			renewed[name] = renewed[name] || c.nb.differs(name, now, renewed)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		for _, p := range c.nb.types[name] {
			switch {
			case !renewed[name], slices.ContainsFunc(said[name], func(now part) bool { return now.name == p.name }):
			case carry, p.name == p.of:
				c.parts = append(c.parts, c.nb.repeated(p))
			default:
				c.Notes = append(c.Notes, fmt.Sprintf("The method %s does not fit the new type and is left out: run its cell again.", p.name))
			}
		}
	}
	for _, p := range parts {
		if said[p.of] == nil || renewed[p.of] {
			c.parts = append(c.parts, p)
		}
	}
}

// differs says whether a cell changes what it says of a type, or the type is made of another that is newer.
func (nb *Notebook) differs(name string, now []part, renewed map[string]bool) bool {
	known := map[string]bool{}
	for _, p := range nb.types[name] {
		known[p.text] = true
		for _, word := range strings.FieldsFunc(p.text, func(r rune) bool { return !inName(r) }) {
			if renewed[word] || nb.types[word] != nil && nb.symbols[exported(word)].cell > nb.symbols[exported(name)].cell {
				return true
			}
		}
	}
	return slices.ContainsFunc(now, func(p part) bool { return !known[p.text] })
}

// repeated is a part of an earlier cell, read again for this one, which will change it.
func (nb *Notebook) repeated(p part) part {
	_, parts, _ := parse(nb.fset, p.from) // it has been read before
	return parts[slices.IndexFunc(parts, func(q part) bool { return q.name == p.name })]
}

// check finds the types of everything in the cell.
func (c *Cell) check() {
	for _, p := range c.parts {
		for _, id := range p.names {
			c.top[exported(id.Name)] = id.Name != "_"
		}
	}
	c.findPackages()
	for _, p := range c.parts {
		ast.Inspect(p.node, c.export)
	}
	c.seeEarlier()
	c.arrange()
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}}
	last := c.lastExpression()
	conf := types.Config{Importer: c.nb.importer, Error: func(err error) {
		e := err.(types.Error)
		switch {
		case strings.HasPrefix(e.Msg, "\t"): // the rest of another
		case strings.Contains(e.Msg, "initialization cycle"): // variables get their values by statements
		case last != nil && e.Pos >= last.X.Pos() && e.Pos < last.X.End() && strings.HasSuffix(e.Msg, "is not used"): // it is shown
		default:
			c.mistake(e.Pos, e.Msg)
		}
	}}
	types.NewChecker(&conf, c.nb.fset, c.pkg, c.info).Files([]*ast.File{c.syntax})
}

func (c *Cell) mistake(at token.Pos, text string) { c.wrong.Add(c.nb.fset.Position(at), Plain(text)) }

// findPackages finds the packages that the cell imports and those that it leaves out.
func (c *Cell) findPackages() {
	used := map[string][]string{} // names before dots that the cell does not declare, with what follows the dots
	for _, p := range c.parts {
		ast.Inspect(p.node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				c.addImport(n)
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if !ok || x.Obj != free || c.top[exported(x.Name)] {
					return true
				}
				names := used[x.Name]
				if n.Sel.IsExported() {
					names = append(names, n.Sel.Name)
				}
				used[x.Name] = names
			}
			return true
		})
	}
	for name, names := range used {
		if pkg := c.nb.packageFor(name, names); pkg != nil {
			c.see(types.NewPkgName(token.NoPos, c.pkg, exported(name), pkg))
		}
	}
}

func (c *Cell) addImport(s *ast.ImportSpec) {
	path, _ := strconv.Unquote(s.Path.Value)
	pkg, err := c.nb.importer.Import(path)
	if err != nil {
		c.mistake(s.Path.Pos(), "no package "+path)
		c.Missing = append(c.Missing, path)
		return
	}
	name := pkg.Name()
	if s.Name != nil {
		name = s.Name.Name
	}
	key := exported(name)
	o := types.NewPkgName(token.NoPos, c.pkg, key, pkg)
	c.see(o)
	if name == "_" || name == "." {
		key += path
	}
	c.symbols[key] = symbol{obj: o}
}

// see puts something into the scope of the cell, unless the name means something else already. By the name of a dot, all names
// of a package come there.
func (c *Cell) see(o types.Object) {
	p, imported := o.(*types.PkgName)
	switch {
	case c.top[o.Name()], o.Name() == "_":
	case o.Name() == ".":
		for _, name := range p.Imported().Scope().Names() {
			if token.IsExported(name) {
				c.see(p.Imported().Scope().Lookup(name))
			}
		}
	case imported: // the checker wants one of this package
		c.pkg.Scope().Insert(types.NewPkgName(token.NoPos, c.pkg, o.Name(), p.Imported()))
	default:
		c.pkg.Scope().Insert(o)
	}
}

// seeEarlier puts the names of earlier cells into the scope, those imported by a dot last, and those that every cell has.
func (c *Cell) seeEarlier() {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(c.nb.symbols))) {
		c.see(c.nb.symbols[name].obj)
	}
	pkg, err := c.nb.importer.Import(Runtime)
	if err != nil {
		return // tests of cells that use none
	}
	for name, by := range predeclared {
		if f, ok := pkg.Scope().Lookup(by).(*types.Func); ok { // as in this version of the module
			var o types.Object = types.NewFunc(token.NoPos, c.pkg, name, f.Signature())
			if by == "Context" {
				o = types.NewVar(token.NoPos, c.pkg, name, f.Signature().Results().At(0).Type())
			}
			c.same[o] = f
			c.see(o)
		}
	}
}

// predeclared are the names that every cell has, by what stands for them.
var predeclared = map[string]string{up + "must": "Must", up + "check": "NoError", up + "ctx": "Context"}

// arrange puts the parts into the file that is checked: definitions become variables of the package, statements come into a
// function.
func (c *Cell) arrange() {
	body := &ast.BlockStmt{Lbrace: c.syntax.FileStart, Rbrace: c.syntax.FileEnd}
	have := map[string]bool{}
	for _, p := range c.parts {
		have[exported(p.name)] = true
	}
	c.syntax.Name, c.syntax.Decls = ast.NewIdent(c.pkg.Name()), nil
	for i := range c.parts {
		p := &c.parts[i]
		if s, ok := p.node.(*ast.AssignStmt); ok && len(p.names) > 0 {
			p.node = c.definition(s, p.names, have)
		}
		switch n := p.node.(type) {
		case ast.Stmt:
			body.List = append(body.List, n)
		case ast.Decl:
			if d, ok := n.(*ast.GenDecl); !ok || d.Tok != token.IMPORT {
				c.syntax.Decls = append(c.syntax.Decls, n)
			}
		}
	}
	run := &ast.FuncDecl{Name: ast.NewIdent(our), Type: &ast.FuncType{Params: &ast.FieldList{}}, Body: body}
	c.syntax.Decls = append(c.syntax.Decls, run)
}

// definition makes a := a declaration of variables. A name that the cell has already is only assigned to. On the right, a
// name that it does not have yet means what it was before, and is given our mark.
func (c *Cell) definition(s *ast.AssignStmt, names []*ast.Ident, have map[string]bool) *ast.GenDecl {
	for _, e := range s.Rhs {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || id.Obj != free || have[id.Name] || !c.top[id.Name] {
				return true
			}
			if before, ok := c.nb.symbols[id.Name].obj.(*types.Var); ok {
				id.Name = our + id.Name
				old := types.NewVar(before.Pos(), c.pkg, id.Name, before.Type())
				c.same[old] = before
				c.see(old)
			}
			return true
		})
	}
	fresh := false
	for _, id := range names {
		if have[id.Name] {
			c.again[id] = id.Name
			id.Name = "_"
		} else if id.Name != "_" {
			fresh, have[id.Name] = true, true
		}
	}
	if !fresh {
		c.mistake(s.TokPos, "no new variables on left side of :=")
	}
	return &ast.GenDecl{Tok: token.VAR, TokPos: s.Pos(), Specs: []ast.Spec{&ast.ValueSpec{Names: names, Values: s.Rhs}}}
}

// lastExpression is the expression that ends the cell, whose value is shown.
func (c *Cell) lastExpression() *ast.ExprStmt {
	if len(c.parts) == 0 {
		return nil
	}
	last, _ := c.parts[len(c.parts)-1].node.(*ast.ExprStmt)
	return last
}
