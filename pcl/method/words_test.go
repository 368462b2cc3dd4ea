package method_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestWordsAreTheirChoices: a type of words has a constant for each choice of the parameters that
// have it, and no other.
func TestWordsAreTheirChoices(t *testing.T) {
	for _, dir := range []string{".", "../rehearsal"} {
		t.Run(dir, func(t *testing.T) {
			constants, choices := map[string][]string{}, map[string][]string{}
			for _, file := range must.Get(filepath.Glob(dir + "/*.go"))(t) {
				ast.Inspect(must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t),
					func(n ast.Node) bool {
						switch n := n.(type) {
						case *ast.ValueSpec:
							if of, named := n.Type.(*ast.Ident); named && len(n.Values) == 1 {
								if text, isText := n.Values[0].(*ast.BasicLit); isText && text.Kind == token.STRING {
									constants[of.Name] = append(constants[of.Name], must.Get(strconv.Unquote(text.Value))(t))
								}
							}
						case *ast.Field:
							if of, named := n.Type.(*ast.Ident); named && of.IsExported() && n.Tag != nil {
								tag := reflect.StructTag(must.Get(strconv.Unquote(n.Tag.Value))(t))
								if list := tag.Get("choices"); list != "" {
									choices[of.Name] = append(choices[of.Name], strings.Split(list, ",")...)
								}
							}
						}
						return true
					})
			}
			if len(choices) < 3 {
				t.Fatalf("%s has the choices %v", dir, choices)
			}
			for name, list := range choices {
				slices.Sort(list)
				slices.Sort(constants[name])
				if list = slices.Compact(list); !slices.Equal(list, constants[name]) {
					t.Errorf("%s has the constants %q, and fields of it the choices %q", name, constants[name], list)
				}
			}
		})
	}
}
