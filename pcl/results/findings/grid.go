package findings

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Grid is a table of results.
type Grid struct {
	Name   string // e.g. "table1-test-split-tuned"
	Base   string // e.g. "table1"
	Size   string
	Title  string
	Paper  string
	Tuned  bool // whether methods have tuned values
	Own    bool // whether it is a user's: neither of the paper nor one that comes with this program
	Tables []string
	// Columns are the data sets and increments, in the grid's order.
	Columns []*Column
	Rows    []*rows.Row
}

// Column is a data set in one increment.
type Column struct {
	Grid                  *Grid
	Name                  string // the heading
	Dataset, PaperDataset string
	Increment             string
	Entries               []*Entry // methods, in the grid's order
	Note                  string   // what the numbers are means over, and what differs from the paper
}

func newGrid(r *rows.Row) *Grid {
	g := &Grid{Name: r.Grid, Size: r.Size, Title: r.Title, Paper: r.Paper, Tables: tablesIn(r.Paper)}
	base, tuned := strings.CutSuffix(r.Grid, rows.TunedMark)
	g.Base, g.Tuned = strings.TrimSuffix(base, "-"+r.Size), tuned
	_, unknown := fs.Stat(grids.Files, g.Base+".toml")
	g.Own = unknown != nil && g.Paper == ""
	return g
}

// partner is the name of the grid that differs in whether its values are tuned.
func (g *Grid) partner() string {
	if g.Tuned {
		return strings.TrimSuffix(g.Name, rows.TunedMark)
	}
	return g.Name + rows.TunedMark
}

// rank orders grids: the paper's tables by number, its figures, others.
func (g *Grid) rank() int {
	switch {
	case len(g.Tables) > 0:
		return slices.Index(paperTables, g.Tables[0])
	case g.Paper != "":
		return len(paperTables)
	}
	return len(paperTables) + 1
}

// Columns returns the columns of rows as if they were one grid. The first of two results for one place counts.
func Columns(all []*rows.Row) []*Column {
	g := &Grid{Rows: all}
	_ = g.gather() // which says where results differ
	return g.Columns
}

// gather makes columns of the grid's rows. Of several rows for one place, such as those of files from two machines, one with
// a result stays. Two with different results are an error, and the first one stays.
func (g *Grid) gather() (err error) {
	type run struct {
		dataset, increment, line string
		labelSet, timeline, seed uint64
	}
	var kept []*rows.Row
	at := map[run]int{}
	for _, r := range g.Rows {
		key := run{r.Dataset, r.Increment, r.Line(), r.LabelSet, r.Timeline, r.Seed}
		i, again := at[key]
		switch {
		case !again:
			at[key], kept = len(kept), append(kept, r)
		case r.State != rows.Done:
		case kept[i].State != rows.Done:
			kept[i] = r
		case kept[i].Model != r.Model && err == nil:
			err = fmt.Errorf("grid %s has two results of %s on %s, %s-incremental, label set %d, timeline %d, seed %d, with the models %.10s and %.10s: leave one of the files out",
				g.Name, r.Line(), r.Dataset, r.Increment, r.LabelSet, r.Timeline, r.Seed, kept[i].Model, r.Model)
		}
	}
	g.Rows = kept
	for _, r := range kept {
		c := g.Column(r.Dataset, r.Increment)
		if c == nil {
			c = &Column{Grid: g, Name: r.Dataset + ", " + r.Increment + "-incremental", Dataset: r.Dataset, PaperDataset: r.PaperDataset, Increment: r.Increment}
			g.Columns = append(g.Columns, c)
		}
		e := c.Entry(r.Line())
		if e == nil {
			e = newEntry(c, r)
			c.Entries = append(c.Entries, e)
		}
		e.Rows = append(e.Rows, r)
	}
	for _, c := range g.Columns {
		for _, e := range c.Entries {
			e.summarise()
		}
		c.rank()
		c.Note = c.note()
	}
	return err
}

// Column returns the column of a data set and an increment, or nil.
func (g *Grid) Column(dataset, increment string) *Column {
	i := slices.IndexFunc(g.Columns, func(c *Column) bool { return c.Dataset == dataset && c.Increment == increment })
	if i < 0 {
		return nil
	}
	return g.Columns[i]
}

// Entry returns the entry of a name, or nil.
func (c *Column) Entry(name string) *Entry {
	i := slices.IndexFunc(c.Entries, func(e *Entry) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return c.Entries[i]
}

// differs says in what the data differ from the paper's; empty if they do not, or the paper has no such.
func (c *Column) differs() string {
	if c.PaperDataset == "" || c.Dataset == c.PaperDataset {
		return ""
	}
	return strings.Trim(strings.TrimPrefix(c.Dataset, c.PaperDataset), " ,()")
}

// table is the paper's table that the column is to be compared with; empty if there is none.
func (c *Column) table() string {
	for _, name := range c.Grid.Tables {
		if slices.Contains(placesOf(name), place{name, c.PaperDataset, c.Increment}) {
			return name
		}
	}
	return ""
}
