package cell

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// translation is what a cell becomes.
type translation struct {
	code    *code             // the text that is being written; see within
	made    []*entity         // what the cell declares
	bodies  map[*entity]*code // of functions and methods
	others  []*code           // other functions
	running code              // the function that runs the cell
	enters  code              // the function that makes parts of the program known to a new process
	escapes map[types.Object]bool
	flags   []string          // calls that remove command-line flags of earlier runs, which the cell defines again
	origin  string            // what the cell is made of
	locals  int               // how many types inside functions it has
	noted   map[string]string // see [Notebook.verify]
	renewed []string          // names of types that replace types of earlier cells
}

// runtime is the package that translated cells call, by a name of ours.
const (
	runtime     = "github.com/parallelcl/parallelcl/internal/kernel/rt"
	runtimeName = our + "rt"
)

// name returns the name of a function of the cell. Package rt reads in it which cell it belongs to.
func (c *Cell) name(of string) string {
	return fmt.Sprint(our, strings.ReplaceAll(of, ".", dot), our, c.ID)
}

// translate makes code of the cell.
func (c *Cell) translate(dropped map[string]string) error {
	c.bodies, c.running, c.enters = map[*entity]*code{}, newCode(), newCode()
	c.escapes = c.escaping()
	c.findOrigin()
	c.settle()
	c.order()
	var body, enters []ast.Stmt
	for _, p := range c.parts {
		c.noteUses(p)
	}
	for _, p := range c.parts {
		c.within(&c.running, func() { body = append(body, measure(p.measured, c.put(p, &enters))...) })
	}
	var main *ast.FuncDecl
	for _, p := range c.parts {
		if f, ok := p.node.(*ast.FuncDecl); ok && p.name == "main" && !p.carried {
			main = f
		}
	}
	c.within(&c.running, func() {
		if main != nil {
			body = append(body, c.halts("Left"), calls(c.nameOf(c.scope.Lookup("main"))))
		}
		switch how := c.source.measured[0]; how {
		case "time":
			body = append([]ast.Stmt{text("defer " + runtimeName + ".Clock()()")}, body...)
		default:
			body = measure(how, body)
		}
		c.running.text = fmt.Sprintf("func %s() {\n%s.Enter(%d, %q, map[string]any{%s})\n%s\n%s\n%s\n}", c.name(""),
			runtimeName, c.ID, c.origin,
			c.pointers(), c.follows(), strings.Join(c.flags, "\n"), c.print(body))
		c.count(&ast.BlockStmt{List: body})
	})
	if len(enters) > 0 {
		c.enters = c.running // with the same imports and entities
		c.enters.text = fmt.Sprintf("func %s() {\n%s.Enter(%d, %q, nil)\n%s\n}", c.name("replay"), runtimeName, c.ID,
			c.origin, c.print(enters))
		c.enters.locals = countTypes(&ast.BlockStmt{List: enters})
	}
	c.numberLocals()
	c.note(dropped)
	if err := c.wrong.Err(); err != nil {
		return err
	}
	c.nb.last = c.ID
	c.nb.cells[c.ID] = c
	return nil
}

// print writes syntax with the lines of the cells.
func (c *Cell) print(syntax any) string {
	var b strings.Builder
	config := printer.Config{Mode: printer.RawFormat | printer.SourcePos}
	config.Fprint(&b, c.fset, syntax) // fails only where writing does
	return b.String()
}

// pointers lists the variables that the cell declares, and makes entities of all else that it
// declares.
func (c *Cell) pointers() (text string) {
	unused := newCode()
	for _, name := range slices.Sorted(maps.Keys(c.symbols)) {
		switch o := c.symbols[name].obj.(type) {
		case *types.PkgName:
			if o.Name() == "_" { // imported for what it does
				c.running.packages[o.Imported().Path()] = c.running.packages[o.Imported().Path()]
			}
		case *types.Var:
			text += fmt.Sprintf("%q: %s, ", name, c.entity(o).id)
		default:
			c.within(&unused, func() { c.entity(o) })
		}
	}
	return text
}

// hasValues says whether there can be values of a type: not of a generic one, nor of a constraint.
func hasValues(o *types.TypeName) bool {
	named, ok := o.Type().(*types.Named)
	i, isInterface := o.Type().Underlying().(*types.Interface)
	return ok && named.TypeParams().Len() == 0 && (!isInterface || i.IsMethodSet())
}

// follows returns a call of rt.Follow for the renewed types that have the layout of the old ones.
// It is empty if there are none.
func (c *Cell) follows() string {
	text := ""
	for _, name := range slices.Sorted(slices.Values(c.renewed)) {
		before, now := c.nb.symbols[name].obj, c.symbols[name].obj
		if sameLayout(before.Type(), now.Type(), nil) {
			text += fmt.Sprintf("%q: %q, ", c.nb.entities[before].id, c.entity(now).id)
		}
	}
	if text != "" {
		text = fmt.Sprintf("%s.Follow(map[string]string{%s})", runtimeName, text)
	}
	return text
}

