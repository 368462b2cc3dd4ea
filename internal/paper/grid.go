package paper

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// base is the name of a table's grid without its size, e.g. "table1".
func base(t *rows.Table) string {
	return strings.TrimSuffix(strings.TrimSuffix(t.Name, rows.TunedMark), "-"+t.Size)
}

// Own reports whether a table is a user's: neither of the paper nor of a grid that comes with this
// program.
func Own(t *rows.Table) bool {
	_, unknown := fs.Stat(grids.Files, base(t)+".toml")
	return unknown != nil && t.Paper == ""
}

// rank orders tables: the paper's by number, its figures, others.
func rank(t *rows.Table) int {
	switch tables := tablesIn(t.Paper); {
	case len(tables) > 0:
		return slices.Index(paperTables, tables[0])
	case t.Paper != "":
		return len(paperTables)
	}
	return len(paperTables) + 1
}

// Command returns what makes the results of a table.
func Command(t *rows.Table) string {
	file := base(t)
	if _, err := fs.Stat(grids.Files, file+".toml"); err != nil {
		file += ".toml" // of the user's own
	}
	run := fmt.Sprintf("pcl grid run %s --size %s", file, t.Size)
	if t.Tuned {
		run += " --tuned"
	}
	return run + t.Backend()
}

// tableOf is the paper's table that a column is to be compared with; empty if there is none.
func tableOf(c *rows.Column) string {
	for _, name := range tablesIn(c.Table.Paper) {
		if slices.Contains(placesOf(name), place{name, c.PaperDataset, c.Increment}) {
			return name
		}
	}
	return ""
}

// Numbers returns the paper's A and F of an entry's method; nil where it has none.
func Numbers(e *rows.Entry) (a, f *Number) {
	if len(e.Vary) > 0 {
		return nil, nil
	}
	at := place{tableOf(e.Column), e.Column.PaperDataset, e.Column.Increment}
	return find(at, e.PaperMethod, results.FinalAccuracy), find(at, e.PaperMethod, results.FinalChange)
}

// differs says in what a column's data differ from the paper's; empty if they do not, or the paper
// has no such.
func differs(c *rows.Column) string {
	if c.PaperDataset == "" || c.Dataset == c.PaperDataset {
		return ""
	}
	return strings.Trim(strings.TrimPrefix(c.Dataset, c.PaperDataset), " ,()")
}
