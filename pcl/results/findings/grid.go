package findings

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/pcl/results/paper"
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
	Tables []string
	// Columns are the data sets and increments, in the grid's order.
	Columns []*Column
	Rows    []*rows.Row

	seen map[string]*rows.Row // by place
}

// Column is a data set in one increment.
type Column struct {
	Grid                  *Grid
	Dataset, PaperDataset string
	Increment             string
	Entries               []*Entry // methods, in the grid's order
}

func newGrid(r *rows.Row) *Grid {
	g := &Grid{Name: r.Grid, Size: r.Size, Title: r.Title, Paper: r.Paper, Tables: paper.In(r.Paper), seen: map[string]*rows.Row{}}
	base, tuned := strings.CutSuffix(r.Grid, rows.TunedMark)
	g.Base, g.Tuned = strings.TrimSuffix(base, "-"+r.Size), tuned
	return g
}

// partner is the name of the grid that differs in whether its values are tuned.
func (g *Grid) partner() string {
	if g.Tuned {
		return strings.TrimSuffix(g.Name, rows.TunedMark)
	}
	return g.Name + rows.TunedMark
}

// Own says whether the grid is a user's: neither of the paper nor one that comes with this program.
func (g *Grid) Own() bool {
	_, err := fs.Stat(grids.Files, g.Base+".toml")
	return err != nil && g.Paper == ""
}

// rank orders grids: the paper's tables by number, its figures, others.
func (g *Grid) rank() int {
	switch {
	case len(g.Tables) > 0:
		return slices.Index(paper.Names(), g.Tables[0])
	case g.Paper != "":
		return len(paper.Names())
	}
	return len(paper.Names()) + 1
}

// add takes in a row. Of several rows for the same place, such as those of files from two machines, one with a result
// counts.
func (g *Grid) add(r *rows.Row) error {
	place := strings.Join([]string{r.Dataset, r.Increment, r.Line(), fmt.Sprint(r.LabelSet, r.Timeline, r.Seed)}, "\x00")
	before := g.seen[place]
	if before != nil && (before.State == rows.Done || r.State != rows.Done) {
		return g.agree(before, r)
	}
	g.seen[place] = r
	c := g.columnOf(r)
	e := c.Entry(r.Line())
	if e == nil {
		e = newEntry(c, r)
		c.Entries = append(c.Entries, e)
	}
	if before != nil {
		g.Rows[slices.Index(g.Rows, before)] = r
		e.Rows[slices.Index(e.Rows, before)] = r
		return nil
	}
	g.Rows, e.Rows = append(g.Rows, r), append(e.Rows, r)
	return nil
}

// agree returns an error if two rows have different results.
func (g *Grid) agree(a, b *rows.Row) error {
	if b.State != rows.Done || a.Model == b.Model {
		return nil
	}
	return fmt.Errorf("grid %s has two results of %s on %s, %s-incremental, label set %d, timeline %d, seed %d, with the models %.10s and %.10s: leave one of the files out",
		g.Name, a.Line(), a.Dataset, a.Increment, a.LabelSet, a.Timeline, a.Seed, a.Model, b.Model)
}

func (g *Grid) columnOf(r *rows.Row) *Column {
	if c := g.Column(r.Dataset, r.Increment); c != nil {
		return c
	}
	c := &Column{Grid: g, Dataset: r.Dataset, PaperDataset: r.PaperDataset, Increment: r.Increment}
	g.Columns = append(g.Columns, c)
	return c
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

func (g *Grid) summarise() {
	for _, c := range g.Columns {
		for _, e := range c.Entries {
			e.summarise()
		}
		c.rank()
	}
}

// Name is the column's heading.
func (c *Column) Name() string { return c.Dataset + ", " + c.Increment + "-incremental" }

// Differs says in what the data differ from the paper's; empty if they do not, or the paper has no such.
func (c *Column) Differs() string {
	if c.PaperDataset == "" || c.Dataset == c.PaperDataset {
		return ""
	}
	return strings.Trim(strings.TrimPrefix(c.Dataset, c.PaperDataset), " ,()")
}

// Table is the paper's table that the column is to be compared with; empty if there is none.
func (c *Column) Table() string {
	for _, name := range c.Grid.Tables {
		if slices.ContainsFunc(paper.Table(name), func(n paper.Number) bool {
			return n.Dataset == c.PaperDataset && n.CountsAs() == c.Increment
		}) {
			return name
		}
	}
	return ""
}
