package cell

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16] }

// verify checks the text of a package against all that processes may have loaded. The dynamic
// linker merges types that have the same symbol. A type that differs from the loaded one of its
// symbol would read memory laid out for the other, so such a package must not be loaded. verify
// looks at the generated text alone, so that it also finds faults of the translation. The caller
// notes what it returns when the package is loaded.
func (nb *Notebook) verify(text string) (found map[string]string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, 0)
	if err != nil {
		return nil, err
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nb.importer, Error: func(e error) {
		if err == nil && !strings.Contains(e.Error(), "initialization cycle") {
			err = fmt.Errorf("the translation of this cell is wrong, please report it: %w", e)
		}
	}}
	types.NewChecker(&conf, fset, types.NewPackage(Path, "main"), info).Files([]*ast.File{f})
	if err != nil {
		return nil, err
	}
	found = map[string]string{}
	locals := 0
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.TypeSpec)
		if !ok || s.Assign.IsValid() {
			return true
		}
		o := info.Defs[s.Name].(*types.TypeName)
		symbol, text := o.Name(), describe(o.Type())
		if o.Parent() != o.Pkg().Scope() {
			locals++ // a local type: the compiler numbers them in their order
			symbol = fmt.Sprintf("%s·%d", symbol, locals)
		}
		found[symbol] = hash(text)
		if before := nb.noted[symbol]; before != "" && before != found[symbol] && err == nil {
			err = fmt.Errorf("this cell is not run, since its type %s is not the one that the process has: restart the "+
				"kernel, and please report it", symbol)
		}
		return true
	})
	return found, err
}

// describe returns what defines a type: its underlying type, methods and constraints. Types in it
// appear by name only; they have entries of their own.
func describe(t types.Type) string {
	named := t.(*types.Named)
	list := []string{types.TypeString(named.Underlying(), nil)}
	for m := range named.Methods() {
		list = append(list, types.ObjectString(m, nil))
	}
	for p := range named.TypeParams().TypeParams() {
		list = append(list, types.TypeString(p.Constraint(), nil))
	}
	slices.Sort(list[1:])
	return strings.Join(list, "\n")
}
