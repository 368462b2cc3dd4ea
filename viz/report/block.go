package report

import (
	"html/template"
	"strings"

	"github.com/parallelcl/parallelcl/viz"
)

// block is a piece of a page about runs. What it has is shown, in this order.
type block struct {
	ID, Title string
	Level     int    // of the heading
	Folded    bool   // until a reader opens it
	Lead      string // the sentence that decides
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
	b.Picture = template.HTML(f.Drawing().HTML())
	return b
}

// outlined gives blocks the levels of their headings, and leaves out those with nothing in them.
func outlined(all []block, level int) (out []block) {
	for _, b := range all {
		b.Level, b.Parts = level, outlined(b.Parts, min(level+1, 4))
		if b.Lead != "" || b.Picture != "" || b.Table != nil || len(b.Facts)+len(b.Notes)+len(b.Parts) > 0 {
			out = append(out, b)
		}
	}
	return out
}
