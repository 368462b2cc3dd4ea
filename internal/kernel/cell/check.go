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

// Cell is a cell as a Go package. Its function [Run] runs it.
type Cell struct {
	ID      int
	Text    string
	Notes   []string // what the user should know
	Missing []string // packages that it imports and the notebook does not have; see [Notebook.Add]

	nb      *Notebook
	fset    *token.FileSet
	parts   []part
	last    *ast.ExprStmt // that ends the cell, whose value is shown
	syntax  *ast.File
	pkg     *types.Package
	info    *types.Info
	top     map[string]bool               // what the cell declares
	symbols map[string]symbol             // and imports; see [Notebook]
	same    map[types.Object]types.Object // variables and functions that are those of an earlier cell, or ours
	wrong   scanner.ErrorList

	needs   map[string]string // the names of packages that the translation mentions, by path
	outside []ast.Decl        // types, constants and functions
	begin   []string          // statements that declare the cell
	enters  []ast.Stmt        // those that make parts of the program known
	body    []ast.Stmt        // all
	inFunc  bool              // a function is being translated
}

// understand reads and checks code. Methods of types that the code changes come along unless carry is false. What it returns is
// of use also with an error.
func (nb *Notebook) understand(s Source, carry bool) (*Cell, error) {
	id, fset := nb.last+1, token.NewFileSet()
	parts, _, err := parse(fset, s)
	c := &Cell{ID: id, nb: nb, fset: fset, pkg: types.NewPackage(Path(id), fmt.Sprint(our, id)), top: map[string]bool{"_": true},
		symbols: map[string]symbol{}, same: map[types.Object]types.Object{},
		needs: map[string]string{runtime: runtimeName}}
	c.withMethods(parts, carry)
	again := c.define()
	c.findNames()
	c.seeEarlier()
	c.check()
	for id, name := range again {
		c.info.Defs[id] = c.pkg.Scope().Lookup(exported(name))
	}
	return c, cmp.Or(err, c.wrong.Err())
}

// withMethods makes types and methods come together. A cell that declares a method on a type of an earlier cell, or changes
// one, declares the type again with all its methods. A cell that says of a type what is known already declares nothing.
func (c *Cell) withMethods(parts []part, carry bool) {
	renewed := map[string]bool{}
	for more := true; more; { // a type that changes may be part of another
		more = false
		for _, p := range parts {
			if !renewed[p.of] && c.nb.differs(p, renewed) {
				renewed[p.of], more = true, true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(renewed)) {
		for _, p := range c.nb.partsOf(name) {
			isIt := func(other part) bool { return other.name == p.name }
			switch {
			case slices.ContainsFunc(parts, isIt):
			case carry, p.name == p.of:
				before, _, _ := parse(c.fset, p.from) // it has been read before, and written anew
				c.parts = append(c.parts, before[slices.IndexFunc(before, isIt)])
			default:
				c.Notes = append(c.Notes, fmt.Sprintf("The method %s does not fit the new type and is left out: run its cell again.", p.name))
			}
		}
	}
	for _, p := range parts {
		if len(c.nb.partsOf(p.of)) == 0 || renewed[p.of] {
			c.parts = append(c.parts, p)
		}
	}
}

// differs says whether a part changes what is known of its type, or that is made of another type that is newer.
func (nb *Notebook) differs(p part, renewed map[string]bool) bool {
	known := nb.symbols[exported(p.of)]
	isKnown := len(known.parts) == 0
	for _, k := range known.parts {
		isKnown = isKnown || k.text == p.text
		for _, word := range strings.FieldsFunc(k.text, func(r rune) bool { return !inName(r) }) {
			if renewed[word] || len(nb.partsOf(word)) > 0 && nb.symbols[exported(word)].cell > known.cell {
				return true
			}
		}
	}
	return !isKnown
}

// partsOf lists what the notebook knows of a type and its methods.
func (nb *Notebook) partsOf(name string) []part { return nb.symbols[exported(name)].parts }

// define finds what the cell declares. It returns the names that are only assigned to, which are blank for the checker.
func (c *Cell) define() (again map[*ast.Ident]string) {
	again = map[*ast.Ident]string{}
	var lines []*ast.ValueSpec
	variables := map[string]bool{}
	for _, p := range c.parts {
		if d, ok := p.node.(*ast.GenDecl); ok && d.Tok == token.VAR {
			line := d.Specs[0].(*ast.ValueSpec)
			lines = append(lines, line)
			for _, id := range line.Names {
				variables[id.Name] = true
			}
		}
	}
	for _, line := range lines {
		c.defineValues(line, variables, again)
	}
	for _, p := range c.parts {
		c.top[exported(p.name)] = true
		if d, ok := p.node.(*ast.GenDecl); ok && d.Tok == token.CONST {
			for _, s := range d.Specs {
				for _, id := range s.(*ast.ValueSpec).Names {
					c.top[exported(id.Name)] = true
				}
			}
		}
	}
	return again
}

// defineValues takes a definition without a type as := is in a function: a name that the cell has already is only assigned to, if
// another one is new. On the right, a variable that the cell does not have yet is what it was before, and is given our mark.
func (c *Cell) defineValues(s *ast.ValueSpec, variables map[string]bool, again map[*ast.Ident]string) {
	some := s.Type == nil && slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return !c.top[exported(id.Name)] })
	for _, value := range s.Values {
		ast.Inspect(value, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || !some || id.Obj != free || !variables[id.Name] || c.top[exported(id.Name)] {
				return true
			}
			if before, ok := c.nb.symbols[exported(id.Name)].obj.(*types.Var); ok {
				id.Name = our + exported(id.Name)
				old := types.NewVar(before.Pos(), c.pkg, id.Name, before.Type())
				c.same[old] = before
				c.see(old)
			}
			return true
		})
	}
	for _, id := range s.Names {
		if some && c.top[exported(id.Name)] {
			again[id], id.Name = id.Name, "_"
		}
		c.top[exported(id.Name)] = true
	}
}

