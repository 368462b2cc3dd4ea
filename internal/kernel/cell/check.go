package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// ourPath is the path of all cells while they are checked: they see each other's unexported names.
const ourPath = "nb"

// checked is a cell whose types are known. Its text has the parts of the cell as they stand, but definitions have become
// variables of the package, and statements are in a function.
type checked struct {
	nb      *Notebook
	parts   []part
	imports map[string]string // names to paths; those without a name of their own are under _ and the path
	own     map[string]bool   // those that the cell itself imports
	text    string
	syntax  *ast.File
	pkg     *types.Package
	info    *types.Info
	top     map[string]bool               // what the cell declares
	ours    map[types.Object]string       // what stands for objects of ours in the translated text
	before  map[types.Object]types.Object // and what those with our mark are
	again   map[int]string                // offsets of names that a := assigns to again
}

func (nb *Notebook) check(file string, parts []part, keepGoing bool) (*checked, error) {
	c := &checked{nb: nb, parts: parts, imports: map[string]string{}, own: map[string]bool{}, top: map[string]bool{},
		ours: map[types.Object]string{}, before: map[types.Object]types.Object{}, again: map[int]string{}}
	err := c.write()
	if err != nil {
		return nil, err
	}
	if c.syntax, err = parser.ParseFile(nb.fset, file, c.text, 0); err != nil && !keepGoing {
		return nil, mistakesOf(err)
	}
	c.findTop()
	if missing := c.addImports(); len(missing) > 0 && !keepGoing {
		return nil, missing
	}
	if wrong := c.checkTypes(); len(wrong) > 0 && !keepGoing {
		return nil, wrong
	}
	return c, nil
}

func importLine(name, p string) string {
	return fmt.Sprintf("import %s %q; ", strings.TrimSuffix(name, " "+p), p)
}

// addImports adds the imports with a dot of earlier cells, and those that the cell leaves out.
func (c *checked) addImports() (missing Mistakes) {
	all := &ast.GenDecl{Tok: token.IMPORT}
	add := func(name, path string, s *ast.ImportSpec) {
		if name == "_" || name == "." {
			name += " " + path
		}
		if _, have := c.imports[name]; !have {
			c.imports[name] = path
			all.Specs = append(all.Specs, s)
		}
	}
	addGuess := func(name, path string) {
		add(name, path, &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}})
	}
	for _, s := range c.syntax.Imports {
		path, _ := strconv.Unquote(s.Path.Value)
		if _, ok := c.nb.exports[path]; !ok && path != "unsafe" {
			pos := c.nb.fset.Position(s.Path.Pos())
			missing = append(missing, Mistake{pos.Filename, pos.Line, pos.Column, noPackage + path})
		}
		name := c.nb.nameOf(s, path)
		c.own[name] = true
		add(name, path, s)
	}
	for p := range c.nb.dotted {
		addGuess(".", p)
	}
	for name, used := range unresolved(c.syntax) {
		if s, before := c.nb.symbols[name]; before && !c.nb.meansPackage(name, s.obj, used) {
			continue
		}
		if p, ok := c.nb.importPath(name, used); ok {
			addGuess(name, p)
		}
	}
	decls := slices.DeleteFunc(c.syntax.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		return ok && g.Tok == token.IMPORT
	})
	c.syntax.Decls = append([]ast.Decl{all}, decls...)
	return missing
}

// write writes the parts one after the other: first those that stand outside of functions, then the statements.
func (c *checked) write() error {
	var b, run strings.Builder
	b.WriteString("package cell;")
	declared := map[string]bool{}
	for _, p := range c.parts {
		switch {
		case p.kind == isImport:
			b.WriteString("\n" + p.directive() + p.text)
		case p.kind == isFunc && p.on == "", p.kind == isType:
			declared[p.name] = true
		}
	}
	for i := range c.parts {
		p := &c.parts[i]
		to := &b
		switch p.kind {
		case isImport:
			continue
		case isStmt:
			to = &run
		}
		to.WriteString("\n" + map[kind]string{isDefine: "var ", isVar: "var ", isType: "type "}[p.kind] + p.directive())
		p.begin = to.Len()
		text := p.text
		if p.kind == isDefine {
			var err error
			if text, err = c.definition(p, declared); err != nil {
				return err
			}
		}
		to.WriteString(text)
		p.end = to.Len()
	}
	b.WriteString("\nfunc " + our + "run() {")
	for i := range c.parts {
		if p := &c.parts[i]; p.kind == isStmt {
			p.begin += b.Len()
			p.end += b.Len()
		}
	}
	c.text = b.String() + run.String() + "\n}\n"
	return nil
}

// definition makes a := a declaration of variables. A name that the cell has already is only assigned to. On the right, a
// name means what it was before, and is given our mark.
func (c *checked) definition(p *part, declared map[string]bool) (string, error) {
	text := []byte(p.text)
	copy(text[p.at:], " =")
	fresh, at := false, 0
	for _, name := range p.names {
		at += strings.Index(p.text[at:], name)
		if declared[name] {
			c.again[p.begin+at] = name
			copy(text[at:], "_"+strings.Repeat(" ", len(name)-1))
		}
		fresh = fresh || name != "_" && !declared[name]
		at += len(name)
	}
	if !fresh {
		line, column := place(p.text, p.at)
		if line == 1 {
			column += p.column - 1
		}
		return "", Mistakes{{p.file, p.line + line - 1, column, "no new variables on left side of :="}}
	}
	out := string(text)
	for _, at := range slices.Backward(p.old) {
		name := identAt(out, at)
		if _, before := c.nb.symbols[name]; before && !declared[name] {
			out = out[:at] + our + out[at:]
		}
	}
	for _, name := range p.names {
		declared[name] = name != "_"
	}
	return out, nil
}

