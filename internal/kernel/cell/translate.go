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

	nb      *Notebook
	parts   []part
	syntax  *ast.File
	pkg     *types.Package
	info    *types.Info
	top     map[string]bool               // what the cell declares
	imports map[string]*types.Package     // what it imports, by its names; by the path after one of _ and .
	stands  map[types.Object]string       // what is written for objects of ours
	same    map[types.Object]types.Object // variables and functions that are those of an earlier cell
	again   map[*ast.Ident]string         // what is assigned to again by :=, and is blank for the checker
	symbols map[string]symbol
	inFuncs map[string]bool // names of the notebook that functions mention
	wrong   scanner.ErrorList
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
	c, err := nb.understand(source{file, code}, true)
	if err != nil {
		if without, wrong := nb.understand(source{file, code}, false); wrong == nil {
			c, err = without, nil
		}
	}
	if err != nil {
		return nil, err
	}
	nb.last++
	t := &translation{Cell: c, needs: map[string]string{Runtime: runtimeName}}
	t.translate()
	return c, nil
}

// understand reads and checks code. Methods of types that the code changes come along unless carry is false. What it returns is
// of use also with an error, unless it is nil.
func (nb *Notebook) understand(s source, carry bool) (*Cell, error) {
	f, parts, err := parse(nb.fset, s)
	if f == nil {
		return nil, err
	}
	var left []string
	parts = slices.DeleteFunc(nb.withMethods(parts), func(p part) bool {
		leave := !carry && p.again && p.name != p.of
		if leave {
			left = append(left, fmt.Sprintf("The method %s does not fit the new type and is left out: run its cell again.", p.name))
		}
		return leave
	})
	c, wrong := nb.check(f, parts)
	c.Notes = left
	return c, cmp.Or(err, wrong)
}

// Commit makes what a cell declares known to later cells.
func (nb *Notebook) Commit(c *Cell) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	for name, pkg := range c.imports {
		nb.imported[name] = pkg
		delete(nb.symbols, name)
	}
	for name, s := range c.symbols {
		nb.symbols[name] = s
		delete(nb.imported, name)
		delete(nb.types, Plain(name))
	}
	for _, p := range c.parts {
		if p.of != "" {
			nb.types[p.of] = append(nb.types[p.of], p)
		}
	}
	maps.Copy(nb.inFuncs, c.inFuncs)
}

// translation makes the text of a package from a cell whose types are known.
type translation struct {
	*Cell
	needs   map[string]string // the names of packages that the translation mentions, by path
	outside []ast.Decl        // types, constants and functions
	vars    strings.Builder   // declarations of variables
	begin   []string          // statements that declare the cell
	enters  []ast.Stmt        // those that make parts of the program known
	body    []ast.Stmt        // all
	inFunc  bool              // refer is in a function
}

func (t *translation) translate() {
	t.findSame()
	origin := t.origin()
	t.show(t.lastExpression())
	for i, p := range t.parts {
		if d, ok := p.node.(*ast.GenDecl); ok && d.Tok == token.VAR {
			t.parts[i].node = assignment(d)
		}
	}
	for _, p := range t.parts {
		_, t.inFunc = p.node.(*ast.FuncDecl)
		ast.Inspect(p.node, t.guard)
		ast.Inspect(p.node, t.refer)
	}
	for id, name := range t.again { // of which the checker knows only the blank
		id.Name = t.nameOf(t.pkg.Scope().Lookup(name))
	}
	for _, p := range t.parts {
		t.put(p)
	}
	if t.top[up+"main"] {
		t.run(&ast.ExprStmt{X: call(t.nameOf(t.pkg.Scope().Lookup(up + "main")))}, false)
	}
	for _, name := range slices.Sorted(maps.Keys(t.symbols)) {
		t.declare(name, t.symbols[name].obj)
	}
	text := fmt.Sprintf("\n%s\n//line %scell:1\n%s", t.print(t.outside), our, t.vars.String()) +
		fmt.Sprintf("func %sframe(f func()) { f() }\nfunc Declare() {\n%s.Enter(%d, %q, %sframe)\n", our, runtimeName, t.ID, origin, our) +
		fmt.Sprintf("%s\n}\nfunc Register() {\n%s\n}\nfunc Run() {\nDeclare()\n%s\n}\n", strings.Join(t.begin, "\n"), t.print(t.enters), t.print(t.body))
	t.Text = "package cell; "
	for name, pkg := range t.imports {
		if name[0] == '_' && t.needs[pkg.Path()] == "" {
			t.needs[pkg.Path()] = "_"
		}
	}
	for _, path := range slices.Sorted(maps.Keys(t.needs)) {
		t.Text += fmt.Sprintf("import %s %q; ", t.needs[path], path)
	}
	t.Text += text
}

