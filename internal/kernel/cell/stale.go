package cell

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// A cell is stale when something that it used was redefined after it ran: a constant, a type, a
// function or method that it called, directly or not; a variable, if the cell that gave it its
// value has other text now; or a variable of a stale cell.

// ran is a cell that has run, in its newest version.
type ran struct {
	source Source
	uses   map[string]bool
	gives  map[string]string // variables, and the text that gives them values
	stale  bool              // and the user was told
}

// Stale are cells that a cell has made stale: Cells used the old Names.
type Stale struct {
	Names []string
	Cells []Source
}

// key is what all versions of a cell have in common: what the front end calls it, or else its text.
func (s Source) key() string {
	if s.Cell != "" {
		return "cell " + s.Cell
	}
	return s.Go
}

// noteRun finds the cells that are stale now, and notes the cell as one that runs.
func (nb *Notebook) noteRun(c *Cell) {
	now := &ran{source: c.source, uses: map[string]bool{}, gives: map[string]string{}}
	for name := range c.used {
		nb.addUses(now.uses, name)
	}
	for _, p := range c.parts {
		if p.carried {
			continue
		}
		for _, name := range append(p.names(), p.name) { // of which this cell has its own, when it runs again
			delete(now.uses, name)
		}
		if _, isFunc := p.node.(*ast.FuncDecl); !isFunc {
			given := map[string]bool{}
			c.uses(p.node, given, func(*ast.Ident, string) {})
			for name := range given {
				now.gives[name] += p.text
			}
		}
	}
	changed := c.redefined()
	i := slices.IndexFunc(nb.ran, func(r *ran) bool { return r.source.key() == now.source.key() })
	if i >= 0 {
		for name, text := range now.gives {
			if before, ok := nb.ran[i].gives[name]; ok && before != text {
				changed[name] = true
			}
		}
		nb.ran = slices.Delete(nb.ran, i, i+1)
	}
	c.Stale = nb.findStale(changed)
	nb.ran = append(nb.ran, now)
}

// addUses adds a name, and what the function of that name mentions.
func (nb *Notebook) addUses(uses map[string]bool, name string) {
	if uses[name] {
		return
	}
	uses[name] = true
	for _, next := range nb.mentions[name] {
		nb.addUses(uses, next)
	}
}

// redefined finds what the cell defines in another way than an earlier one, but for variables.
func (c *Cell) redefined() map[string]bool {
	changed := map[string]bool{}
	for name, now := range c.symbols {
		before := c.nb.symbols[name]
		if _, isConst := now.obj.(*types.Const); isConst && before.obj != nil && !isSame(before.obj, now.obj) {
			changed[name] = true
		}
		for _, p := range now.parts {
			if p.carried || p.name == "" {
				continue
			}
			changed[p.name] = slices.ContainsFunc(before.parts, func(q part) bool {
				return q.name == p.name && q.text != p.text
			})
		}
	}
	maps.DeleteFunc(changed, func(_ string, is bool) bool { return !is })
	return changed
}

// findStale finds cells that are stale after some names were redefined, and that the user does not
// know of.
func (nb *Notebook) findStale(changed map[string]bool) (found Stale) {
	if len(changed) == 0 {
		return found
	}
	why := map[string]bool{}
	given := map[string]bool{} // variables, if the cell that gave them their values last is stale
	for _, r := range nb.ran {
		stale := false
		for name := range r.uses {
			stale = stale || changed[name] || given[name]
			why[name] = why[name] || changed[name] && !r.stale
		}
		for name := range r.gives {
			given[name] = stale
		}
		if stale && !r.stale {
			r.stale = true
			found.Cells = append(found.Cells, r.source)
		}
	}
	maps.DeleteFunc(why, func(_ string, is bool) bool { return !is })
	found.Names = slices.Sorted(maps.Keys(why))
	return found
}

// Deleted says that the front end has cells no longer.
func (nb *Notebook) Deleted(cells []string) {
	defer nb.lock()()
	nb.ran = slices.DeleteFunc(nb.ran, func(r *ran) bool { return slices.Contains(cells, r.source.Cell) })
}

// used notes that the cell uses a name.
func (c *Cell) use(name string) {
	if c.used == nil {
		c.used = map[string]bool{}
	}
	c.used[strings.TrimPrefix(name, our)] = true
}
