package kernelhost

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/parallelcl/parallelcl/internal/origin"
)

// cells keeps what the cells of a notebook have registered. It has a cell that runs again replace
// its entries, and names the program, to which cells keep adding code.
type cells struct {
	source  string                        // a hash of the module's source
	current func() (hash string, ok bool) // a hash of the calling goroutine's cell, with all it uses of other cells

	mutex  sync.Mutex
	hashes map[string]string // of the cells, by the kind and the name of an entry
}

// MayTake implements names.Keeper: a cell may take a free name, or one that a cell has taken.
func (c *cells) MayTake(kind, name string, taken bool) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	hash, ok := c.current()
	_, before := c.hashes[kind+" "+name]
	if !ok || taken && !before {
		return !taken
	}
	c.hashes[kind+" "+name] = hash
	return true
}

// program names the program as it is now; see [origin.Program].
func (c *cells) program() (string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	name := "source-" + c.source
	if len(c.hashes) == 0 {
		return name, nil
	}
	sum := sha256.New()
	for _, entry := range slices.Sorted(maps.Keys(c.hashes)) {
		fmt.Fprintf(sum, "%s %s\n", entry, c.hashes[entry])
	}
	return fmt.Sprintf("%s%s%x", name, origin.CellMark, sum.Sum(nil)[:6]), nil
}
