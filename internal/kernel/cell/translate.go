package cell

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// Cell is a cell as a Go package. Its function Run runs it.
type Cell struct {
	ID      int
	Text    string
	Imports []string // paths, those of other cells too
	Notes   []string // what the user should know

	checked *checked
	symbols map[string]symbol
}

// Path is the import path of a cell's package.
func Path(id int) string { return fmt.Sprint(wire.CellPath, id) }

// Translate makes a package of the Go code of a cell. Messages call it file, such as In[3]. The names that it declares are
// known to later cells after [Notebook.Commit].
func (nb *Notebook) Translate(file, code string) (*Cell, error) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	parts, err := split(file, code, false)
	if err != nil {
		return nil, err
	}
	var notes []string
	parts, carried := nb.withMethods(parts)
	ch, err := nb.check(file, parts, false)
	if m, ok := err.(Mistakes); ok && len(carried) > 0 && m.outside(file) {
		for _, name := range carried {
			notes = append(notes, fmt.Sprintf("The method %s does not fit the new type and is left out: run its cell again.", name))
		}
		parts = slices.DeleteFunc(parts, func(p part) bool { return p.again && p.on != "" })
		ch, err = nb.check(file, parts, false)
	}
	if err != nil {
		return nil, err
	}
	nb.last++
	t := &translation{checked: ch, id: nb.last, same: map[types.Object]int{}, uses: map[int]bool{}, named: map[string]string{}}
	t.cell = &Cell{ID: nb.last, Notes: notes, checked: ch, symbols: map[string]symbol{}}
	if err := t.translate(); err != nil {
		return nil, err
	}
	return t.cell, nil
}

// outside says whether a mistake is in the text of another cell.
func (m Mistakes) outside(file string) bool {
	return slices.ContainsFunc(m, func(one Mistake) bool { return one.File != file })
}

// Commit makes what a cell declares known to later cells.
func (nb *Notebook) Commit(c *Cell, archive string) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	nb.exports[Path(c.ID)] = archive
	nb.home[c.checked.pkg] = c.ID
	c.checked.findNamesInFuncs()
	for name, p := range c.checked.imports {
		switch {
		case strings.HasPrefix(name, ". "):
			nb.dotted[p] = true
		case !strings.HasPrefix(name, "_ ") && c.checked.own[name]:
			nb.imported[name] = p
			delete(nb.symbols, name)
		}
	}
	for name, s := range c.symbols {
		nb.symbols[name] = s
		delete(nb.imported, name)
		delete(nb.types, name)
	}
	for i := range c.checked.parts {
		c.checked.parts[i].again = false
	}
	for _, p := range c.checked.parts {
		if p.kind == isType {
			nb.types[p.name] = typeText{decl: p, cell: c.ID}
		}
	}
	for _, p := range c.checked.parts {
		if t, ok := nb.types[p.on]; ok && p.kind == isFunc && p.on != "" {
			t.methods = append(t.methods, p)
			nb.types[p.on] = t
		}
	}
}

// ofNotebook says whether something is declared by a cell, and not inside of a function or type.
func (c *checked) ofNotebook(o types.Object) bool {
	return o.Pkg() != nil && o.Pkg().Path() == ourPath && o.Parent() != nil && (o.Parent() == c.pkg.Scope() || o.Pkg() != c.pkg && o.Parent().Parent() == types.Universe)
}

// findNamesInFuncs tells the notebook which of its names functions of the cell mention.
func (c *checked) findNamesInFuncs() {
	for _, d := range c.syntax.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name == our+"run" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && c.info.Uses[id] != nil && c.ofNotebook(c.info.Uses[id]) {
				c.nb.inFuncs[id.Name] = true
			}
			return true
		})
	}
}

