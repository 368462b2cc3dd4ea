package cell

import (
	"cmp"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// checked is a cell whose types are known. In its syntax definitions have become variables of the package, and statements are
// in a function.
type checked struct {
	nb      *Notebook
	parts   []part
	syntax  *ast.File
	pkg     *types.Package
	info    *types.Info
	top     map[string]bool         // what the cell declares
	imports map[string]string       // names to paths; those without a name of their own are under "_ PATH" and ". PATH"
	own     map[string]bool         // those that the cell itself imports
	ours    map[types.Object]string // what stands for objects of ours
	again   map[*ast.Ident]string   // what is assigned to again by :=, and is blank for the checker
	wrong   scanner.ErrorList
}

// check finds the types of everything in a cell. It is of use also for code that is not right.
func (nb *Notebook) check(f *ast.File, parts []part) (*checked, error) {
	c := &checked{nb: nb, parts: parts, syntax: f, pkg: types.NewPackage(Path(nb.last+1), packageName(nb.last+1)), top: map[string]bool{},
		imports: map[string]string{}, own: map[string]bool{}, ours: map[types.Object]string{}, again: map[*ast.Ident]string{}}
	for _, p := range parts {
		for _, id := range declared(p.node) {
			c.top[exported(id.Name)] = id.Name != "_"
		}
	}
	c.addImports()
	for _, p := range parts {
		ast.Inspect(p.node, c.export)
	}
	c.arrange()
	err := c.wrong.Err()
	c.checkTypes()
	return c, cmp.Or(err, c.wrong.Err())
}

// knows says whether the cell or an earlier one declares a name.
func (c *checked) knows(name string) bool {
	_, before := c.nb.symbols[exported(name)]
	return before || c.top[exported(name)]
}

func (c *checked) mistake(at token.Pos, text string) {
	c.wrong.Add(c.nb.fset.Position(at), Plain(text))
}

// noPackage begins the message about an import that the notebook does not have.
const noPackage = "no package "

// addImports finds the packages that the cell imports, those that earlier cells have imported with a dot, and those that the
// cell leaves out.
func (c *checked) addImports() {
	for _, p := range c.parts {
		d, ok := p.node.(*ast.GenDecl)
		if !ok || d.Tok != token.IMPORT {
			continue
		}
		for _, s := range d.Specs {
			s := s.(*ast.ImportSpec)
			path, _ := strconv.Unquote(s.Path.Value)
			if _, ok := c.nb.exports[path]; !ok && path != "unsafe" {
				c.mistake(s.Path.Pos(), noPackage+path)
			}
			name := c.nb.nameOf(s, path)
			c.imports[name], c.own[name] = path, true
		}
	}
	for name, path := range c.nb.imported {
		if strings.HasPrefix(name, ". ") {
			c.imports[name] = path
		}
	}
	for name, used := range c.packagesUsed() {
		if s, before := c.nb.symbols[exported(name)]; before && !c.nb.meansPackage(name, s.obj, used) {
			continue
		}
		path, ok := c.nb.importPath(name, used)
		if _, have := c.imports[exported(name)]; ok && !have {
			c.imports[exported(name)] = path
		}
	}
}

// packagesUsed are the names before dots that the cell does not declare, with what follows the dots.
func (c *checked) packagesUsed() map[string]map[string]bool {
	uses := map[string]map[string]bool{}
	for _, p := range c.parts {
		ast.Inspect(p.node, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && p.free[x] && !c.top[exported(x.Name)] {
				if uses[x.Name] == nil {
					uses[x.Name] = map[string]bool{}
				}
				if sel.Sel.IsExported() {
					uses[x.Name][sel.Sel.Name] = true
				}
			}
			return true
		})
	}
	return uses
}