// settle finds which of the cell's names are variables and functions of before, with the same type:
// they stay, and get a new value. Others are new.
func (c *Cell) settle() {
	for name := range c.top {
		obj, old := c.scope.Lookup(name), c.nb.symbols[name]
		if !c.mine[obj] {
			continue // a blank
		}
		s := symbol{obj: obj, from: c.origin}
		_, wasFunc := old.obj.(*types.Func)
		_, isFunc := obj.(*types.Func)
		if old.obj != nil && isFunc == wasFunc && isStored(obj) && isSame(old.obj, obj) {
			c.same[obj] = old.obj
			s.obj = old.obj
		}
		if old.obj != nil && s.obj == obj {
			c.move(obj, old.obj)
		}
		for i, p := range c.parts {
			if p.of == name && !p.body || slices.Contains(p.names(), name) {
				if p.uses == nil {
					c.parts[i].uses = map[types.Object]bool{}
				}
				s.parts = append(s.parts, c.parts[i])
			}
		}
		if c.nb.isType(name) && c.nb.symbols[name].obj != obj && kindOf(obj) == "type" && !obj.(*types.TypeName).IsAlias() {
			c.renewed = append(c.renewed, name)
		}
		c.symbols[name] = s
	}
	for i, p := range c.parts { // a new body of a method
		if p.body {
			s, ok := c.symbols[p.of]
			if !ok {
				s = c.nb.symbols[p.of]
				s.parts = slices.Clone(s.parts)
			}
			c.parts[i].uses = map[types.Object]bool{}
			s.parts[slices.IndexFunc(s.parts, func(k part) bool { return k.name == p.name })] = c.parts[i]
			c.symbols[p.of] = s
		}
	}
}

// move lets a variable, a function or the methods of a type take the place of another one whose
// memory is laid out alike.
func (c *Cell) move(now, before types.Object) {
	switch now := now.(type) {
	case *types.Var:
		if slices.ContainsFunc(c.parts, func(p part) bool { return p.carried && p.name == now.Name() }) {
			c.nb.moved[now] = before
		}
	case *types.Func:
		if _, wasFunc := before.(*types.Func); wasFunc && isStored(now) && isStored(before) &&
			sameLayout(before.Type(), now.Type(), nil) {
			c.nb.moved[now] = before
		}
	case *types.TypeName:
		old, ok := before.Type().(*types.Named)
		named, ok2 := now.Type().(*types.Named)
		if !ok || !ok2 || kindOf(before) != "type" || !sameLayout(old, named, nil) {
			return
		}
		for m := range named.Methods() {
			for was := range old.Methods() {
				if was.Name() == m.Name() && c.nb.entities[was] != nil && sameLayout(was.Signature(), m.Signature(), nil) &&
					sameLayout(was.Signature().Recv().Type(), m.Signature().Recv().Type(), nil) {
					c.nb.moved[m] = was
				}
			}
		}
	}
}

// noteUses notes what a declaration mentions of the notebook.
func (c *Cell) noteUses(p part) {
	if p.uses == nil {
		return
	}
	var body *ast.BlockStmt
	if f, ok := p.node.(*ast.FuncDecl); ok {
		body = f.Body
	}
	ast.Inspect(p.node, func(n ast.Node) bool {
		id, _ := n.(*ast.Ident)
		o := c.info.Uses[id]
		if o == nil || packagePath(o) != Path || o.Parent() != c.scope {
			return true
		}
		if old, ok := c.same[o]; ok {
			o = old
		}
		within := body != nil && body.Pos() <= id.Pos() && id.Pos() < body.End()
		before, known := p.uses[o]
		p.uses[o] = within && (before || !known)
		return true
	})
}

// order puts variables of a cell that has only declarations into the order in which Go gives them
// values. Functions init follow.
func (c *Cell) order() {
	if !c.program {
		return
	}
	rank := func(p part) int {
		d, isDecl := p.node.(*ast.GenDecl)
		switch {
		case p.name == "init":
			return len(c.info.InitOrder) + 1
		case !isDecl || d.Tok != token.VAR:
			return 0
		}
		return 1 + slices.IndexFunc(c.info.InitOrder, func(i *types.Initializer) bool {
			return d.Pos() <= i.Rhs.Pos() && i.Rhs.Pos() < d.End()
		})
	}
	slices.SortStableFunc(c.parts, func(a, b part) int { return rank(a) - rank(b) })
}

// isStored says whether something is the value of a variable. Functions without type parameters
// are, so that functions that call one see the new one when it is declared again.
func isStored(o types.Object) bool {
	f, ok := o.(*types.Func)
	return kindOf(o) == "var" || ok && f.Signature().TypeParams().Len() == 0
}

// nameOf is how the translation mentions something of a package.
func (c *Cell) nameOf(o types.Object) string {
	if old, ok := c.same[o]; ok {
		o = old
	}
	switch {
	case packagePath(o) != Path:
		return c.qualifier(o.Pkg()) + "." + o.Name()
	case isStored(o):
		return "(*" + c.entity(o).id + ")"
	}
	return c.entity(o).id
}

// qualifier is how the translation mentions a package, whatever the cell calls it.
func (c *Cell) qualifier(p *types.Package) string {
	c.code.packages[p.Path()] = true
	return c.nb.alias(p.Path())
}

