package texts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// severalDoors are packages with more than one door.
var severalDoors = []string{"viz/nb", "viz/report"}

// TestDoors: a panic of code of others becomes an error only at the doors that CONTRIBUTING lists,
// one in each package.
func TestDoors(t *testing.T) {
	_, list, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## Errors\n")
	list, _, _ = strings.Cut(list, "\n## ")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+\\.go)`").FindAllStringSubmatch(list, -1) {
		listed = append(listed, m[1])
	}
	var found []string
	for _, p := range sources(t) {
		if path.Ext(p) == ".go" && !strings.HasSuffix(p, "_test.go") && !strings.Contains(p, "testdata/") && recovers(t, p) {
			found = append(found, p)
		}
	}
	packages := map[string]int{}
	for _, p := range found {
		packages[path.Dir(p)]++
		if !slices.Contains(listed, p) && !slices.Contains(severalDoors, path.Dir(p)) {
			t.Errorf("%s calls recover: return errors, or list it as a door in CONTRIBUTING, \"Errors\"", p)
		}
	}
	for dir, n := range packages {
		if n > 1 && !slices.Contains(severalDoors, dir) {
			t.Errorf("package %s has %d doors; want one", dir, n)
		}
	}
	for _, p := range listed {
		if !slices.Contains(found, p) {
			t.Errorf("CONTRIBUTING lists %s as a door, which does not call recover", p)
		}
	}
}

func recovers(t *testing.T, file string) (found bool) {
	f := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution))(t)
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name, ok := call.Fun.(*ast.Ident)
			found = found || ok && name.Name == "recover"
		}
		return !found
	})
	return found
}