// arrange puts the parts into the file: first those that stand outside of functions, then the statements.
func (c *checked) arrange() {
	all := &ast.GenDecl{Tok: token.IMPORT}
	for name, path := range c.imports {
		name, _, _ = strings.Cut(name, " ")
		all.Specs = append(all.Specs, &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}})
	}
	c.syntax.Name = ast.NewIdent(c.pkg.Name())
	c.syntax.Decls = []ast.Decl{all}
	body := &ast.BlockStmt{Lbrace: c.syntax.FileStart, Rbrace: c.syntax.FileEnd}
	run := &ast.FuncDecl{Name: ast.NewIdent(our), Type: &ast.FuncType{Params: &ast.FieldList{}}, Body: body}
	have := map[string]bool{}
	for _, p := range c.parts {
		have[exported(p.name)] = p.name != ""
	}
	for i := range c.parts {
		p := &c.parts[i]
		if s, ok := p.node.(*ast.AssignStmt); ok && len(declared(s)) > 0 {
			p.node = c.definition(s, p.free, have)
		}
		switch n := p.node.(type) {
		case ast.Stmt:
			body.List = append(body.List, n)
		case *ast.GenDecl:
			if n.Tok != token.IMPORT {
				c.syntax.Decls = append(c.syntax.Decls, n)
			}
		case ast.Decl:
			c.syntax.Decls = append(c.syntax.Decls, n)
		}
	}
	c.syntax.Decls = append(c.syntax.Decls, run)
}

// definition makes a := a declaration of variables. A name that the cell has already is only assigned to. On the right, a
// name means what it was before, and is given our mark.
func (c *checked) definition(s *ast.AssignStmt, free map[*ast.Ident]bool, have map[string]bool) *ast.GenDecl {
	names := declared(s)
	for _, e := range s.Rhs {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || !free[id] || have[id.Name] || !slices.ContainsFunc(names, func(of *ast.Ident) bool { return of.Name == id.Name }) {
				return true
			}
			if before, ok := c.nb.symbols[id.Name].obj.(*types.Var); ok {
				id.Name = our + id.Name
				c.pkg.Scope().Insert(types.NewVar(before.Pos(), c.pkg, id.Name, before.Type()))
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

// checkTypes finds the types. The names of earlier cells are in the scope, unless this cell declares them.
func (c *checked) checkTypes() {
	c.predeclare()
	for name, s := range c.nb.symbols {
		if _, imported := c.imports[name]; !c.top[name] && !imported {
			c.pkg.Scope().Insert(s.obj)
		}
	}
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	last := c.lastExpression()
	conf := types.Config{Importer: c.nb.importer, Error: func(err error) {
		e := err.(types.Error)
		unused := last != nil && e.Pos >= last.X.Pos() && e.Pos < last.X.End() && strings.HasSuffix(e.Msg, "is not used")
		if !unused && !harmless(e.Msg) {
			c.mistake(e.Pos, e.Msg)
		}
	}}
	types.NewChecker(&conf, c.nb.fset, c.pkg, c.info).Files([]*ast.File{c.syntax})
}

// harmless are messages about what the translation mends: imports without use, and variables that need each other, which are
// given their values by statements.
func harmless(msg string) bool {
	return strings.Contains(msg, "imported and not used") || strings.Contains(msg, "initialization cycle") || strings.HasPrefix(msg, "\t") // the rest of another
}

// predeclared are the names that every cell has, by what stands for them.
var predeclared = map[string]string{up + "must": "Must", up + "check": "NoError", up + "ctx": "Context", FlagsFunction: "ParseFlags"}

func (c *checked) predeclare() {
	pkg, err := c.nb.importer.Import(Runtime)
	if err != nil {
		return // tests of cells that use none
	}
	for name, by := range predeclared {
		if c.knows(name) {
			continue
		}
		f := pkg.Scope().Lookup(by).(*types.Func)
		var o types.Object = types.NewFunc(token.NoPos, pkg, name, f.Signature())
		text := runtimeName + "." + by
		if by == "Context" {
			o, text = types.NewVar(token.NoPos, pkg, name, f.Signature().Results().At(0).Type()), text+"()"
		}
		c.ours[o] = text
		c.pkg.Scope().Insert(o)
	}
}

// lastExpression is the expression that ends the cell, whose value is shown.
func (c *checked) lastExpression() *ast.ExprStmt {
	if len(c.parts) == 0 {
		return nil
	}
	last, _ := c.parts[len(c.parts)-1].node.(*ast.ExprStmt)
	return last
}
