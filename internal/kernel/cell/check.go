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

// Cell is a cell, checked and translated. [Notebook.Package] has it as Go.
type Cell struct {
	ID      int
	Notes   []string // what the user should know
	Gives   []string // the variables to which its statements give values
	Stale   Stale    // after it was committed
	Missing []string // packages that it imports and the notebook does not have; see [Notebook.Add]

	nb      *Notebook
	source  Source
	fset    *token.FileSet
	parts   []part
	program bool            // it has declarations only, so that variables get their values in Go's order
	used    map[string]bool // what its statements mention of what cells have declared
	last    []*ast.ExprStmt // that end the cell, whose values are shown
	syntax  *ast.File
	pkg     *types.Package
	scope   *types.Scope          // of the package, in which each cell is checked anew
	mine    map[types.Object]bool // what the cell declares, also inside of functions
	info    *types.Info
	top     map[string]bool               // the names that the cell declares outside of functions
	symbols map[string]symbol             // what it declares and imports, by names; see [Notebook]
	same    map[types.Object]types.Object // variables and functions that are those of an earlier cell, or ours
	marked  map[string]string             // names with our mark, for variables of before that the cell defines anew
	wrong   scanner.ErrorList
	unknown map[string][]string // names before dots that may mean packages, with what follows the dots
	failed  map[string]string   // parts of earlier cells that do not fit, and why
	take    func() bool         // see [Notebook.Take]
	translation
}

// understand reads and checks code. carry names the declarations of earlier cells that are compiled
// again with this one, except the dropped ones. The cell is of use even if there is an error.
func (nb *Notebook) understand(s Source, carry map[string]bool, dropped map[string]string) (*Cell, error) {
	fset := token.NewFileSet()
	p, err := parse(fset, s)
	// go/types compares packages and scopes by their pointers: both have to stay the same
	*nb.pkg.Scope() = *types.NewScope(types.Universe, token.NoPos, token.NoPos, "cells")
	c := &Cell{ID: nb.last + 1, nb: nb, source: s, fset: fset, pkg: nb.pkg, scope: nb.pkg.Scope(),
		top: map[string]bool{"_": true}, symbols: map[string]symbol{}, unknown: map[string][]string{},
		same: map[types.Object]types.Object{}, marked: map[string]string{}, mine: map[types.Object]bool{},
		failed: map[string]string{}}
	c.program = p.program || !slices.ContainsFunc(p.parts, isStatement)
	for _, one := range p.parts {
		if _, isStmt := one.node.(ast.Stmt); p.program && isStmt {
			c.mistake(one.node.Pos(), "a statement outside of a function; leave the line \"package main\" out")
		}
	}
	c.assemble(p.parts, carry, dropped)
	again := c.define()
	c.findNames()
	c.seeEarlier()
	c.check()
	for _, o := range c.info.Defs {
		c.mine[o] = o != nil
	}
	for id, name := range again {
		c.info.Defs[id] = c.scope.Lookup(name)
	}
	return c, cmp.Or(err, c.wrong.Err())
}

func isStatement(p part) bool {
	_, isStmt := p.node.(ast.Stmt)
	return isStmt || p.defines
}

// define finds what the cell declares. It returns the names that are only assigned to, which are
// blank for the checker.
func (c *Cell) define() (again map[*ast.Ident]string) {
	again = map[*ast.Ident]string{}
	var lines []*ast.ValueSpec
	variables := map[string]bool{}
	for _, p := range c.parts {
		if d, ok := p.node.(*ast.GenDecl); ok && d.Tok == token.VAR && !p.carried {
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
		for _, name := range p.names() {
			c.top[name] = true
		}
	}
	return again
}

// defineValues treats a definition without a type as := in a function: if at least one name is new,
// a name that the cell has already is only assigned to. In the values, a variable that the cell has
// not defined yet is the one of an earlier cell; there its name is given our mark.
func (c *Cell) defineValues(s *ast.ValueSpec, variables map[string]bool, again map[*ast.Ident]string) {
	some := s.Type == nil && slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return !c.top[id.Name] })
	for _, value := range s.Values {
		ast.Inspect(value, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || !some || id.Obj != free || !variables[id.Name] || c.top[id.Name] {
				return true
			}
			if before, ok := c.nb.symbols[id.Name].obj.(*types.Var); ok {
				name := id.Name
				id.Name = our + name
				c.marked[id.Name] = name
				old := types.NewVar(before.Pos(), c.pkg, id.Name, before.Type())
				c.same[old] = before
				c.see(old)
			}
			return true
		})
	}
	for _, id := range s.Names {
		if some && c.top[id.Name] {
			again[id], id.Name = id.Name, "_"
		}
		c.top[id.Name] = true
	}
}