// translation makes the text of a package from a cell whose types are known.
type translation struct {
	*checked
	id     int
	cell   *Cell
	same   map[types.Object]int // variables and functions that are those of an earlier cell
	uses   map[int]bool         // cells that this one imports
	named  map[string]string    // packages that types mention: names to paths
	edits  []edit
	after  strings.Builder
	begin  []string // statements with which Run begins
	failed error
}

type edit struct {
	begin, end int
	text       string
}

func (t *translation) translate() error {
	t.findSame()
	t.rename()
	t.guard()
	run := t.statementsOfRun()
	outside := t.outside()
	t.declareVariables()
	if t.failed != nil {
		return t.failed
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n/*line %scell:1*/\n%s", outside, our, t.after.String())
	fmt.Fprintf(&b, "func %sframe(f func()) { f() }\nfunc Declare() {\n%srt.Enter(%d, %q, %sframe)\n", our, our, t.id, t.origin(), our)
	for _, s := range t.begin {
		b.WriteString(s + "\n")
	}
	fmt.Fprintf(&b, "}\nfunc Register() {%s\n}\nfunc Run() {\nDeclare()\n%s\n}\n", t.registers(), run)
	t.cell.Text = "package cell; " + t.importsOf(b.String()) + b.String()
	return nil
}

// findSame finds which of the cell's names are variables and functions of before, with the same type: they stay, and get a
// new value. Others are new, and what was compiled before keeps the old ones.
func (t *translation) findSame() {
	for name := range t.top {
		obj := t.pkg.Scope().Lookup(name)
		if obj == nil || name == "init" || name == "main" {
			continue
		}
		old, before := t.nb.symbols[name]
		switch {
		case before && sameStorage(old.obj, obj):
			t.same[obj] = old.cell
			t.cell.symbols[name] = symbol{cell: old.cell, obj: old.obj}
			continue
		case before && kindOf(obj) == "type":
			t.cell.Notes = append(t.cell.Notes, name+" is a new type: values made before keep the old one.")
		case before && t.nb.inFuncs[name]:
			t.cell.Notes = append(t.cell.Notes, name+" has another type now: functions of earlier cells still use the old one.")
		}
		t.cell.symbols[name] = symbol{cell: t.id, obj: obj}
	}
	slices.Sort(t.cell.Notes)
}

func sameStorage(old, now types.Object) bool {
	if !types.Identical(old.Type(), now.Type()) || kindOf(old) != kindOf(now) {
		return false
	}
	f, isFunc := now.(*types.Func)
	return kindOf(now) == "variable" || isFunc && f.Signature().TypeParams().Len() == 0
}

// cellOf is the cell in which something was declared.
func (t *translation) cellOf(o types.Object) int {
	if id, ok := t.same[o]; ok {
		return id
	}
	if o.Pkg() == t.pkg {
		return t.id
	}
	return t.nb.home[o.Pkg()]
}

// refer is how the translation mentions something that a cell has declared.
func (t *translation) refer(o types.Object) string {
	if id := t.cellOf(o); id != t.id {
		t.uses[id] = true
		return fmt.Sprintf("%s%d.%s", our, id, exported(o.Name()))
	}
	return exported(o.Name())
}

func (t *translation) replace(begin, end token.Pos, text string) {
	t.edits = append(t.edits, edit{t.offset(begin), t.offset(end), text})
}

func (t *translation) insert(at token.Pos, text string) { t.replace(at, at, text) }

// rename writes every name of a cell in the form in which other cells see it.
func (t *translation) rename() {
	ast.Inspect(t.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			t.hideFields(n)
		case *ast.Ident:
			if o := t.info.Defs[n]; o != nil {
				t.renameOne(n, o)
			} else if o := t.info.Uses[n]; o != nil {
				t.renameOne(n, o)
			}
		}
		return true
	})
	for at, name := range t.again { // of which the checker knows only the blank
		t.edits = append(t.edits, edit{at, at + 1, t.refer(t.pkg.Scope().Lookup(name))})
	}
}

