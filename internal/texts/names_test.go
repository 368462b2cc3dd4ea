package texts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// code is what the repository's Go files declare and import.
type code struct {
	packages map[string]bool            // names of packages
	declared map[string]bool            // identifiers, also fields, methods, package.identifier, and Type.member
	members  map[string]bool            // types that have members
	imports  map[string]map[string]bool // our packages that a folder's code without tests imports
}

func parsed(t *testing.T) code {
	t.Helper()
	c := code{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}}
	for _, p := range sources(t) {
		if path.Ext(p) != ".go" || strings.Contains(p, "testdata/") {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(root, p), nil, parser.SkipObjectResolution))(t)
		c.addNames(f)
		if !strings.HasSuffix(p, "_test.go") {
			c.addImports(t, path.Dir(p), f)
		}
	}
	return c
}

func (c code) addNames(f *ast.File) {
	c.packages[f.Name.Name] = true
	ast.Inspect(f, func(n ast.Node) bool {
		var names []*ast.Ident
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = []*ast.Ident{n.Name}
			if n.Recv != nil {
				c.addMembers(baseName(n.Recv.List[0].Type), n.Name)
			}
		case *ast.TypeSpec:
			names = []*ast.Ident{n.Name}
			for _, field := range fieldsOf(n.Type) {
				c.addMembers(n.Name.Name, field.Names...)
			}
		case *ast.ValueSpec:
			names = n.Names
		case *ast.Field:
			names = n.Names
		}
		for _, id := range names {
			c.declared[id.Name] = true
			c.declared[strings.TrimSuffix(f.Name.Name, "_test")+"."+id.Name] = true
		}
		return true
	})
}

// addMembers declares the methods and fields of a type, as in `Plot.Add`.
func (c code) addMembers(of string, names ...*ast.Ident) {
	for _, id := range names {
		c.members[of] = true
		c.declared[of+"."+id.Name] = true
	}
}

// baseName is the name of a receiver's type.
func baseName(kind ast.Expr) string {
	switch kind := kind.(type) {
	case *ast.StarExpr:
		return baseName(kind.X)
	case *ast.IndexExpr:
		return baseName(kind.X)
	case *ast.IndexListExpr:
		return baseName(kind.X)
	case *ast.Ident:
		return kind.Name
	}
	return ""
}

// fieldsOf are the fields of a struct, or the methods of an interface.
func fieldsOf(kind ast.Expr) []*ast.Field {
	switch kind := kind.(type) {
	case *ast.StructType:
		return kind.Fields.List
	case *ast.InterfaceType:
		return kind.Methods.List
	}
	return nil
}

func (c code) addImports(t *testing.T, dir string, f *ast.File) {
	if c.imports[dir] == nil {
		c.imports[dir] = map[string]bool{}
	}
	for _, i := range f.Imports {
		if own, ours := strings.CutPrefix(must.Get(strconv.Unquote(i.Path.Value))(t), module); ours {
			c.imports[dir][own] = true
		}
	}
}

var (
	inBackticks = regexp.MustCompile("`([^`\n]+)`")
	identifier  = regexp.MustCompile(`^&?(?:([A-Za-z]\w*)\.)?([A-Za-z]\w*)(?:[({].*)?$`)
)

// notOurs are words in backticks that are programs, variables of the environment, keys or
// placeholders.
var notOurs = []string{"perf", "recover", "ExampleXxx", "PARALLELCL_DATA"}

// has says whether a name, perhaps behind that of its package or of its type, is declared.
func (c code) has(qualifier, name string) bool {
	if c.packages[qualifier] || ast.IsExported(qualifier) && c.members[qualifier] {
		return c.declared[qualifier+"."+name]
	}
	return c.declared[name]
}

// TestContributingNamesCode: each identifier that CONTRIBUTING has in backticks is declared
// somewhere, and each folder is there (see TestNamedFilesExist).
func TestContributingNamesCode(t *testing.T) {
	c, text, paths := parsed(t), read(t, "CONTRIBUTING.md"), sources(t)
	seen := 0
	for _, m := range inBackticks.FindAllStringSubmatch(text, -1) {
		name := identifier.FindStringSubmatch(m[1])
		if name == nil || slices.Contains(notOurs, name[2]) || contains(paths, m[1]) || folder(paths, m[1]) {
			continue
		}
		if seen++; !c.has(name[1], name[2]) {
			t.Errorf("CONTRIBUTING.md names %s, which no code declares", m[1])
		}
	}
	if seen < 30 {
		t.Fatalf("only %d names were found", seen)
	}
}

// TestContributingTable: the packages in CONTRIBUTING's table are there, and those in its last
// column are imported.
func TestContributingTable(t *testing.T) {
	c, rows := parsed(t), 0
	for _, line := range strings.Split(read(t, "CONTRIBUTING.md"), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		rows++
		var dirs []string
		for _, m := range inBackticks.FindAllStringSubmatch(cells[1], -1) {
			dirs = append(dirs, beside(dirs, strings.TrimSuffix(m[1], "/")))
			if len(c.imports[dirs[len(dirs)-1]]) == 0 && !folder(sources(t), dirs[len(dirs)-1]) {
				t.Errorf("CONTRIBUTING.md's table has a package %s, which is not there", m[1])
			}
		}
		for _, m := range inBackticks.FindAllStringSubmatch(cells[3], -1) {
			name := strings.TrimSuffix(m[1], "/…")
			imported := slices.ContainsFunc(dirs, func(dir string) bool { return c.importsFrom(dir, name) })
			if !imported {
				t.Errorf("CONTRIBUTING.md's table says that %v imports %s, which it does not", dirs, m[1])
			}
		}
	}
	if rows < 20 {
		t.Fatalf("only %d rows were found", rows)
	}
}

// beside is the path of a package that a row names in short, as `internal/jsonin`, `csvcell`.
func beside(before []string, name string) string {
	if len(before) > 0 && !strings.Contains(name, "/") && strings.Contains(before[0], "/") {
		return path.Join(path.Dir(before[0]), name)
	}
	return name
}

// importsFrom says whether code in a folder, or below it, imports a package, which may be named by
// the end of its path.
func (c code) importsFrom(dir, name string) bool {
	for from, list := range c.imports {
		if from != dir && !strings.HasPrefix(from, dir+"/") {
			continue
		}
		for p := range list {
			if p == name || strings.HasSuffix(p, "/"+name) || strings.HasPrefix(p, name+"/") {
				return true
			}
		}
	}
	return false
}