func identAt(text string, at int) string {
	end := at
	for end < len(text) && (text[end] == '_' || text[end] >= 0x80 || 'a' <= text[end]|0x20 && text[end]|0x20 <= 'z' || '0' <= text[end] && text[end] <= '9') {
		end++
	}
	return text[at:end]
}

func (c *checked) findTop() {
	for _, d := range c.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && !strings.HasPrefix(d.Name.Name, our) {
				c.top[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					c.top[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, id := range s.Names {
						c.top[id.Name] = true
					}
				}
			}
		}
	}
	delete(c.top, "_")
}

// unresolved are the names before dots that a file does not declare, with what follows the dots.
func unresolved(f *ast.File) map[string]map[string]bool {
	unresolved, uses := map[*ast.Ident]bool{}, map[string]map[string]bool{}
	for _, id := range f.Unresolved {
		unresolved[id] = true
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && unresolved[x] {
				if uses[x.Name] == nil {
					uses[x.Name] = map[string]bool{}
				}
				if token.IsExported(sel.Sel.Name) {
					uses[x.Name][sel.Sel.Name] = true
				}
			}
		}
		return true
	})
	return uses
}

// checkTypes finds the types of everything. The names of earlier cells are in the scope, unless this cell declares them.
func (c *checked) checkTypes() (wrong Mistakes) {
	c.pkg = types.NewPackage(ourPath, "cell")
	c.predeclare()
	for name, s := range c.nb.symbols {
		_, imported := c.imports[name]
		if !c.top[name] && !imported {
			c.pkg.Scope().Insert(s.obj)
		}
		if v, ok := s.obj.(*types.Var); ok { // what it was before, where a definition mentions itself
			old := types.NewVar(v.Pos(), c.pkg, our+name, v.Type())
			c.before[old] = s.obj
			c.pkg.Scope().Insert(old)
		}
	}
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	last := c.lastExpression()
	conf := types.Config{Importer: c.nb.importer, Error: func(err error) {
		e := err.(types.Error)
		switch {
		case harmless(e.Msg):
		case last != nil && e.Pos >= last.Pos() && e.Pos < last.End() && strings.HasSuffix(e.Msg, "is not used"):
		default:
			pos := e.Fset.Position(e.Pos)
			wrong = append(wrong, Mistake{pos.Filename, pos.Line, pos.Column, Plain(strings.ReplaceAll(e.Msg, ourPath+".", ""))})
		}
	}}
	types.NewChecker(&conf, c.nb.fset, c.pkg, c.info).Files([]*ast.File{c.syntax})
	return wrong
}

// harmless are messages about what the translation mends: imports without use, and variables that need each other, which are
// given their values by statements.
func harmless(msg string) bool {
	for _, part := range []string{"imported and not used", "initialization cycle", "implicit assignment to unexported field"} {
		if strings.Contains(msg, part) {
			return true
		}
	}
	return strings.HasPrefix(msg, "\t") // the rest of another
}

// predeclared are the names that every cell has, by what stands for them.
var predeclared = map[string]string{"must": "Must", "check": "NoError", "ctx": "Context", FlagsFunction: "ParseFlags"}

// FlagsFunction parses the program's arguments.
const FlagsFunction = our + "flags"

func (c *checked) predeclare() {
	pkg, err := c.nb.importer.Import(Runtime)
	if err != nil {
		return // tests of cells that use none
	}
	for name, by := range predeclared {
		f, ok := pkg.Scope().Lookup(by).(*types.Func)
		if _, before := c.nb.symbols[name]; before || c.top[name] || !ok {
			continue
		}
		var o types.Object = types.NewFunc(token.NoPos, pkg, name, f.Signature())
		text := our + "rt." + by
		if name == "ctx" {
			o, text = types.NewVar(token.NoPos, pkg, name, f.Signature().Results().At(0).Type()), text+"()"
		}
		c.ours[o] = text
		c.pkg.Scope().Insert(o)
	}
}

func exported(name string) string {
	if token.IsExported(name) {
		return name
	}
	return up + name
}

// lastExpression is the expression that ends the cell, whose value is shown.
func (c *checked) lastExpression() ast.Expr {
	if n := len(c.parts); n == 0 || c.parts[n-1].kind != isStmt {
		return nil
	}
	f, ok := c.syntax.Decls[len(c.syntax.Decls)-1].(*ast.FuncDecl) // that of the statements
	if !ok || f.Body == nil || len(f.Body.List) == 0 {
		return nil
	}
	if s, ok := f.Body.List[len(f.Body.List)-1].(*ast.ExprStmt); ok {
		return s.X
	}
	return nil
}

func (c *checked) offset(p token.Pos) int { return c.nb.fset.File(c.syntax.FileStart).Offset(p) }
