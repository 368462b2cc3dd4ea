//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// origin is what the program of the cell in a folder says that its results are made by; see the package internal/origin,
// whose variable the linker sets to it. It changes with the source of the modules that lie on this machine, and with what the
// notebook's code registers; other cells may change.
func (c *config) origin(dir string) string {
	src, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		return ""
	}
	n, err := parseNotebook(src)
	if err != nil {
		return "" // which the build will say
	}
	out := "source-" + sourceSum(localModules(dir))
	if roots := n.registering(); len(roots) > 0 {
		out += "+cells-" + n.sum(roots...)
	}
	for _, s := range n.stretches() {
		out += fmt.Sprintf(";%d-%d=%s", s.from, s.to, n.sum(s.roots...))
	}
	return out
}

// localModules are the folders by which the go.mod in a folder replaces modules.
func localModules(dir string) (folders []string) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if _, by, ok := strings.Cut(line, "=>"); ok {
			if by = strings.Trim(by, " \t\n\""); filepath.IsAbs(by) {
				folders = append(folders, by)
			}
		}
	}
	return folders
}

// sourceSum is a hash of the Go code in folders, without tests.
func sourceSum(folders []string) string {
	sum := sha256.New()
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			name := filepath.Base(path)
			switch {
			case err != nil:
				return nil
			case d.IsDir() && path != folder && (name == "testdata" || name == "runs" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
				return filepath.SkipDir
			case d.IsDir() || strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" && name != "go.mod":
				return nil
			}
			data, err := os.ReadFile(path)
			fmt.Fprintf(sum, "%s %x %v\n", strings.TrimPrefix(path, folder), sha256.Sum256(data), err != nil)
			return nil
		})
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6])
}

// notebook is all that the cells declare, and the statements of the one that runs.
type notebook struct {
	src    []byte
	set    *token.FileSet
	file   *ast.File
	behind map[string][]ast.Node // the declaration of each name, a type's methods, and what changes a variable
}

func parseNotebook(src []byte) (*notebook, error) {
	n := &notebook{src: src, set: token.NewFileSet(), behind: map[string][]ast.Node{}}
	var err error
	if n.file, err = parser.ParseFile(n.set, "main.go", src, 0); err != nil {
		return nil, err
	}
	for _, d := range n.declarations() {
		for _, name := range append(declared(d), n.changed(d)...) {
			n.behind[name] = append(n.behind[name], d)
		}
	}
	return n, nil
}

// declarations are those of the file, each variable, type and import by itself. Constants stay together: they may count lines.
func (n *notebook) declarations() (list []ast.Node) {
	for _, d := range n.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok != token.CONST {
			for _, s := range g.Specs {
				list = append(list, s)
			}
			continue
		}
		list = append(list, d)
	}
	return list
}

// declared are the names of a declaration; a method's is that of its type.
func declared(d ast.Node) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		ast.Inspect(d.Recv.List[0].Type, func(x ast.Node) bool {
			if id, ok := x.(*ast.Ident); ok && len(names) == 0 {
				names = append(names, id.Name)
			}
			return true
		})
	case *ast.ImportSpec:
		if d.Name != nil {
			return []string{d.Name.Name}
		}
		return []string{assumedName(strings.Trim(d.Path.Value, "\"`"))}
	case *ast.TypeSpec:
		return []string{d.Name.Name}
	case *ast.ValueSpec:
		for _, id := range d.Names {
			names = append(names, id.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			names = append(names, declared(s)...)
		}
	}
	return names
}

// changed are the variables of the notebook that a declaration assigns to or takes the address of.
func (n *notebook) changed(d ast.Node) (names []string) {
	add := func(x ast.Expr) {
		for {
			switch e := x.(type) {
			case *ast.SelectorExpr:
				x = e.X
			case *ast.IndexExpr:
				x = e.X
			case *ast.StarExpr:
				x = e.X
			case *ast.ParenExpr:
				x = e.X
			case *ast.Ident:
				if !n.local(e) {
					names = append(names, e.Name)
				}
				return
			default:
				return
			}
		}
	}
	ast.Inspect(d, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.AssignStmt:
			if x.Tok != token.DEFINE {
				for _, to := range x.Lhs {
					add(to)
				}
			}
		case *ast.IncDecStmt:
			add(x.X)
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				add(x.X)
			}
		}
		return true
	})
	return names
}

