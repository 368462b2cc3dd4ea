package origin

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// CellMark stands in the name of a notebook's program before the hash of what its cells register; before it is the module's.
const CellMark = "+cells-"

// cells is what this program knows if it runs the cells of a notebook, which keep adding code to it.
var cells struct {
	sync.Mutex
	source     string                        // a hash of the module's source; empty in other programs
	current    func() (hash string, ok bool) // of the cell to which this goroutine belongs
	registered map[string]string             // hashes by what cells have registered
}

// SetNotebook says that this program runs the cells of a notebook. source is a hash of the module's source; current returns one
// of the cell to which the goroutine belongs that calls it, with all that the cell uses of others.
func SetNotebook(source string, current func() (hash string, ok bool)) {
	cells.Lock()
	defer cells.Unlock()
	cells.source, cells.current, cells.registered = source, current, map[string]string{}
}

// mayRegister says to what registers parts of the program under names whether it may take one. A name that is taken may be
// taken again by a cell of a notebook, if a cell has taken it before: that cell has run again.
func mayRegister(kind, name string, taken bool) bool {
	cells.Lock()
	defer cells.Unlock()
	if cells.source == "" {
		return !taken
	}
	hash, ok := cells.current()
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
	if cells.source == "" {
		return "", false
	}
	name = "source-" + cells.source
	if len(cells.registered) == 0 {
		return name, true
	}
	sum := sha256.New()
	for _, what := range slices.Sorted(maps.Keys(cells.registered)) {
		fmt.Fprintf(sum, "%s %s\n", what, cells.registered[what])
	}
	return fmt.Sprintf("%s%s%x", name, CellMark, sum.Sum(nil)[:6]), true
}