func (t *translation) renameOne(id *ast.Ident, o types.Object) {
	if id.Name == "_" {
		return
	}
	if before, ok := t.before[o]; ok {
		t.replace(id.Pos(), id.End(), t.refer(before))
		return
	}
	if text, ok := t.ours[o]; ok {
		t.replace(id.Pos(), id.End(), text)
		return
	}
	if o.Pkg() == nil || o.Pkg().Path() != ourPath {
		return
	}
	v, isVar := o.(*types.Var)
	f, isFunc := o.(*types.Func)
	switch {
	case isVar && v.IsField() && v.Embedded() && types.Universe.Lookup(v.Name()) != nil: // the name of a type of Go's own
	case isVar && v.IsField(), isFunc && f.Signature().Recv() != nil:
		t.replace(id.Pos(), id.End(), exported(id.Name))
	case t.ofNotebook(o):
		if !strings.HasPrefix(id.Name, our) && id.Name != "init" && id.Name != "main" {
			t.replace(id.Pos(), id.End(), t.refer(o))
		}
	}
}

// hiddenTag keeps a field that is exported only by translation out of JSON.
const hiddenTag = "`json:\"-\"`"

func (t *translation) hideFields(s *ast.StructType) {
	for _, f := range s.Fields.List {
		if f.Tag == nil && slices.ContainsFunc(f.Names, isHidden) {
			t.insert(f.End(), " "+hiddenTag)
		}
	}
}

// apply returns a stretch of the checked text with the edits in it.
func (t *translation) apply(begin, end int) string { return apply(t.text, t.edits, begin, end) }

func apply(text string, edits []edit, begin, end int) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.begin-b.begin, a.end-b.end) })
	var b strings.Builder
	at := begin
	for _, e := range edits {
		if at <= e.begin && e.end <= end {
			b.WriteString(text[at:e.begin] + e.text)
			at = e.end
		}
	}
	return b.String() + text[at:end]
}

// statementsOfRun writes the cell's statements, with definitions as assignments, in the order of the cell.
func (t *translation) statementsOfRun() string {
	if last := t.lastExpression(); last != nil {
		t.show(last)
	}
	var b strings.Builder
	ends := ""
	for i, p := range t.parts {
		switch {
		case p.kind == isStmt, p.kind == isDefine:
			fmt.Fprintf(&b, "\n%srt.Check();%s%s", our, p.directive(), t.apply(p.begin, p.end))
		case p.kind == isVar:
			fmt.Fprintf(&b, "\n%srt.Check();%s%s", our, p.directive(), t.assignment(p))
		case p.kind == isFunc && p.on == "" && p.name == "main":
			ends = "\n" + t.nameOf(i) + "()"
		case p.runsAlways(), p.kind == isFunc && p.on == "" && p.name == "init":
			b.WriteString("\n" + t.nameOf(i) + "()")
		}
	}
	return b.String() + ends
}

// runsAlways says whether a part is a function that GoNB runs before each cell.
func (p part) runsAlways() bool {
	return p.kind == isFunc && p.on == "" && strings.HasPrefix(p.name, "init_")
}

// registers are the statements that make parts of the program known: calls of init_… functions, as in GoNB, and of Register….
func (t *translation) registers() string {
	var b strings.Builder
	for i, p := range t.parts {
		called, _, _ := strings.Cut(p.text, "(")
		switch {
		case p.runsAlways():
			b.WriteString("\n" + t.nameOf(i) + "()")
		case p.kind == isStmt && strings.Contains(called, ".Register"):
			b.WriteString("\n" + t.apply(p.begin, p.end))
		}
	}
	return b.String()
}

// nameOf is the name of the function that is a part of the cell.
func (t *translation) nameOf(i int) string { return fmt.Sprint(our, t.parts[i].name, i) }

