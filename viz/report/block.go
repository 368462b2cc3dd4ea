package report

import (
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/viz"
)

// block is a piece of a page about runs. Its fields are shown in this order; empty ones are left
// out.
type block struct {
	ID, Title string
	Level     int    // of the heading
	Folded    bool   // until a reader opens it
	Lead      string // the sentence that decides
	Opens     bool   // a brief page may begin with it
	Figure    int    // the number of its picture on the page
	Command   string // what to type, after the notes
	Picture   template.HTML
	Table     *table
	Facts     []fact
	Notes     []string
	Parts     []block
}

func titled(title string, notes ...string) block { return block{Title: title, Notes: notes} }

// of draws the figure that the block's title and notes are about, or says why it cannot be drawn.
func (b block) of(f *viz.Figure, err error) block {
	if err != nil {
		b.Notes = []string{"Left out: " + strings.TrimPrefix(err.Error(), "viz: ") + "."}
		return b
	}
	b.Picture = template.HTML(viz.DrawFrames(0, nil, f).HTML())
	return b
}

// where is of, but nothing where the figure cannot be drawn: as there are not several sizes, say.
func (b block) where(f *viz.Figure, err error) block {
	if err != nil {
		return block{}
	}
	return b.of(f, nil)
}

// outlined gives blocks the levels of their headings, and leaves out those with nothing in them.
func outlined(all []block, level int) (out []block) {
	for _, b := range all {
		b.Level, b.Parts = level, outlined(b.Parts, min(level+1, 4))
		if b.Lead != "" || b.Picture != "" || b.Table != nil && len(b.Table.Rows) > 0 ||
			len(b.Facts)+len(b.Notes)+len(b.Parts) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// numbered gives the pictures of blocks numbers, in the order of the page, after so many.
func numbered(all []block, before int) int {
	for i := range all {
		if all[i].Picture != "" {
			before++
			all[i].Figure = before
		}
		before = numbered(all[i].Parts, before)
	}
	return before
}

// table is a table of a page about runs, which a reader can sort by any column.
type table struct {
	ID   string // of a table that can be filtered, whose view is kept in the page's address
	Head []string
	Rows []row
}

type row struct {
	ID              string // for links to it
	Series          string // what lights up with it
	Data, Increment string // what it can be filtered by
	Cells           []datum
}

type datum struct {
	Text, Small string // Small stands below
	Class       string // "text" for words, "good" or "bad"
	Link        string // ID of the row that it leads to
	Parts       []block
}

func (t *table) add(r row, cells ...datum) {
	r.Cells = cells
	t.Rows = append(t.Rows, r)
}

// leaveOutBlanks leaves out the columns in which nothing stands.
func (t *table) leaveOutBlanks() {
	for i := len(t.Head) - 1; i >= 0; i-- {
		if slices.ContainsFunc(t.Rows, func(r row) bool { return strings.Trim(r.Cells[i].Text, "–") != "" }) {
			continue
		}
		t.Head = slices.Delete(t.Head, i, i+1)
		for k := range t.Rows {
			t.Rows[k].Cells = slices.Delete(t.Rows[k].Cells, i, i+1)
		}
	}
}

// numberCell is a cell with a number, as it is written or a dash where there is none.
func numberCell(x float64, write func(float64) string) datum {
	if math.IsNaN(x) {
		return datum{Text: "–"}
	}
	return datum{Text: write(x)}
}

// knownCell is the same of a number that may not be known.
func knownCell(x *float64, write func(float64) string) datum {
	if x == nil {
		return datum{Text: "–"}
	}
	return numberCell(*x, write)
}

// fixed writes numbers with some digits, without a sign where all of them are 0.
func fixed(digits int) func(float64) string {
	return func(x float64) string {
		round := math.Pow10(digits)
		return strings.Replace(strconv.FormatFloat(math.Round(x*round)/round+0, 'f', digits, 64), "-", "−", 1)
	}
}
