package cell

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/printer"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// Cell is a cell as a Go package. Its function Run runs it.
type Cell struct {
	ID    int
	Text  string
	Notes []string // what the user should know

	checked *checked
	symbols map[string]symbol
	inFuncs []string // names of the notebook that functions mention
}

// Path is the import path of a cell's package.
func Path(id int) string { return fmt.Sprint(wire.CellPath, id) }

// packageName is how the translation of other cells calls a cell's package.
func packageName(id int) string { return fmt.Sprint(our, id) }

// Translate makes a package of the Go code of a cell. Messages call it file, such as In[3]. The names that it declares are
// known to later cells after [Notebook.Commit].
func (nb *Notebook) Translate(file, code string) (*Cell, error) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	c, carried, err := nb.understand(source{file, code}, true)
	var notes []string
	if list, ok := err.(scanner.ErrorList); ok && len(carried) > 0 && outside(list, file) {
		for _, name := range carried {
			notes = append(notes, fmt.Sprintf("The method %s does not fit the new type and is left out: run its cell again.", name))
		}
		c, _, err = nb.understand(source{file, code}, false)
	}
	if err != nil {
		return nil, err
	}
	nb.last++
	t := &translation{checked: c, same: map[types.Object]types.Object{}, needs: map[string]string{runtimeName: Runtime}}
	t.cell = &Cell{ID: nb.last, Notes: notes, checked: c, symbols: map[string]symbol{}}
	return t.cell, t.translate()
}

// understand reads and checks code. What it returns is of use also with an error.
func (nb *Notebook) understand(s source, carry bool) (c *checked, carried []string, err error) {
	f, parts, err := parse(nb.fset, s)
	if f == nil {
		return nil, nil, err
	}
	parts, carried = nb.withMethods(parts)
	if !carry {
		parts = slices.DeleteFunc(parts, func(p part) bool { return p.again && p.isMethod() })
	}
	c, wrong := nb.check(f, parts)
	return c, carried, cmp.Or(err, wrong)
}

// outside says whether a mistake is in the text of another cell.
func outside(list scanner.ErrorList, file string) bool {
	return slices.ContainsFunc(list, func(one *scanner.Error) bool { return one.Pos.Filename != file })
}

// Commit makes what a cell declares known to later cells.
func (nb *Notebook) Commit(c *Cell) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	for name := range c.checked.own {
		if !strings.HasPrefix(name, "_ ") {
			nb.imported[name] = c.checked.imports[name]
			delete(nb.symbols, name)
		}
	}
	for name, s := range c.symbols {
		nb.symbols[name] = s
		delete(nb.imported, name)
		delete(nb.types, Plain(name))
	}
	for _, p := range c.checked.parts {
		if p.of != "" {
			nb.types[p.of] = append(nb.types[p.of], p)
		}
	}
	for _, name := range c.inFuncs {
		nb.inFuncs[name] = true
	}
}

// translation makes the text of a package from a cell whose types are known.
type translation struct {
	*checked
	cell    *Cell
	same    map[types.Object]types.Object // variables and functions that are those of an earlier cell
	needs   map[string]string             // packages that the translation mentions by names of ours
	outside []ast.Decl                    // types, constants and functions
	vars    strings.Builder               // declarations of variables
	begin   []string                      // statements that declare the cell
	enters  []ast.Stmt                    // those that make parts of the program known
	body    []ast.Stmt                    // all
	inFunc  bool                          // while names are written: those of a function
	failed  error
}