// check finds the types of everything in the cell.
func (c *Cell) check() {
	end := token.Pos(c.fset.Base()) // so that the file reaches over all that was read
	c.syntax = &ast.File{Name: ast.NewIdent(c.pkg.Name())}
	all := &ast.FuncDecl{Name: ast.NewIdent("_"), Type: &ast.FuncType{Params: &ast.FieldList{}}, Body: &ast.BlockStmt{}}
	var values []*ast.ExprStmt // that are no errors
	for _, p := range c.parts {
		e, isValue := p.node.(*ast.ExprStmt)
		if !p.carried && !isCommand(e) {
			if !isValue || p.place == 0 {
				c.last = nil
			}
			if isValue {
				c.last = append(c.last, e)
			}
		}
		if isValue && p.measured != "" {
			values = append(values, e)
		}
		switch n := p.node.(type) {
		case ast.Stmt: // may go to a label of any other
			all.Body.List = append(all.Body.List, n)
		case ast.Decl:
			c.syntax.Decls = append(c.syntax.Decls, n)
		}
	}
	c.syntax.Decls = append(c.syntax.Decls, all, &ast.BadDecl{From: end, To: end})
	values = append(values, c.last...)
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: c.nb.importer, Error: func(err error) {
		e := err.(types.Error)
		switch {
		case strings.HasPrefix(e.Msg, "\t"): // the rest of another
		case strings.Contains(e.Msg, "initialization cycle") && !c.program: // variables get their values by statements
		case strings.HasSuffix(e.Msg, "is not used") && slices.ContainsFunc(values, func(s *ast.ExprStmt) bool {
			return s.Pos() <= e.Pos && e.Pos < s.End()
		}): // it is shown
		default:
			c.mistake(e.Pos, e.Msg)
		}
	}}
	types.NewChecker(&conf, c.fset, c.pkg, c.info).Files([]*ast.File{c.syntax})
}

// mistake notes an error: one of the cell, or that a part of an earlier cell does not fit.
func (c *Cell) mistake(at token.Pos, text string) {
	for mark, name := range c.marked {
		text = strings.ReplaceAll(text, mark, name)
	}
	for _, p := range c.parts {
		if p.carried && p.node.Pos() <= at && at < p.node.End() {
			c.failed[p.key()] = text
			return
		}
	}
	c.wrong.Add(c.fset.Position(at), text)
}

// findNames finds the packages that the cell imports and those that it leaves out. It refuses names
// that are ours.
func (c *Cell) findNames() {
	used := map[string][]string{} // names before dots that the cell does not declare, with what follows the dots
	for _, p := range c.parts {
		ast.Inspect(p.node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				c.addImport(n)
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Obj == free && !c.top[x.Name] {
					used[x.Name] = append(used[x.Name], n.Sel.Name)
				}
			case *ast.TypeSpec: // go/types looks for the declaration of such a name
				if id, ok := n.Type.(*ast.Ident); ok && !c.top[id.Name] {
					n.Type = &ast.ParenExpr{Lparen: id.Pos(), X: id, Rparen: id.End()}
				}
			case *ast.Ident:
				if strings.HasPrefix(n.Name, our) && n.Name != cursor && !p.body && c.marked[n.Name] == "" &&
					predeclared[n.Name] == "" {
					c.mistake(n.Pos(), n.Name+": names that begin with "+our+" are the kernel's own; choose another one")
				}
			}
			return true
		})
	}
	for name, names := range used {
		names = slices.DeleteFunc(names, func(name string) bool { return !token.IsExported(name) })
		c.unknown[name] = names
		if pkg := c.nb.packageFor(name, names); pkg != nil {
			c.see(types.NewPkgName(token.NoPos, c.pkg, name, pkg))
		}
	}
}