// check finds the types of everything in the cell.
func (c *Cell) check() {
	end := token.Pos(c.fset.Base()) // so that the file reaches over all that was read
	c.syntax = &ast.File{Name: ast.NewIdent(c.pkg.Name())}
	all := &ast.FuncDecl{Name: ast.NewIdent("_"), Type: &ast.FuncType{Params: &ast.FieldList{}}, Body: &ast.BlockStmt{}}
	for _, p := range c.parts {
		c.last, _ = p.node.(*ast.ExprStmt)
		switch n := p.node.(type) {
		case ast.Stmt: // may go to a label of any other
			all.Body.List = append(all.Body.List, n)
		case ast.Decl:
			c.syntax.Decls = append(c.syntax.Decls, n)
		}
	}
	c.syntax.Decls = append(c.syntax.Decls, all, &ast.BadDecl{From: end, To: end})
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: c.nb.importer, Error: func(err error) {
		e := err.(types.Error)
		switch {
		case strings.HasPrefix(e.Msg, "\t"): // the rest of another
		case strings.Contains(e.Msg, "initialization cycle"): // variables get their values by statements
		case c.last != nil && e.Pos >= c.last.X.Pos() && e.Pos < c.last.X.End() && strings.HasSuffix(e.Msg, "is not used"): // it is shown
		default:
			c.mistake(e.Pos, e.Msg)
		}
	}}
	types.NewChecker(&conf, c.fset, c.pkg, c.info).Files([]*ast.File{c.syntax})
}

func (c *Cell) mistake(at token.Pos, text string) { c.wrong.Add(c.fset.Position(at), Plain(text)) }

// findNames finds the packages that the cell imports and those that it leaves out, and writes names in the form in which other
// cells see them.
func (c *Cell) findNames() {
	used := map[string][]string{} // names before dots that the cell does not declare, with what follows the dots
	for _, p := range c.parts {
		ast.Inspect(p.node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				c.addImport(n)
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Obj == free && !c.top[exported(x.Name)] {
					used[x.Name] = append(used[x.Name], n.Sel.Name)
				}
			case *ast.Field:
				if n.Tag == nil && slices.ContainsFunc(n.Names, isHidden) {
					n.Tag = &ast.BasicLit{Kind: token.STRING, Value: "`json:\"-\"`"} // as if it were not exported
				}
			case *ast.Ident:
				if !c.isGo(n) {
					n.Name = exported(n.Name)
				}
			}
			return true
		})
	}
	for name, names := range used {
		names = slices.DeleteFunc(names, func(name string) bool { return !token.IsExported(name) })
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
	pkg, err := c.nb.importer.Import(runtime)
	if err != nil {
		return // tests of cells that use none
	}
	for name, by := range predeclared {
		f := pkg.Scope().Lookup(by).(*types.Func)
		var o types.Object = types.NewFunc(token.NoPos, c.pkg, name, f.Signature())
		if by == "Context" {
			o = types.NewVar(token.NoPos, c.pkg, name, f.Signature().Results().At(0).Type())
		}
		c.same[o] = f
		c.see(o)
	}
}

// predeclared are the names that every cell has, by what stands for them.
var predeclared = map[string]string{up + "must": "Must", up + "check": "NoError", up + "ctx": "Context"}

func isHidden(id *ast.Ident) bool { return !id.IsExported() && id.Name != "_" }