// assignment gives variables that were declared their values.
func (t *translation) assignment(p part) string {
	var names, zeros []string
	for _, name := range p.names {
		if name != "_" {
			o := t.pkg.Scope().Lookup(name)
			names, zeros = append(names, t.refer(o)), append(zeros, "*new("+t.typeText(o.Type())+")")
		}
	}
	switch {
	case len(names) == 0:
		return "var " + t.apply(p.begin, p.end)
	case p.value > 0:
		return t.apply(p.begin, p.begin+p.at) + " = " + t.apply(p.begin+p.value, p.end)
	}
	return strings.Join(names, ", ") + " = " + strings.Join(zeros, ", ")
}

// outside writes the types, constants and functions of the cell. A function without type parameters is the value of a
// variable, so that functions that call it see the new one when it is declared again.
func (t *translation) outside() string {
	var b strings.Builder
	for i, p := range t.parts {
		switch {
		case p.kind == isType:
			b.WriteString("\ntype " + p.directive() + t.apply(p.begin, p.end))
		case p.kind == isConst, p.kind == isFunc && (p.on != "" || p.generic):
			b.WriteString("\n" + p.directive() + t.apply(p.begin, p.end))
		case p.kind == isFunc:
			at := p.begin + p.at
			b.WriteString("\n" + p.directive() + t.apply(p.begin, at) + t.nameOf(i) + t.apply(at+len(p.name), p.end))
			obj := t.pkg.Scope().Lookup(p.name)
			if obj == nil || p.name == "main" { // init, which has no value
				continue
			}
			if _, ok := t.same[obj]; !ok {
				fmt.Fprintf(&t.after, "var %s %s\n", exported(p.name), t.typeText(obj.Type()))
			}
			t.begin = append(t.begin, t.refer(obj)+" = "+t.nameOf(i))
		}
	}
	return b.String()
}

// declareVariables declares the variables that are new, for later cells and for the inspector.
func (t *translation) declareVariables() {
	for _, name := range slices.Sorted(maps.Keys(t.cell.symbols)) {
		s := t.cell.symbols[name]
		v, ok := s.obj.(*types.Var)
		if !ok || s.cell != t.id {
			continue
		}
		if text := t.typeText(v.Type()); t.failed == nil {
			fmt.Fprintf(&t.after, "var %s %s\n", exported(name), text)
			t.begin = append(t.begin, fmt.Sprintf("%srt.Declare(%q, &%s)", our, name, exported(name)))
		}
	}
}

// importsOf are the imports that the text of the translation needs.
func (t *translation) importsOf(text string) (lines string) {
	all := map[string]string{our + "rt": Runtime}
	maps.Copy(all, t.imports)
	maps.Copy(all, t.named)
	for id := range t.uses {
		all[fmt.Sprint(our, id)] = Path(id)
	}
	f, _ := parser.ParseFile(token.NewFileSet(), "", "package cell; "+text, 0) // if it does not parse, the compiler says why
	used := unresolved(f)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, ok := used[name]; ok || strings.HasPrefix(name, "_ ") || strings.HasPrefix(name, ". ") && t.mentions(all[name]) {
			lines += importLine(name, all[name])
			t.cell.Imports = append(t.cell.Imports, all[name])
		}
	}
	return lines
}

// mentions says whether the cell mentions a name of a package without its name.
func (t *translation) mentions(path string) bool {
	for _, o := range t.info.Uses {
		if o.Pkg() != nil && o.Pkg().Path() == path && o.Parent() == o.Pkg().Scope() {
			return true
		}
	}
	return false
}

// origin is a hash of the cell with what it uses of others, by which results are named.
func (t *translation) origin() string {
	h := sha256.New()
	for _, p := range t.parts {
		h.Write([]byte(p.text + "\n"))
	}
	from := map[string]bool{}
	for _, o := range t.info.Uses {
		if old, ok := t.before[o]; ok { // m := f(m) uses the m of before
			o = old
		}
		if s, ok := t.nb.symbols[o.Name()]; ok && s.obj == o {
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