// seek finds packages for names that mean nothing: one is missing, of several the user is told.
func (c *Cell) seek(mistakes scanner.ErrorList) {
	for _, m := range mistakes {
		text, undefined := strings.CutPrefix(m.Msg, "undefined: ")
		name, _, _ := strings.Cut(text, ".")
		if used := c.unknown[name]; undefined && len(used) > 0 {
			var paths []string
			for _, p := range c.nb.others() {
				if p.Name == name && declares(p.Dir, used) {
					paths = append(paths, p.Path)
				}
			}
			slices.Sort(paths)
			if len(paths) == 1 {
				c.Missing = append(c.Missing, paths[0])
			} else if len(paths) > 1 {
				m.Msg += fmt.Sprintf("; several packages have that: import %s", strings.Join(paths, " or "))
			}
		}
	}
}

func (c *Cell) addImport(s *ast.ImportSpec) {
	path, _ := strconv.Unquote(s.Path.Value)
	if path == "C" {
		c.mistake(s.Path.Pos(), "cgo does not work in a cell; put the C code into a package of a module and import that")
		return
	}
	name, pkg, err := c.nb.imported(s)
	if err != nil {
		c.mistake(s.Path.Pos(), "no package "+path)
		c.Missing = append(c.Missing, path)
		return
	}
	o := types.NewPkgName(token.NoPos, c.pkg, name, pkg)
	c.see(o)
	key := name
	if name == "_" || name == "." {
		key += path
	}
	c.symbols[key] = symbol{obj: o}
}

// imported finds the package of an import, and the name that it has in the cell.
func (nb *Notebook) imported(s *ast.ImportSpec) (name string, pkg *types.Package, err error) {
	path, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return "", nil, err
	}
	pkg, err = nb.importer.Import(path)
	if err != nil {
		return "", nil, err
	}
	if s.Name != nil {
		return s.Name.Name, pkg, nil
	}
	return pkg.Name(), pkg, nil
}

// see puts something into the scope of the cell, unless the name means something else already. A
// package that is imported by a dot is replaced by all its names.
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
		c.scope.Insert(types.NewPkgName(token.NoPos, c.pkg, o.Name(), p.Imported()))
	default:
		c.scope.Insert(o)
	}
}

// seeEarlier puts the names of earlier cells into the scope, those imported by a dot last, and
// those that every cell has.
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
var predeclared = map[string]string{"must": "Must", "check": "NoError", "ctx": "Context", command: "Command"}

// command is the function that has the kernel do a command of the cell; see [InOrder].
const command = our + "command"

// InOrder is the Go that does a command where it stands.
func InOrder(text string) string { return fmt.Sprintf("%s(%q)", command, text) }

func isCommand(s *ast.ExprStmt) bool {
	if s == nil {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == command
}

// findOrigin sets the hash of the cell and of what it uses of others, by which results are named.
func (c *Cell) findOrigin() {
	var texts []string
	from := map[string]bool{}
	for _, p := range c.parts {
		texts = append(texts, p.text)
	}
	for _, o := range c.info.Uses {
		o = cmp.Or(c.same[o], o) // m := f(m) uses the m of before
		if s := c.nb.symbols[o.Name()]; s.obj == o {
			from[s.from] = true
		}
	}
	c.origin = hash(fmt.Sprintln(texts, slices.Sorted(maps.Keys(from))))
}