// local reports whether a name is declared inside of a function.
func (n *notebook) local(id *ast.Ident) bool {
	return id.Obj != nil && n.file.Scope.Lookup(id.Name) != id.Obj
}

// names calls f with each name that a part of the file uses, apart from those after a dot.
func names(part ast.Node, f func(*ast.Ident)) {
	ast.Inspect(part, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.SelectorExpr:
			names(x.X, f)
			return false
		case *ast.Ident:
			f(x)
		}
		return true
	})
}

// registering are the declarations that make parts known to the module, or that every cell runs first.
func (n *notebook) registering() (roots []ast.Node) {
	for _, d := range n.declarations() {
		f, _ := d.(*ast.FuncDecl)
		registers := f != nil && f.Recv == nil && (f.Name.Name == "init" || strings.HasPrefix(f.Name.Name, "init_"))
		ast.Inspect(d, func(x ast.Node) bool {
			s, ok := x.(*ast.SelectorExpr)
			registers = registers || ok && strings.HasPrefix(s.Sel.Name, "Register")
			return true
		})
		if registers {
			roots = append(roots, d)
		}
	}
	return roots
}

// sum is a hash of parts of the file and of all that they use of it. Spaces and comments do not count.
func (n *notebook) sum(roots ...ast.Node) string {
	seen := map[ast.Node]bool{}
	var texts []string
	for len(roots) > 0 {
		part := roots[0]
		roots = roots[1:]
		if seen[part] {
			continue
		}
		seen[part] = true
		texts = append(texts, n.text(part))
		names(part, func(id *ast.Ident) {
			if !n.local(id) && id.Name != "_" {
				roots = append(roots, n.behind[id.Name]...)
			}
		})
	}
	slices.Sort(texts) // GoNB may put them elsewhere
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(texts, "\n"))))[:12]
}

// text is a part of the file without spaces and comments.
func (n *notebook) text(part ast.Node) string {
	var b strings.Builder
	for _, l := range scan(n.src[n.offset(part.Pos()):n.offset(part.End())]) {
		if l.tok == token.SEMICOLON {
			l.text = ";" // whether written or implied
		}
		fmt.Fprintf(&b, "%s %s\x00", l.tok, l.text)
	}
	return b.String()
}

func (n *notebook) offset(p token.Pos) int { return n.set.Position(p).Offset }
func (n *notebook) line(p token.Pos) int   { return n.set.Position(p).Line }

// stretch is a part of the file in which functions stand, from line to line, and what these are made of.
type stretch struct {
	from, to int
	roots    []ast.Node
}

// stretches are the declarations, and in main each function by itself, since main is another one in each cell.
func (n *notebook) stretches() (list []stretch) {
	for _, d := range n.declarations() {
		if _, ok := d.(*ast.ImportSpec); ok {
			continue
		}
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && f.Name.Name == "main" && f.Body != nil {
			list = append(list, n.literals(f)...)
			continue
		}
		list = append(list, stretch{n.line(d.Pos()), n.line(d.End()), []ast.Node{d}})
	}
	return list
}

// literals are main, in a stretch that is longer than any in it, and the functions in it.
func (n *notebook) literals(main *ast.FuncDecl) []stretch {
	list := []stretch{{0, n.line(main.End()), []ast.Node{main}}}
	ast.Inspect(main.Body, func(x ast.Node) bool {
		if lit, ok := x.(*ast.FuncLit); ok {
			list = append(list, stretch{n.line(lit.Pos()), n.line(lit.End()), n.literal(main, lit)})
		}
		return true
	})
	return list
}

// literal is what a function in main is made of: the function, or, if it uses variables of main, main up to its end.
func (n *notebook) literal(main *ast.FuncDecl, lit *ast.FuncLit) (roots []ast.Node) {
	alone := true
	names(lit, func(id *ast.Ident) {
		if n.local(id) && (id.Obj.Pos() < lit.Pos() || id.Obj.Pos() >= lit.End()) {
			alone = false
		}
	})
	if alone {
		return []ast.Node{lit}
	}
	for _, s := range main.Body.List {
		if s.Pos() < lit.End() {
			roots = append(roots, s)
		}
	}
	return roots
}
