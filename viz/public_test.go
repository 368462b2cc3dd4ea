package viz_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// core are the files that figures are made with, and plain.go has what depends on no type of the
// package. All other files hold figures.
var core = []string{
	"axis.go", "bars.go", "colors.go", "columns.go", "compose.go", "curve.go", "doc.go", "dot.go", "drawing.go",
	"figure.go",
	"frames.go", "labels.go", "markup.go", "matrix.go", "names.go", "outline.go", "pen.go", "plot.go", "plotter.go",
	"sheet.go", "style.go", "svgpath.go", "table.go", "ticks.go", "titles.go",
}

// hidden are the unexported names of some files: those of the package, and those of fields and
// methods.
type hidden struct{ declared, members, types map[string]bool }

func hiddenIn(files map[string]*ast.File, of func(name string) bool) hidden {
	h := hidden{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	add := func(to map[string]bool, ids ...*ast.Ident) {
		for _, id := range ids {
			to[id.Name] = to[id.Name] || !id.IsExported()
		}
	}
	for name, f := range files {
		if !of(name) {
			continue
		}
		for id := range f.Scope.Objects {
			add(h.declared, ast.NewIdent(id))
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					add(h.members, n.Name)
				}
			case *ast.TypeSpec:
				h.types[n.Name.Name] = true
			case *ast.StructType:
				for _, field := range n.Fields.List {
					add(h.members, field.Names...)
				}
			}
			return true
		})
	}
	return h
}

// TestFiguresArePublic: the package's figures are made with exported names alone, so that other
// packages can do what they do.
func TestFiguresArePublic(t *testing.T) {
	files := map[string]*ast.File{}
	for _, path := range must.Get(filepath.Glob("*.go"))(t) {
		if !strings.HasSuffix(path, "_test.go") {
			files[path] = must.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
		}
	}
	isCore := func(name string) bool { return slices.Contains(core, name) }
	isFigure := func(name string) bool { return !isCore(name) && name != "plain.go" }
	for _, name := range core {
		t.Run(name, func(t *testing.T) {
			if files[name] == nil {
				t.Errorf("there is no %s", name)
			}
		})
	}
	ours, theirs := hiddenIn(files, isCore), hiddenIn(files, isFigure)
	for name, f := range files {
		t.Run(name, func(t *testing.T) {
			if isCore(name) {
				return
			}
			for _, id := range f.Unresolved {
				if ours.declared[id.Name] || name == "plain.go" && theirs.declared[id.Name] {
					t.Errorf("%s uses %s, which no other package can", name, id.Name)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if ours.members[n.Sel.Name] && !theirs.members[n.Sel.Name] {
						t.Errorf("%s uses the field or method %s, which no other package can", name, n.Sel.Name)
					}
				case *ast.FuncDecl:
					if n.Recv != nil && ours.types[receiver(n)] {
						t.Errorf("%s declares a method %s of %s, which no other package can", name, n.Name, receiver(n))
					}
				}
				return true
			})
		})
	}
	if len(files)-len(core) < 10 {
		t.Fatalf("only %d files, of which %d are the core", len(files), len(core))
	}
}

func receiver(f *ast.FuncDecl) string {
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	id, _ := kind.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}
