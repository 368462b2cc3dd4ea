// Package cell translates the cells of a notebook into Go packages. A later cell imports the packages of earlier ones, so
// that all share their variables and types. Nothing here builds or runs a program. Begin with [Read] and [Notebook].
package cell

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// Package is a package that cells can import.
type Package struct {
	Path, Name string
	Export     string // the file with its compiled code
}

// Notebook knows what cells have declared. Its methods may be called side by side. Names of cells are as the translation
// writes them.
type Notebook struct {
	mu       sync.Mutex
	root     string // GOROOT, where the source of the standard library lies
	fset     *token.FileSet
	importer types.Importer
	exports  map[string]string   // from paths of packages to files
	byName   map[string][]string // from names of packages to paths, the best first
	imported map[string]string   // the imports of earlier cells: from names to paths
	symbols  map[string]symbol
	types    map[string][]part // the text of types and their methods, which come again with each change of one of them
	inFuncs  map[string]bool   // names that functions mention
	last     int               // the ID of the last cell
}

// symbol is something that a cell has declared.
type symbol struct {
	cell int
	obj  types.Object
	from string // the hash of what it is made of
}

// Variable is a variable of a notebook.
type Variable struct{ Name, Type string }

// New returns a notebook without cells, for a toolchain in root.
func New(packages []Package, root string) *Notebook {
	nb := &Notebook{root: root}
	nb.Reset(packages)
	return nb
}

// Reset forgets all cells. The packages that can be imported are packages from now on.
func (nb *Notebook) Reset(packages []Package) {
	nb.mu.Lock()
	nb.fset = token.NewFileSet()
	nb.exports, nb.byName, nb.imported = map[string]string{}, map[string][]string{}, map[string]string{}
	nb.symbols, nb.types, nb.inFuncs = map[string]symbol{}, map[string][]part{}, map[string]bool{}
	nb.importer = importer.ForCompiler(nb.fset, "gc", func(p string) (io.ReadCloser, error) {
		return os.Open(nb.exports[p])
	})
	nb.mu.Unlock()
	nb.Add(packages)
}

// Add adds packages that cells can import.
func (nb *Notebook) Add(packages []Package) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	for _, p := range packages {
		if _, ok := nb.exports[p.Path]; !ok && Importable(p.Path) {
			nb.byName[p.Name] = append(nb.byName[p.Name], p.Path)
		}
		nb.exports[p.Path] = p.Export
	}
	for _, list := range nb.byName {
		slices.SortStableFunc(list, func(a, b string) int { return rank(a) - rank(b) })
	}
}

// Warm reads the types of packages, so that no cell has to wait for that.
func (nb *Notebook) Warm(paths ...string) {
	for _, p := range paths {
		nb.mu.Lock()
		nb.importer.Import(p) // if it fails, the cell that uses it says so
		nb.mu.Unlock()
	}
}

// Importable says whether a cell can import a package by itself.
func Importable(p string) bool {
	elements := strings.Split(p, "/")
	return !slices.Contains(elements, "internal") && !slices.Contains(elements, "vendor") && !strings.HasPrefix(p, wire.CellPath)
}

// rank orders packages of one name: the module's, the standard library's, others.
func rank(p string) int {
	switch {
	case strings.HasPrefix(p, "github.com/parallelcl/"):
		return 0
	case p == "crypto/rand" || p == "html/template": // after those that are meant more often
		return 2
	case !strings.Contains(p, "."):
		return 1
	}
	return 3
}

// Missing are packages that a cell imports and the notebook does not have, by the error of its translation; see [Notebook.Add].
func Missing(err error) (paths []string) {
	list, _ := err.(scanner.ErrorList)
	for _, one := range list {
		if p, ok := strings.CutPrefix(one.Msg, noPackage); ok {
			paths = append(paths, p)
		}
	}
	return paths
}

// Variables lists the variables of all cells.
func (nb *Notebook) Variables() (list []Variable) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(nb.symbols)) {
		if v, ok := nb.symbols[name].obj.(*types.Var); ok {
			list = append(list, Variable{Plain(name), typeName(v.Type())})
		}
	}
	return list
}

// typeName is a type as the user reads it.
func typeName(t types.Type) string { return Plain(types.TypeString(t, (*types.Package).Name)) }

// Names lists what cells have declared, by kind: types, functions, constants, variables.
func (nb *Notebook) Names() map[string][]string {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	list := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(nb.symbols)) {
		k := kindOf(nb.symbols[name].obj)
		list[k] = append(list[k], Plain(name))
	}
	for _, name := range slices.Sorted(maps.Keys(nb.imported)) {
		short, _, _ := strings.Cut(Plain(name), " ")
		list["import"] = append(list["import"], fmt.Sprintf("%s %q", short, nb.imported[name]))
	}
	return list
}

// Forget removes names, so that later cells don't see them.
func (nb *Notebook) Forget(names ...string) (missing []string) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	for _, plain := range names {
		name := exported(plain)
		_, symbol := nb.symbols[name]
		_, imported := nb.imported[name]
		if !symbol && !imported {
			missing = append(missing, plain)
		}
		delete(nb.symbols, name)
		delete(nb.types, plain)
		delete(nb.imported, name)
	}
	return missing
}

func kindOf(o types.Object) string {
	switch o.(type) {
	case *types.Var:
		return "variable"
	case *types.Func:
		return "function"
	case *types.TypeName:
		return "type"
	case *types.Const:
		return "constant"
	}
	return "package"
}

// importPath returns the package that a name before dots means, of which a cell uses some names.
func (nb *Notebook) importPath(name string, uses map[string]bool) (string, bool) {
	if p, ok := nb.imported[exported(name)]; ok {
		return p, true
	}
	list := nb.byName[name]
	if len(list) == 0 {
		return "", false
	}
	return list[max(0, nb.withNames(list, uses))], true
}

// withNames finds the first of some packages that has all of some names, or -1.
func (nb *Notebook) withNames(paths []string, names map[string]bool) int {
	return slices.IndexFunc(paths, func(p string) bool {
		pkg, err := nb.importer.Import(p)
		for name := range names {
			if err == nil && pkg.Scope().Lookup(name) == nil {
				return false
			}
		}
		return err == nil
	})
}

// meansPackage says whether a name that an earlier cell has declared means a package here: what follows its dots is there,
// and the declared value has nothing of the kind.
func (nb *Notebook) meansPackage(name string, o types.Object, uses map[string]bool) bool {
	for use := range uses {
		if found, _, _ := types.LookupFieldOrMethod(o.Type(), true, o.Pkg(), use); found != nil {
			return false
		}
	}
	return len(uses) > 0 && nb.withNames(nb.byName[name], uses) >= 0
}

// nameOf is the name by which an import is used; those without one have their path with it.
func (nb *Notebook) nameOf(s *ast.ImportSpec, p string) string {
	switch pkg, err := nb.importer.Import(p); {
	case s.Name != nil && (s.Name.Name == "_" || s.Name.Name == "."):
		return s.Name.Name + " " + p
	case s.Name != nil:
		return exported(s.Name.Name)
	case err == nil:
		return exported(pkg.Name())
	}
	return exported(path.Base(p))
}
