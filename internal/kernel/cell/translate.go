package cell

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// Run is the function of a cell's package that runs the cell, or, if it is to replay, declares what the cell declares and
// registers what it registers, without its other statements.
const Run = up + our + "run"

// program is the text of a cell's package.
const program = `package cell; %s
%s
//line ʇcell:1
%s
func Ʇʇrun(replay bool) {
	ʇrt.Enter(%d, %q, map[string]any{%s})
	%s
	if replay {
		%s
		return
	}
	%s
}
`

// runtime is the package that translated cells call, by a name of ours.
const (
	runtime     = "github.com/parallelcl/parallelcl/internal/kernel/rt"
	runtimeName = our + "rt"
)

// Path is the import path of a cell's package.
func Path(id int) string { return fmt.Sprint(rt.CellPath, id) }

// Translate makes a package of the Go code of a cell. The names that it declares are known to later cells after
// [Notebook.Commit].
func (nb *Notebook) Translate(s Source) (*Cell, error) {
	defer nb.lock()()
	c, err := nb.understand(s, true)
	if err != nil {
		if without, wrong := nb.understand(s, false); wrong == nil {
			c, err = without, nil
		}
	}
	if err == nil {
		nb.last++
		c.translate()
	}
	return c, err
}

func (c *Cell) translate() {
	origin := c.origin()
	c.settle(origin)
	c.guardLeaving()
	for _, p := range c.parts {
		c.put(p)
	}
	if main := c.pkg.Scope().Lookup(up + "main"); c.top[up+"main"] {
		c.run(calls(c.nameOf(main)), false)
	}
	vars, pointers := "", ""
	for _, name := range slices.Sorted(maps.Keys(c.symbols)) {
		switch o := c.symbols[name].obj; {
		case o.Name() == "_": // a package that is imported for what it does
			path := o.(*types.PkgName).Imported().Path()
			c.needs[path] = cmp.Or(c.needs[path], "_")
		case o.Pkg() == c.pkg && isStored(o): // a variable that is new, or that of a function
			vars += fmt.Sprintf("var %s %s\n", name, types.TypeString(o.Type(), c.qualifier))
			if kindOf(o) == "var" {
				pointers += fmt.Sprintf("%q: &%s, ", Plain(name), name)
			}
		}
	}
	imports := ""
	for _, path := range slices.Sorted(maps.Keys(c.needs)) {
		imports += fmt.Sprintf("import %s %q; ", c.needs[path], path)
	}
	c.Text = fmt.Sprintf(program, imports, c.print(c.outside), vars, c.ID, origin, pointers, strings.Join(c.begin, "\n"),
		c.print(c.enters), c.print(c.body))
}

// print writes syntax with the lines of the cells.
func (c *Cell) print(syntax any) string {
	var b strings.Builder
	config := printer.Config{Mode: printer.RawFormat | printer.SourcePos}
	config.Fprint(&b, c.fset, syntax) // fails only where writing does
	return b.String()
}

// settle finds which of the cell's names are variables and functions of before, with the same type: they stay, and get a new
// value. Others are new, and what was compiled before keeps the old ones.
func (c *Cell) settle(origin string) {
	for name := range c.top {
		obj, old := c.pkg.Scope().Lookup(name), c.nb.symbols[name]
		s := symbol{cell: c.ID, obj: obj, from: origin}
		switch {
		case obj == nil: // a blank
			continue
		case old.obj == nil:
		case types.Identical(old.obj.Type(), obj.Type()) && kindOf(old.obj) == kindOf(obj) && isStored(obj):
			c.same[obj] = old.obj
			s.cell, s.obj = old.cell, old.obj
		case kindOf(obj) == "type":
			c.Notes = append(c.Notes, Plain(name)+" is a new type: values made before keep the old one.")
		case c.nb.inFuncs[name]:
			c.Notes = append(c.Notes, Plain(name)+" is a new one: functions of earlier cells still use the old one.")
		}
		s.parts = slices.DeleteFunc(slices.Clone(c.parts), func(p part) bool { return exported(p.of) != name })
		c.symbols[name] = s
	}
	slices.Sort(c.Notes)
}

// isStored says whether something is the value of a variable. Functions without type parameters are, so that functions that
// call one see the new one when it is declared again.
func isStored(o types.Object) bool {
	f, ok := o.(*types.Func)
	return kindOf(o) == "var" || ok && f.Signature().TypeParams().Len() == 0
}

// nameOf is how the translation mentions something of a package.
func (c *Cell) nameOf(o types.Object) string {
	if old, ok := c.same[o]; ok {
		o = old
	}
	if o.Pkg() == c.pkg {
		return o.Name()
	}
	return c.qualifier(o.Pkg()) + "." + o.Name()
}

// qualifier is how the translation mentions a package, whatever the cell calls it.
func (c *Cell) qualifier(p *types.Package) string {
	if p == c.pkg {
		return ""
	}
	if c.needs[p.Path()] == "" {
		c.needs[p.Path()] = fmt.Sprint(our, len(c.needs))
	}
	return c.needs[p.Path()]
}

// put puts a part into the package.
func (c *Cell) put(p part) {
	switch n := p.node.(type) {
	case *ast.ExprStmt:
		enters := registers.MatchString(types.ExprString(n.X))
		if n == c.last {
			c.show(n)
		}
		c.run(n, enters)
	case ast.Stmt:
		c.run(n, false)
	case *ast.GenDecl:
		if n.Tok == token.VAR {
			c.run(assignment(n), false)
		} else {
			c.declare(n, false)
		}
	case *ast.FuncDecl:
		if c.declare(n, true); n.Recv == nil && p.name != "_" && isStored(c.info.Defs[n.Name]) {
			c.store(n, p.name)
		}
	}
}

func (c *Cell) declare(d ast.Decl, isFunc bool) {
	c.inFunc = isFunc
	ast.Inspect(d, c.rewrite)
	c.inFunc = false
	c.outside = append(c.outside, d)
}

// store makes a function of the cell the value of the variable by which it is called.
func (c *Cell) store(f *ast.FuncDecl, name string) {
	variable := f.Name.Name
	f.Name = ast.NewIdent(our + name)
	c.begin = append(c.begin, variable+" = "+f.Name.Name)
	if always := strings.HasPrefix(name, "init_"); always || name == "init" { // GoNB runs those before each cell
		c.run(calls(variable), always)
	}
}

// run adds a statement to what the cell runs, and perhaps to what makes parts of the program known.
func (c *Cell) run(s ast.Stmt, enters bool) {
	ast.Inspect(s, c.rewrite)
	c.body = append(c.body, c.halts("Left"), s)
	if enters {
		c.enters = append(c.enters, s)
	}
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

// origin is a hash of the cell with what it uses of others, by which results are named.
func (c *Cell) origin() string {
	h := sha256.New()
	for _, p := range c.parts {
		fmt.Fprintln(h, p.text)
	}
	from := map[string]bool{}
	for _, o := range c.info.Uses {
		o = cmp.Or(c.same[o], o) // m := f(m) uses the m of before
		if s := c.nb.symbols[o.Name()]; s.obj == o {
			from[s.from] = true
		}
	}
	fmt.Fprint(h, slices.Sorted(maps.Keys(from)))
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
