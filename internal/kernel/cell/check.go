package cell

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// check finds the types of everything in a cell. What it returns is of use also with an error.
func (nb *Notebook) check(f *ast.File, parts []part) (*Cell, error) {
	id := nb.last + 1
	c := &Cell{ID: id, nb: nb, parts: parts, syntax: f, pkg: types.NewPackage(Path(id), packageName(id)), top: map[string]bool{},
		imports: map[string]*types.Package{}, stands: map[types.Object]string{}, same: map[types.Object]types.Object{}, again: map[*ast.Ident]string{}, symbols: map[string]symbol{}, inFuncs: map[string]bool{}}
	for _, p := range parts {
		for _, id := range declared(p.node) {
			c.top[exported(id.Name)] = id.Name != "_"
		}
	}
	c.findPackages()
	for _, p := range parts {
		ast.Inspect(p.node, c.export)
	}
	c.seeEarlier()
	c.arrange()
	err := c.wrong.Err()
	c.checkTypes()
	return c, cmp.Or(err, c.wrong.Err())
}

// knows says whether the cell or an earlier one declares a name.
func (c *Cell) knows(name string) bool {
	_, before := c.nb.symbols[exported(name)]
	return before || c.top[exported(name)]
}

func (c *Cell) mistake(at token.Pos, text string) { c.wrong.Add(c.nb.fset.Position(at), Plain(text)) }

// see puts something into the scope of the cell, unless the name means something else already.
func (c *Cell) see(o types.Object) {
	if !c.top[o.Name()] {
		c.pkg.Scope().Insert(o)
	}
}

// seePackage puts a package into the scope. By the name of a dot, its names come there.
func (c *Cell) seePackage(name string, pkg *types.Package) {
	switch name {
	case "_":
	case ".":
		for _, one := range pkg.Scope().Names() {
			if token.IsExported(one) {
				c.see(pkg.Scope().Lookup(one))
			}
		}
	default:
		c.see(types.NewPkgName(token.NoPos, c.pkg, exported(name), pkg))
	}
}

// noPackage begins the message about an import that the notebook does not have.
const noPackage = "no package "

// findPackages finds the packages that the cell imports and those that it leaves out.
func (c *Cell) findPackages() {
	used := map[string]map[string]bool{} // names before dots that the cell does not declare, with what follows the dots
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
				if used[x.Name] == nil {
					used[x.Name] = map[string]bool{}
				}
				if n.Sel.IsExported() {
					used[x.Name][n.Sel.Name] = true
				}
			}
			return true
		})
	}
	for name, names := range used {
		if pkg := c.nb.packageFor(name, names); pkg != nil {
			c.seePackage(name, pkg)
		}
	}
}

func (c *Cell) addImport(s *ast.ImportSpec) {
	path, _ := strconv.Unquote(s.Path.Value)
	pkg, err := c.nb.importer.Import(path)
	switch {
	case path == "":
		c.mistake(s.Path.Pos(), "want the path of a package in quotes")
		return
	case err != nil:
		c.mistake(s.Path.Pos(), noPackage+path)
		return
	}
	name := pkg.Name()
	if s.Name != nil {
		name = s.Name.Name
	}
	c.seePackage(name, pkg)
	if name == "_" || name == "." {
		c.imports[name+path] = pkg
	} else {
		c.imports[exported(name)] = pkg
	}
}

// seeEarlier puts the names of earlier cells into the scope, and those that every cell has.
func (c *Cell) seeEarlier() {
	for _, s := range c.nb.symbols {
		c.see(s.obj)
	}
	for name, pkg := range c.nb.imported {
		if name[0] == '.' {
			c.seePackage(".", pkg)
		}
	}
	pkg, err := c.nb.importer.Import(Runtime)
	if err != nil {
		return // tests of cells that use none
	}
	for name, by := range predeclared {
		f, ok := pkg.Scope().Lookup(by).(*types.Func)
		if !ok { // in another version of the module
			continue
		}
		var o types.Object = types.NewFunc(token.NoPos, pkg, name, f.Signature())
		text := runtimeName + "." + by
		if by == "Context" {
			o, text = types.NewVar(token.NoPos, pkg, name, f.Signature().Results().At(0).Type()), text+"()"
		}
		c.stands[o] = text
		c.see(o)
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
		if s, ok := p.node.(*ast.AssignStmt); ok && len(declared(s)) > 0 {
			p.node = c.definition(s, have)
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
// name means what it was before, and is given our mark.
func (c *Cell) definition(s *ast.AssignStmt, have map[string]bool) *ast.GenDecl {
	names := declared(s)
	for _, e := range s.Rhs {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || id.Obj != free || have[id.Name] || !slices.ContainsFunc(names, func(of *ast.Ident) bool { return of.Name == id.Name }) {
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

func (c *Cell) checkTypes() {
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

// lastExpression is the expression that ends the cell, whose value is shown.
func (c *Cell) lastExpression() *ast.ExprStmt {
	if len(c.parts) == 0 {
		return nil
	}
	last, _ := c.parts[len(c.parts)-1].node.(*ast.ExprStmt)
	return last
}

// withMethods makes types and methods come together. A cell that declares a method on a type of an earlier cell, or changes
// one, declares the type again with all its methods. A cell that says of a type what is known already declares nothing.
func (nb *Notebook) withMethods(parts []part) (out []part) {
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
			if !slices.ContainsFunc(said[name], func(now part) bool { return now.name == p.name }) {
				out = append(out, nb.repeated(p))
			}
		}
	}
	for _, p := range parts {
		if said[p.of] == nil || renewed[p.of] {
			out = append(out, p)
		}
	}
	return out
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