// print writes syntax with the lines of the cells.
func (t *translation) print(syntax any) string {
	var b strings.Builder
	config := printer.Config{Mode: printer.RawFormat | printer.SourcePos}
	config.Fprint(&b, t.nb.fset, syntax) // fails only where writing does
	return b.String()
}

// findSame finds which of the cell's names are variables and functions of before, with the same type: they stay, and get a
// new value. Others are new, and what was compiled before keeps the old ones.
func (t *translation) findSame() {
	for name := range t.top {
		obj, old := t.pkg.Scope().Lookup(name), t.nb.symbols[name]
		switch {
		case obj == nil: // a blank
			continue
		case old.obj == nil:
		case sameStorage(old.obj, obj):
			t.same[obj] = old.obj
			t.symbols[name] = old
			continue
		case kindOf(obj) == "type":
			t.Notes = append(t.Notes, Plain(name)+" is a new type: values made before keep the old one.")
		case t.nb.inFuncs[name]:
			t.Notes = append(t.Notes, Plain(name)+" has another type now: functions of earlier cells still use the old one.")
		}
		t.symbols[name] = symbol{cell: t.ID, obj: obj}
	}
	slices.Sort(t.Notes)
}

func sameStorage(old, now types.Object) bool {
	return types.Identical(old.Type(), now.Type()) && kindOf(old) == kindOf(now) && isStored(now)
}

// isStored says whether something is the value of a variable. Functions without type parameters are, so that functions that
// call one see the new one when it is declared again.
func isStored(o types.Object) bool {
	f, ok := o.(*types.Func)
	return kindOf(o) == "variable" || ok && f.Signature().TypeParams().Len() == 0
}

// nameOf is how the translation mentions something of a package.
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
	if p == t.pkg {
		return ""
	}
	if t.needs[p.Path()] == "" {
		t.needs[p.Path()] = fmt.Sprint(our, len(t.needs))
	}
	return t.needs[p.Path()]
}

// refer writes names from outside of functions as the translation must.
func (t *translation) refer(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok {
			if p, ok := t.info.Uses[x].(*types.PkgName); ok {
				x.Name = t.qualifier(p.Imported())
				return false
			}
		}
	case *ast.Ident:
		o := cmp.Or(t.info.Defs[n], t.info.Uses[n])
		if text, ok := t.stands[o]; ok {
			n.Name = text
		} else if o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			n.Name = t.nameOf(o)
			if t.inFunc {
				t.inFuncs[o.Name()] = true
			}
		}
	}
	return true
}

// put puts a part into the package.
func (t *translation) put(p part) {
	switch n := p.node.(type) {
	case *ast.FuncDecl:
		t.outside = append(t.outside, n)
		o := t.info.Defs[n.Name]
		if n.Recv != nil || p.name == "_" || !isStored(o) {
			return
		}
		n.Name = ast.NewIdent(our + p.name)
		t.begin = append(t.begin, t.nameOf(o)+" = "+n.Name.Name)
		if always := strings.HasPrefix(p.name, "init_"); always || p.name == "init" { // GoNB runs those before each cell
			t.run(&ast.ExprStmt{X: call(t.nameOf(o))}, always)
		}
	case *ast.GenDecl:
		if n.Tok != token.IMPORT {
			t.outside = append(t.outside, n)
		}
	case ast.Stmt:
		t.run(n, registers.MatchString(p.text))
	}
}

// run adds a statement to what the cell runs, and perhaps to what makes parts of the program known.
func (t *translation) run(s ast.Stmt, enters bool) {
	t.body = append(t.body, checkpoint(), s)
	if enters {
		t.enters = append(t.enters, s)
	}
}

// registers begins a statement that makes a part of the program known.
var registers = regexp.MustCompile(`^[^\s(]+\.Register\w*\(`)

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
	if o.Pkg() != t.pkg || !isStored(o) {
		return
	}
	fmt.Fprintf(&t.vars, "var %s %s\n", name, types.TypeString(o.Type(), t.qualifier))
	if kindOf(o) == "variable" {
		t.begin = append(t.begin, fmt.Sprintf("%s.Declare(%q, &%s)", runtimeName, Plain(name), name))
	}
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
	for name, s := range t.symbols {
		s.from = origin
		t.symbols[name] = s
	}
	return origin
}
