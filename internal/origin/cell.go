package origin

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// CellMark stands in the name of a notebook's program before the hash of what its cells register; before it is the module's.
const CellMark = "+cells-"

// Notebook is what the program knows in which the cells of a notebook run. Cells keep adding code to it.
type Notebook struct {
	Source string                        // a hash of the module's source
	Code   func(function uintptr) string // a hash of the cell that has a function, with what it uses; of others ""
	Cell   func() (hash string, ok bool) // that of the cell to which this goroutine belongs
}

var cells struct {
	sync.Mutex
	notebook   *Notebook
	registered map[string]string // hashes by what cells have registered
}

// SetNotebook says that this program runs the cells of a notebook.
func SetNotebook(n *Notebook) {
	cells.Lock()
	defer cells.Unlock()
	cells.notebook, cells.registered = n, map[string]string{}
}

// MayRegister says to what registers parts of the program under names whether it may take one. A name that is taken may be
// taken again by a cell of a notebook, if a cell has taken it before: that cell has run again.
func MayRegister(kind, name string, taken bool) bool {
	cells.Lock()
	defer cells.Unlock()
	if cells.notebook == nil {
		return !taken
	}
	hash, ok := cells.notebook.Cell()
	_, before := cells.registered[kind+" "+name]
	if !ok || taken && !before {
		return !taken
	}
	cells.registered[kind+" "+name] = hash
	return true
}

// notebookProgram is the name of the program of a notebook as it is now.
func notebookProgram() (name string, ok bool) {
	cells.Lock()
	defer cells.Unlock()
	if cells.notebook == nil {
		return "", false
	}
	name = "source-" + cells.notebook.Source
	if len(cells.registered) == 0 {
		return name, true
	}
	sum := sha256.New()
	for _, what := range slices.Sorted(maps.Keys(cells.registered)) {
		fmt.Fprintf(sum, "%s %s\n", what, cells.registered[what])
	}
	return fmt.Sprintf("%s%s%x", name, CellMark, sum.Sum(nil)[:6]), true
}

// Function returns a hash of what a function without parameters is made of: in a notebook the code of its cell and all that
// this uses of the notebook, and [Program]; of other functions, [Program] alone. It does not know the values of variables.
func Function(f any) (string, error) {
	program, err := Program()
	if err != nil {
		return "", err
	}
	cells.Lock()
	defer cells.Unlock()
	code := ""
	if cells.notebook != nil {
		code = cells.notebook.Code(reflect.ValueOf(f).Pointer())
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(program+code)))[:12], nil
}