func (t *translation) translate() error {
	t.findSame()
	origin := t.origin()
	t.show(t.lastExpression())
	for _, p := range t.parts {
		_, t.inFunc = p.node.(*ast.FuncDecl)
		ast.Inspect(p.node, t.guard)
		ast.Inspect(p.node, t.refer)
	}
	for id, name := range t.again { // of which the checker knows only the blank
		id.Name = t.nameOf(t.pkg.Scope().Lookup(name))
	}
	for _, p := range t.parts {
		t.place(p)
	}
	if main := t.pkg.Scope().Lookup(up + "main"); t.top[up+"main"] {
		t.body = append(t.body, &ast.ExprStmt{X: call(t.nameOf(main))})
	}
	for _, name := range slices.Sorted(maps.Keys(t.cell.symbols)) {
		t.declare(name, t.cell.symbols[name].obj)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n//line %scell:1\n%s", t.text(t.outside), our, t.vars.String())
	fmt.Fprintf(&b, "func %sframe(f func()) { f() }\nfunc Declare() {\n%s.Enter(%d, %q, %sframe)\n", our, runtimeName, t.cell.ID, origin, our)
	fmt.Fprintf(&b, "%s\n}\nfunc Register() {\n%s\n}\nfunc Run() {\nDeclare()\n%s\n}\n", strings.Join(t.begin, "\n"), t.text(t.enters), t.text(t.body))
	t.cell.Text = "package cell; " + t.importLines() + b.String()
	return t.failed
}

// text writes syntax with the lines of the cells.
func (t *translation) text(syntax any) string {
	var b strings.Builder
	config := printer.Config{Mode: printer.RawFormat | printer.SourcePos}
	if err := config.Fprint(&b, t.nb.fset, syntax); err != nil {
		t.failed = err
	}
	return b.String()
}

// findSame finds which of the cell's names are variables and functions of before, with the same type: they stay, and get a
// new value. Others are new, and what was compiled before keeps the old ones.
func (t *translation) findSame() {
	for name := range t.top {
		obj, old := t.pkg.Scope().Lookup(name), t.nb.symbols[name].obj
		switch {
		case obj == nil:
			continue
		case old == nil:
		case sameStorage(old, obj):
			t.same[obj] = old
			t.cell.symbols[name] = t.nb.symbols[name]
			continue
		case kindOf(obj) == "type":
			t.cell.Notes = append(t.cell.Notes, Plain(name)+" is a new type: values made before keep the old one.")
		case t.nb.inFuncs[name]:
			t.cell.Notes = append(t.cell.Notes, Plain(name)+" has another type now: functions of earlier cells still use the old one.")
		}
		t.cell.symbols[name] = symbol{cell: t.cell.ID, obj: obj}
	}
	slices.Sort(t.cell.Notes)
}

func sameStorage(old, now types.Object) bool {
	f, isFunc := now.(*types.Func)
	return types.Identical(old.Type(), now.Type()) && kindOf(old) == kindOf(now) &&
		(kindOf(now) == "variable" || isFunc && f.Signature().TypeParams().Len() == 0)
}

// nameOf is how the translation mentions something that a cell has declared.
func (t *translation) nameOf(o types.Object) string {
	if old, ok := t.same[o]; ok {
		o = old
	}
	if o.Pkg() == t.pkg {
		return o.Name()
	}
	return t.qualifier(o.Pkg()) + "." + o.Name()
}

// qualifier is how the translation mentions a package, whatever the cell calls it.
func (t *translation) qualifier(p *types.Package) string {
	name := p.Name()
	switch {
	case p == t.pkg:
		return ""
	case !isCell(p):
		name = fmt.Sprint(our, name, len(p.Path()))
	}
	t.needs[name] = p.Path()
	return name
}

func isCell(p *types.Package) bool { return p != nil && strings.HasPrefix(p.Path(), wire.CellPath) }

// refer writes names that cells have declared as the translation must.
func (t *translation) refer(n ast.Node) bool {
	id, ok := n.(*ast.Ident)
	if !ok {
		return true
	}
	o := cmp.Or(t.info.Defs[id], t.info.Uses[id])
	if text, ok := t.ours[o]; ok {
		id.Name = text
	} else if before, ok := strings.CutPrefix(id.Name, our); ok && o != nil {
		id.Name = t.nameOf(t.nb.symbols[before].obj)
	} else if o != nil && isCell(o.Pkg()) && o.Parent() == o.Pkg().Scope() {
		if t.inFunc {
			t.cell.inFuncs = append(t.cell.inFuncs, id.Name)
		}
		id.Name = t.nameOf(o)
	}
	return true
}

// place puts a part into the package. Definitions become assignments. A function without type parameters is the value of a
// variable, so that functions that call it see the new one when it is declared again.
func (t *translation) place(p part) {
	switch n := p.node.(type) {
	case *ast.FuncDecl:
		t.outside = append(t.outside, n)
		if o := t.info.Defs[n.Name]; n.Recv == nil && n.Type.TypeParams == nil && p.name != "_" {
			n.Name = ast.NewIdent(our + p.name)
			t.begin = append(t.begin, t.nameOf(o)+" = "+n.Name.Name)
			if one := call(t.nameOf(o)); strings.HasPrefix(p.name, "init_") { // which GoNB runs before each cell
				t.run(&ast.ExprStmt{X: one}, true)
			} else if p.name == "init" {
				t.run(&ast.ExprStmt{X: one}, false)
			}
		}
	case *ast.GenDecl:
		switch n.Tok {
		case token.VAR:
			t.run(assignment(n), false)
		case token.CONST, token.TYPE:
			t.outside = append(t.outside, n)
		}
	case *ast.ExprStmt:
		c, _ := n.X.(*ast.CallExpr)
		t.run(n, c != nil && registers(c))
	case ast.Stmt:
		t.run(n, false)
	}
}

// run adds a statement to what the cell runs, and perhaps to what makes parts of the program known.
func (t *translation) run(s ast.Stmt, enters bool) {
	t.body = append(t.body, checkpoint(), s)
	if enters {
		t.enters = append(t.enters, s)
	}
}

// registers says whether a call is that of a function Register….
func registers(c *ast.CallExpr) bool {
	f, ok := c.Fun.(*ast.SelectorExpr)
	return ok && strings.HasPrefix(f.Sel.Name, "Register")
}

// assignment gives variables that were declared their values.
func assignment(d *ast.GenDecl) ast.Stmt {
	s := d.Specs[0].(*ast.ValueSpec)
	set := &ast.AssignStmt{Tok: token.ASSIGN, TokPos: s.Pos(), Rhs: s.Values}
	for _, id := range s.Names {
		set.Lhs = append(set.Lhs, id)
		if len(s.Values) == 0 {
			set.Rhs = append(set.Rhs, &ast.StarExpr{X: call("new", s.Type)})
		}
	}
	if !slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name != "_" }) {
		return &ast.DeclStmt{Decl: d} // the value may need the type
	}
	return set
}

