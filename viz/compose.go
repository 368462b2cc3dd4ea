package viz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
)

// Plots returns a figure of plots side by side, with one key above them. name is used for files of
// the figure, and alt describes it in a sentence for readers who cannot see it. See [NewFigure].
func Plots(name, alt string, plots ...*Plot) (*Figure, error) {
	return NewFigure(Figure{Name: name, Alt: alt}, plots)
}

// NewFigure returns a figure with the fields of about and rows of plots. Its Key continues the keys
// of the plots, and its Alt says where their series end. If about has no Data, the figure has those
// of the plots: a row for each value. The first error of a plot is an error here.
func NewFigure(about Figure, rows ...[]*Plot) (*Figure, error) {
	all := slices.Concat(rows...)
	switch f := &about; {
	case f.Data.Head == nil:
		f.Data.Head = []string{"plot", "series", "x", "y", "low", "high"}
		for _, p := range all {
			f.Data.Rows = append(f.Data.Rows, p.data...)
		}
	case len(f.Data.Rows) == 0:
		return nil, fmt.Errorf("viz: %s: there is nothing to draw", f.Name)
	}
	if len(all) == 0 {
		return nil, errors.New("viz: a figure without plots")
	}
	return about.of(rows)
}

// of makes a figure of its description and rows of plots, or returns the first error of one of
// them.
func (f Figure) of(rows [][]*Plot) (*Figure, error) {
	var key Plot
	f.Rows = nil
	for _, row := range rows {
		var plots []*plot.Plot
		for _, p := range row {
			if p.err != nil {
				return nil, p.err
			}
			p.finish()
			for _, e := range p.key {
				key.list(e)
			}
			plots = append(plots, p.Plot)
		}
		f.Rows = append(f.Rows, plots)
	}
	own := f.Key
	f.Key = nil
	for _, e := range key.key {
		f.Key = append(f.Key, e.KeyEntry)
	}
	f.Key = append(f.Key, own...)
	f.Alt += ends(slices.Concat(rows...))
	return &f, nil
}

// ends says in words where each series of the plots ends.
func ends(plots []*Plot) string {
	const most = 12
	var b strings.Builder
	for _, p := range plots {
		if len(p.ends) == 0 {
			continue
		}
		b.WriteString(" ")
		if title := cmp.Or(p.Title.Text, p.Y.Label.Text, p.X.Label.Text); title != "" && len(plots) > 1 {
			b.WriteString(title + ": ")
		}
		b.WriteString(strings.Join(p.ends[:min(most, len(p.ends))], ", "))
		if more := len(p.ends) - most; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteString(".")
	}
	return b.String()
}

// Rows arranges plots in rows of at most three, and leaves the axes' labels only at the outside. A
// last row that lacks plots is filled up with empty ones.
func Rows(plots ...*Plot) [][]*Plot {
	columns := max(1, min(3, len(plots)))
	if len(plots) == 4 {
		columns = 2
	}
	for i, p := range plots {
		if i%columns != 0 {
			p.Y.Label.Text = ""
		}
		if i+columns < len(plots) {
			p.X.Label.Text = ""
		}
	}
	for len(plots) > columns && len(plots)%columns != 0 {
		plots = append(slices.Clip(plots), blankPlot())
	}
	return slices.Collect(slices.Chunk(plots, columns))
}

// blank is the background of a plot that is not drawn. It keeps the place of one in a row, so that
// the others are as wide as those above.
type blank struct{ Color }

func blankPlot() *Plot {
	p := plot.New()
	p.BackgroundColor = blank{Background}
	p.HideAxes()
	return &Plot{Plot: p}
}

func isBlank(p *plot.Plot) bool {
	_, is := p.BackgroundColor.(blank)
	return is
}
