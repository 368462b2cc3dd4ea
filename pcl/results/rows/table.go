package rows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Table is the table of a grid, or of a user's runs.
type Table struct {
	Name    string // e.g. "table1-test-split-tuned"; empty for runs without a grid
	Title   string
	Paper   string // which of the paper's tables or figures it is; empty for none
	Size    string
	Tuned   bool      // whether the methods have tuned values
	Columns []*Column // the benchmarks, in the grid's order
	Rows    []*Row
}

// Column is a data set in one increment.
type Column struct {
	Table *Table
	results.Benchmark
	PaperDataset string   // what the paper calls the data set; empty where it has no such
	Entries      []*Entry // methods, in the grid's order
	Beside       []*Entry // what stands beside these ([results.Run.Beside]); ranks and tests know nothing of it
}

// Tables gathers rows into the tables of their grids, in order of first appearance. Of several rows
// for one place, such as those of files from two machines, one with a result stays. Two with
// different results are an error.
func Tables(all []*Row) ([]*Table, error) {
	var out []*Table
	for _, r := range all {
		t := named(out, r.Grid)
		if t == nil {
			tuned := strings.HasSuffix(r.Grid, TunedMark)
			t = &Table{Name: r.Grid, Title: r.Title, Paper: r.Paper, Size: r.Size, Tuned: tuned}
			out = append(out, t)
		}
		t.Rows = append(t.Rows, r)
	}
	for _, t := range out {
		if err := t.gather(); err != nil {
			return nil, err
		}
	}
	for _, t := range out {
		t.pair(named(out, t.partner()))
	}
	return out, nil
}

func named(all []*Table, name string) *Table {
	i := slices.IndexFunc(all, func(t *Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Columns returns the columns of rows as if they were one grid. The first of two results for one
// place counts.
func Columns(all []*Row) []*Column {
	t := &Table{Rows: all}
	_ = t.gather() // which says where results differ
	return t.Columns
}

// gather makes the columns. It returns an error if two rows for one place have different results;
// the first one stays.
func (t *Table) gather() error {
	err := t.once()
	for _, r := range t.Rows {
		c := t.Column(r.Dataset, r.Increment)
		if c == nil {
			c = &Column{Table: t, Benchmark: r.Benchmark(), PaperDataset: r.PaperDataset}
			t.Columns = append(t.Columns, c)
		}
		list := &c.Entries
		if r.State == Done && r.Run.Beside() {
			list = &c.Beside
		}
		e := entry(*list, r.Line())
		if e == nil {
			e = &Entry{Column: c, Name: r.Line(), PaperMethod: r.PaperMethod, Vary: r.Vary}
			*list = append(*list, e)
		}
		e.Rows = append(e.Rows, r)
	}
	for _, c := range t.Columns {
		if len(c.Entries) == 0 { // what stands alone stands beside nothing
			c.Entries, c.Beside = c.Beside, nil
		}
		for _, e := range slices.Concat(c.Entries, c.Beside) {
			e.summarise()
		}
		c.rank()
	}
	return err
}

// once keeps one row for each place.
func (t *Table) once() (err error) {
	var kept []*Row
	at := map[Place]int{}
	for _, r := range t.Rows {
		i, again := at[r.Place()]
		switch {
		case !again:
			at[r.Place()], kept = len(kept), append(kept, r)
		case r.State != Done:
		case kept[i].State != Done:
			kept[i] = r
		case kept[i].Run.ModelSHA256 != r.Run.ModelSHA256 && err == nil:
			err = fmt.Errorf("grid %s has two results of %s, with the models %.10s and %.10s: "+
				"leave one of the files out",
				t.Name, r.Place(), kept[i].Run.ModelSHA256, r.Run.ModelSHA256)
		}
	}
	t.Rows = kept
	return err
}

// partner is the name of the table that differs in whether its values are tuned.
func (t *Table) partner() string {
	if t.Tuned {
		return strings.TrimSuffix(t.Name, TunedMark)
	}
	return t.Name + TunedMark
}

// pair gives each entry the one of the same method in another table.
func (t *Table) pair(other *Table) {
	if other == nil {
		return
	}
	for _, c := range t.Columns {
		like := other.Column(c.Dataset, c.Increment)
		for i := 0; like != nil && i < len(c.Entries); i++ {
			c.Entries[i].Other = like.Entry(c.Entries[i].Name)
		}
	}
}

// Column returns the column of a data set and an increment, or nil.
func (t *Table) Column(dataset, increment string) *Column {
	at := results.Benchmark{Dataset: dataset, Increment: increment}
	i := slices.IndexFunc(t.Columns, func(c *Column) bool { return c.Benchmark == at })
	if i < 0 {
		return nil
	}
	return t.Columns[i]
}

// Entry returns the entry of a name, or nil.
func (c *Column) Entry(name string) *Entry { return entry(c.Entries, name) }

func entry(all []*Entry, name string) *Entry {
	i := slices.IndexFunc(all, func(e *Entry) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// ByA returns the entries, the highest mean first; those of a sweep in its order.
func (c *Column) ByA() []*Entry {
	if len(c.Entries) > 0 && len(c.Entries[0].Vary) > 0 {
		return c.Entries
	}
	byA := func(a, b *Entry) int { return cmp.Compare(b.A.Mean, a.A.Mean) }
	return slices.SortedStableFunc(slices.Values(c.Entries), byA)
}
