package report

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/paper"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// gridSection is what the page shows of a grid.
type gridSection struct {
	ID, Name, Heading string
	Facts             []fact
	Failures          []string
	Columns           []gridColumn
	Figures           []runFigure
	Runs              []gridRun
}

// gridColumn is the table of a data set and increment.
type gridColumn struct {
	Name, Note, Other string
	Tuned, Paper      bool
	Compared          bool
	Rows              []gridRow
}

// gridRow is a method.
type gridRow struct {
	ID, Name, Remark, Hash string
	Star                   bool
	A, Spread, Tuned, F    cellValue
	PaperA, PaperF         cellValue
	Rank                   cellValue
	Behind, P, Beats       cellValue // Behind is empty for the one of the highest mean
	Interval               string
}

// cellValue is a number of a table, as it is shown and as it is sorted by.
type cellValue struct{ Text, Sort string }

// gridRun is a run, in the list of all.
type gridRun struct {
	Method, Column, Place, PlaceKey, A, F, Seconds, Cell, Model string
}

func newGridSection(g *findings.Grid, at map[*findings.Entry]string) (*gridSection, error) {
	s := &gridSection{Name: g.Name, Heading: g.Heading()}
	p := g.Provenance()
	s.Failures = p.Failures
	s.Facts = []fact{{"command", p.Command}}
	for _, f := range p.Facts() {
		s.Facts = append(s.Facts, fact(f))
	}
	for _, c := range g.Columns {
		s.Columns = append(s.Columns, newGridColumn(c, at))
		for _, r := range g.Rows {
			if r.State == rows.Done && r.Dataset == c.Dataset && r.Increment == c.Increment {
				s.Runs = append(s.Runs, newGridRun(r, c))
			}
		}
	}
	var err error
	s.Figures, err = gridFigures(g)
	return s, err
}

func newGridRun(r *rows.Row, c *findings.Column) gridRun {
	return gridRun{
		Method: r.Line(), Column: c.Name(), Place: fmt.Sprintf("%d, %d, %d", r.LabelSet, r.Timeline, r.Seed),
		PlaceKey: fmt.Sprintf("#%020d%020d%020d", r.LabelSet, r.Timeline, r.Seed), // no number, so that it is compared as text
		A:        fmt.Sprintf("%.2f", r.A), F: numberCell(r.F, 2).Text, Seconds: fmt.Sprintf("%.1f", r.Seconds), Cell: r.Cell, Model: prefix(r.Model, 12),
	}
}

func prefix(s string, n int) string { return s[:min(n, len(s))] }

func newGridColumn(c *findings.Column, at map[*findings.Entry]string) gridColumn {
	out := gridColumn{Name: c.Name(), Note: c.Note(), Other: c.Differs()}
	out.Tuned, out.Paper = c.Shows()
	for _, e := range c.ByA() {
		row := newGridEntry(e)
		row.ID = at[e]
		out.Compared = out.Compared || e.Against != nil
		out.Rows = append(out.Rows, row)
	}
	return out
}

func newGridEntry(e *findings.Entry) gridRow {
	row := gridRow{
		Name: e.Name, Remark: e.Remark(), Hash: e.Hash, Star: e.Best || e.Tied,
		A: valueOf(e, e.A), Spread: spreadOf(e.A), F: valueOf(e, e.F), PaperA: paperValue(e.PaperA), PaperF: paperValue(e.PaperF), Tuned: dash,
		Rank: dash, P: dash, Beats: dash,
	}
	if e.Other != nil {
		row.Tuned = valueOf(e.Other, e.Other.A)
	}
	if e.Rank > 0 {
		row.Rank = numberCell(e.Rank, 1)
	}
	t := e.Against
	if t == nil {
		return row
	}
	row.Behind = cellValue{findings.Signed(t.Difference), fmt.Sprint(t.Difference)}
	if t.Resampled {
		row.Interval = fmt.Sprintf("%s to %s", findings.Signed(t.Interval.Low), findings.Signed(t.Interval.High))
		row.Beats = numberCell(100*t.Improvement, 0)
	}
	if !math.IsNaN(t.Adjusted) {
		row.P = cellValue{findings.PValue(t.Adjusted), fmt.Sprint(t.Adjusted)}
	}
	return row
}

var dash = cellValue{Text: "–"}

func numberCell(x float64, digits int) cellValue {
	return cellValue{measure{Mean: x, Digits: digits}.String(), fmt.Sprint(x)}
}

func valueOf(e *findings.Entry, v findings.Value) cellValue {
	if !v.Defined() {
		return dash
	}
	return cellValue{e.Text(v), fmt.Sprint(v.Mean)}
}

func spreadOf(v findings.Value) cellValue {
	if math.IsNaN(v.StdRuns) {
		return dash
	}
	return cellValue{v.Spread(), fmt.Sprint(v.StdRuns)}
}

func paperValue(n *paper.Number) cellValue {
	if n == nil {
		return dash
	}
	return cellValue{measure{n.Mean, n.Std, 2, true}.String(), fmt.Sprint(n.Mean)}
}