// alias is the name by which all cells import a package.
func (nb *Notebook) alias(path string) string {
	if path == runtime {
		return runtimeName
	}
	if nb.aliases[path] == "" {
		nb.aliases[path] = fmt.Sprint(our, "p", len(nb.aliases))
	}
	return nb.aliases[path]
}

// put translates a part. It returns the statements that run it, and adds those that a new process
// runs again.
func (c *Cell) put(p part, enters *[]ast.Stmt) []ast.Stmt {
	switch n := p.node.(type) {
	case *ast.ExprStmt:
		again := registers.MatchString(types.ExprString(n.X))
		c.show(n, p)
		return c.run(n, again, enters)
	case ast.Stmt:
		return c.run(n, false, enters)
	case *ast.GenDecl:
		if n.Tok == token.VAR && !p.carried {
			return c.run(assignment(n), false, enters)
		}
	case *ast.FuncDecl:
		return c.function(n, p, enters)
	}
	return nil
}

// function translates a function or a method.
func (c *Cell) function(f *ast.FuncDecl, p part, enters *[]ast.Stmt) []ast.Stmt {
	o, _ := c.info.Defs[f.Name].(*types.Func)
	unused := newCode()
	bodyOf := func(o types.Object, f *ast.FuncDecl) {
		c.within(&unused, func() {
			e := c.entity(o)
			c.bodies[e] = c.body(f, p.name, p.of != "" && token.IsExported(p.name[len(p.of)+1:]))
		})
	}
	switch {
	case f.Name.Name == "_", o == nil && p.name != "init":
	case p.body:
		t := c.nb.symbols[p.of].obj.Type()
		m, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, c.pkg, p.name[len(p.of)+1:])
		bodyOf(m, f)
	case p.of != "":
		if !p.fixed {
			bodyOf(o, asBody(p).node.(*ast.FuncDecl))
		}
	case p.name == "init":
		k := c.body(f, fmt.Sprint("init", len(c.others)), false)
		c.others = append(c.others, k)
		return c.run(calls(k.name), false, enters)
	case isStored(o):
		if old, ok := c.same[o]; ok {
			o = old.(*types.Func)
		}
		bodyOf(o, f)
		if strings.HasPrefix(p.name, "init_") && !p.carried { // GoNB runs those before each cell
			return c.run(calls(c.nameOf(o)), true, enters)
		}
	}
	return nil
}

// body translates a function, under a name that says which cell it belongs to. leaves is for adapt.
func (c *Cell) body(f *ast.FuncDecl, name string, leaves bool) *code {
	k := newCode()
	k.name = c.name(name)
	f = &ast.FuncDecl{Name: &ast.Ident{NamePos: f.Name.Pos(), Name: k.name}, Type: f.Type, Body: f.Body}
	c.within(&k, func() {
		c.adapt(f, leaves)
		c.count(f)
		k.text = c.print(f)
	})
	return &k
}

// adapt has syntax mention all as the package does, and keeps it from ending the process; see
// [Cell.guardLeaving].
func (c *Cell) adapt(n ast.Node, leaves bool) ast.Node {
	n = c.guardLeaving(n, leaves)
	ast.Inspect(n, c.rewrite)
	return n
}

// run translates a statement.
func (c *Cell) run(s ast.Stmt, again bool, enters *[]ast.Stmt) []ast.Stmt {
	s = c.adapt(s, false).(ast.Stmt)
	if again {
		*enters = append(*enters, s)
	}
	return []ast.Stmt{c.halts("Left"), s}
}

// registers begins a call that makes a part of the program known.
var registers = regexp.MustCompile(`^[^\s(]+\.Register\w*\(`)

// assignment gives variables that were declared their values.
func assignment(d *ast.GenDecl) ast.Stmt {
	s := d.Specs[0].(*ast.ValueSpec)
	set := &ast.AssignStmt{Tok: token.ASSIGN, TokPos: s.Pos(), Rhs: s.Values}
	for _, id := range s.Names {
		set.Lhs = append(set.Lhs, id)
		if len(s.Values) == 0 {
			set.Rhs = append(set.Rhs, &ast.StarExpr{X: &ast.CallExpr{Fun: ast.NewIdent("new"), Args: []ast.Expr{s.Type}}})
		}
	}
	if !slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name != "_" }) {
		return &ast.DeclStmt{Decl: d} // the value may need the type
	}
	return set
}

// count counts the types that are declared inside of functions.
func (c *Cell) count(n ast.Node) { c.code.locals += countTypes(n) }

func countTypes(n ast.Node) (count int) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok && !s.Assign.IsValid() {
			count++
		}
		return true
	})
	return count
}

// numberLocals gives the types inside of functions numbers that no others have.
func (c *Cell) numberLocals() {
	list := append(slices.Collect(maps.Values(c.bodies)), c.others...)
	for _, e := range c.made {
		list = append(list, &e.code)
	}
	for _, k := range append(list, &c.running, &c.enters) {
		if k.locals > 0 {
			k.first = c.nb.locals + c.locals + 1
			c.locals += k.locals
		}
	}
}