// declare declares a variable that is new, or that of a function, for later cells and for the inspector.
func (t *translation) declare(name string, o types.Object) {
	v, isVar := o.(*types.Var)
	f, isFunc := o.(*types.Func)
	if o.Pkg() != t.pkg || !isVar && (!isFunc || f.Signature().TypeParams().Len() > 0) {
		return
	}
	fmt.Fprintf(&t.vars, "var %s %s\n", name, t.typeText(o.Type()))
	if isVar {
		t.begin = append(t.begin, fmt.Sprintf("%s.Declare(%q, &%s)", runtimeName, Plain(v.Name()), name))
	}
}

// unnameable is a name that is not exported by its package.
var unnameable = regexp.MustCompile(`[\pL\d_]\.[\p{Ll}_]`)

// typeText writes a type as the translation must.
func (t *translation) typeText(typ types.Type) string {
	text := types.TypeString(typ, t.qualifier)
	if unnameable.MatchString(text) {
		t.failed = fmt.Errorf("a variable of the type %s cannot outlive its cell, since only its package can name that type: give the variable an interface for its type, or put the statement into a function", Plain(types.TypeString(typ, nil)))
	}
	if strings.Contains(text, "unsafe.Pointer") {
		t.needs["unsafe"] = "unsafe"
	}
	return text
}

// importLines are the imports that the translation needs.
func (t *translation) importLines() (lines string) {
	used := maps.Clone(t.needs)
	dotted := map[string]bool{}
	find := func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := t.info.Uses[id]
		if p, ok := o.(*types.PkgName); ok {
			used[p.Name()] = p.Imported().Path()
		} else if o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			dotted[o.Pkg().Path()] = true
		}
		return true
	}
	for _, d := range t.outside {
		ast.Inspect(d, find)
	}
	for _, s := range t.body {
		ast.Inspect(s, find)
	}
	for name, path := range t.imports {
		if strings.HasPrefix(name, "_ ") || strings.HasPrefix(name, ". ") && dotted[path] {
			used[name] = path
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		short, _, _ := strings.Cut(name, " ")
		lines += fmt.Sprintf("import %s %q; ", short, used[name])
	}
	return lines
}

// origin is a hash of the cell with what it uses of others, by which results are named.
func (t *translation) origin() string {
	h := sha256.New()
	for _, p := range t.parts {
		h.Write([]byte(p.text + "\n"))
	}
	from := map[string]bool{}
	for _, o := range t.info.Uses {
		name := strings.TrimPrefix(o.Name(), our) // m := f(m) uses the m of before
		if s, ok := t.nb.symbols[name]; ok && (s.obj == o || name != o.Name()) {
			from[s.from] = true
		}
	}
	fmt.Fprint(h, slices.Sorted(maps.Keys(from)))
	origin := fmt.Sprintf("%x", h.Sum(nil)[:8])
	for name, s := range t.cell.symbols {
		s.from = origin
		t.cell.symbols[name] = s
	}
	return origin
}
