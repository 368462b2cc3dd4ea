// Package cell translates the cells of a notebook into Go. All cells are one package, [Path], of
// which each plugin has the part that its cell needs. Nothing here builds or runs a program. Begin
// with [Read], [Notebook] and the entities of entity.go.
package cell

import (
	"cmp"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// Package is a package that cells can import.
type Package struct {
	Path, Name string
	Export     string // the file with its compiled code
	Dir        string `json:",omitempty"` // the folder with its source, of one that is not compiled so far
}

// Notebook knows what cells have declared. Its methods may be called side by side.
type Notebook struct {
	// Others lists packages that cells could have besides those that were added; it may be nil
	Others func() []Package

	mu       sync.Mutex
	root     string // GOROOT, where the source of the standard library lies
	fset     *token.FileSet
	importer types.Importer
	exports  map[string]string   // from paths of packages to files
	byName   map[string][]string // from names of packages to paths, the best first
	symbols  map[string]symbol   // by name; imports without one by _ or a dot and their paths
	last     int                 // the ID of the last cell

	pkg      *types.Package // of all cells
	entities map[types.Object]*entity
	// variables, functions and methods that have the memory of another, with types of other names
	moved   map[types.Object]types.Object
	ids     map[string]bool   // identifiers of entities that a process may have
	aliases map[string]string // by which packages are imported, by path
	locals  int               // how many types inside functions have a number
	cells   map[int]*Cell
	told    map[string]bool   // types of which the user knows that they were declared again
	noted   map[string]string // what types are, by their symbols; see [Notebook.verify]
	ran     []*ran            // in their order
	changes int               // how often what cells have declared has changed
	losses
}

// symbol is something that a cell has declared or imported.
type symbol struct {
	obj   types.Object
	from  string // the hash of what it is made of
	parts []part // how it was declared: a function, constants, or a type with its methods
}

// New returns a notebook without cells, for a toolchain in root.
func New(packages []Package, root string) *Notebook {
	nb := &Notebook{root: root, fset: token.NewFileSet(), exports: map[string]string{}, byName: map[string][]string{},
		symbols: map[string]symbol{}, pkg: types.NewPackage(Path, "main"), entities: map[types.Object]*entity{},
		moved: map[types.Object]types.Object{}, ids: map[string]bool{}, aliases: map[string]string{},
		cells: map[int]*Cell{}, noted: map[string]string{}, told: map[string]bool{},
		losses: losses{lost: map[string]string{}, given: map[string]string{}, mentions: map[string][]string{},
			sets: map[string][]string{}}}
	nb.importer = importer.ForCompiler(nb.fset, "gc", func(p string) (io.ReadCloser, error) {
		return os.Open(nb.exports[p])
	})
	nb.Add(packages)
	return nb
}

func (nb *Notebook) lock() (unlock func()) { nb.mu.Lock(); return nb.mu.Unlock }

// Add adds packages that cells can import.
func (nb *Notebook) Add(packages []Package) {
	defer nb.lock()()
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
	return !slices.Contains(elements, "internal") && !slices.Contains(elements, "vendor") && p != Path
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

// packageFor returns the package that a name before dots means, of which a cell uses some names, or
// nil. A name that an earlier cell has declared means a package only if what it stands for has
// nothing of these names.
func (nb *Notebook) packageFor(name string, used []string) (first *types.Package) {
	s, declared := nb.symbols[name]
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
	defer nb.lock()()
	for _, kind := range kinds {
		for _, name := range slices.Sorted(maps.Keys(nb.symbols)) {
			if o := nb.symbols[name].obj; kindOf(o) == kind {
				v := rt.Variable{Name: o.Name(), Kind: kind, Type: typeName(o)}
				if c, ok := o.(*types.Const); ok {
					v.Value = c.Val().String()
				}
				list = append(list, v)
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
	return types.TypeString(o.Type(), packageName)
}

// packageName is how a user reads the name of a package. Cells say nothing before the names of
// their own.
func packageName(p *types.Package) string {
	if p.Path() == Path {
		return ""
	}
	return p.Name()
}

// kindOf is what something is: the word that begins its declaration.
func kindOf(o types.Object) string {
	kind, _, _ := strings.Cut(types.ObjectString(o, nil), " ")
	return kind
}

// Commit makes what a cell declares known to later cells. From then on a process may have loaded
// it.
func (nb *Notebook) Commit(c *Cell) {
	defer nb.lock()()
	nb.noteRun(c)
	nb.changes++
	maps.Copy(nb.symbols, c.symbols)
	maps.Copy(nb.noted, c.noted)
	for e, body := range c.bodies {
		e.body = body
	}
	for _, e := range c.made {
		nb.ids[e.id] = true
	}
	nb.locals += c.locals
	for _, name := range c.Gives {
		nb.given[name] = c.parts[0].from.File
	}
}

// Forget removes names, so that later cells don't see them.
func (nb *Notebook) Forget(names ...string) (missing []string) {
	defer nb.lock()()
	nb.changes++
	for _, name := range names {
		if _, ok := nb.symbols[name]; !ok {
			missing = append(missing, name)
		}
		delete(nb.symbols, name)
	}
	return missing
}
