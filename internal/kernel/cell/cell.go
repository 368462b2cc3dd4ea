// Package cell translates the cells of a notebook into Go packages. A later cell imports the packages of earlier ones, so
// that all share their variables and types. Nothing here builds or runs a program. Begin with [Read] and [Notebook].
package cell

import (
	"cmp"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
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
	symbols  map[string]symbol   // by name; imports without one by _ or a dot and their paths
	inFuncs  map[string]bool     // names that functions mention
	last     int                 // the ID of the last cell
}

// symbol is something that a cell has declared or imported.
type symbol struct {
	cell  int
	obj   types.Object
	from  string // the hash of what it is made of
	parts []part // a type and its methods, which come again with each change of one of them
}

// New returns a notebook without cells, for a toolchain in root.
func New(packages []Package, root string) *Notebook {
	nb := &Notebook{root: root, fset: token.NewFileSet(), exports: map[string]string{}, byName: map[string][]string{},
		symbols: map[string]symbol{}, inFuncs: map[string]bool{}}
	nb.importer = importer.ForCompiler(nb.fset, "gc", func(p string) (io.ReadCloser, error) {
		return os.Open(nb.exports[p])
	})
	nb.Add(packages)
	return nb
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

// Importable says whether a cell can import a package by itself.
func Importable(p string) bool {
	elements := strings.Split(p, "/")
	return !slices.Contains(elements, "internal") && !slices.Contains(elements, "vendor") && !strings.HasPrefix(p, rt.CellPath)
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

// packageFor returns the package that a name before dots means, of which a cell uses some names, or nil. A name that an earlier
// cell has declared means a package only if what it stands for has nothing of these names.
func (nb *Notebook) packageFor(name string, used []string) (first *types.Package) {
	s, declared := nb.symbols[exported(name)]
	has := func(use string) bool {
		found, _, _ := types.LookupFieldOrMethod(s.obj.Type(), true, s.obj.Pkg(), use)
		return found != nil
	}
	if declared && (kindOf(s.obj) == "package" || len(used) == 0 || slices.ContainsFunc(used, has)) {
		return nil
	}
	for _, path := range nb.byName[name] {
		p, err := nb.importer.Import(path)
		misses := func(use string) bool { return p.Scope().Lookup(use) == nil }
		if err == nil && !slices.ContainsFunc(used, misses) {
			return p
		}
		if !declared {
			first = cmp.Or(first, p)
		}
	}
	return first
}

// Names lists what cells have declared of some kinds: const, type, var, func, or package.
func (nb *Notebook) Names(kinds ...string) (list []rt.Variable) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	for _, kind := range kinds {
		for _, name := range slices.Sorted(maps.Keys(nb.symbols)) {
			if o := nb.symbols[name].obj; kindOf(o) == kind {
				list = append(list, rt.Variable{Name: Plain(o.Name()), Type: typeName(o)})
			}
		}
	}
	return list
}

// typeName is a type as the user reads it, or the path of a package.
func typeName(o types.Object) string {
	if p, ok := o.(*types.PkgName); ok {
		return p.Imported().Path()
	}
	return Plain(types.TypeString(o.Type(), (*types.Package).Name))
}

// kindOf is what something is: the word that begins its declaration.
func kindOf(o types.Object) string {
	kind, _, _ := strings.Cut(types.ObjectString(o, nil), " ")
	return kind
}

// Commit makes what a cell declares known to later cells.
func (nb *Notebook) Commit(c *Cell) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	maps.Copy(nb.symbols, c.symbols)
	maps.Copy(nb.inFuncs, c.inFuncs)
}

// Forget removes names, so that later cells don't see them.
func (nb *Notebook) Forget(names ...string) (missing []string) {
	nb.mu.Lock()
	defer nb.mu.Unlock()
	for _, plain := range names {
		if _, ok := nb.symbols[exported(plain)]; !ok {
			missing = append(missing, plain)
		}
		delete(nb.symbols, exported(plain))
	}
	return missing
}

// Names of ours in translated cells. The first makes a name exported, so that later cells see it; programs print it, and
// [Plain] takes it away again. The second begins names that no cell can have.
const (
	up  = "Ʇ"
	our = "ʇ"
)

var added = regexp.MustCompile(up + `|` + our + `(\d+\.)?`)

// Plain returns a program's text without what translation adds to names.
func Plain(text string) string { return added.ReplaceAllString(text, "") }

func exported(name string) string {
	if token.IsExported(name) || name == "_" || name == "." || strings.HasPrefix(name, our) {
		return name
	}
	return up + name
}

// hiddenTag keeps a field that is exported only by translation out of JSON.
const hiddenTag = "`json:\"-\"`"

// isGo says whether a name is one of Go's own, which the translation leaves as it is. It is not if the cell or the notebook
// declares it, and what is in reach of neither is a field or a method, but for constants as keys.
func (c *Cell) isGo(id *ast.Ident) bool {
	name := exported(id.Name)
	_, before := c.nb.symbols[name]
	unbound := id.Obj == free || id.Obj == nil && slices.Contains([]string{"true", "false", "nil", "iota"}, id.Name)
	return unbound && types.Universe.Lookup(id.Name) != nil && !before && !c.top[name]
}
