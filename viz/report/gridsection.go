package report

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/paper"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
)

// gridSection is what the page shows of a grid.
type gridSection struct {
	ID, Name, Heading string
	Facts             []fact
	Failures          []string
	Cost              *runFigure
	Columns           []gridColumn
	Figures           []runFigure
	Runs              []gridRun
}

// gridColumn is the table of a data set and increment.
type gridColumn struct {
	Name, Note, Other string
	Tuned, Paper      bool
	Compared          *decision // nil: there is nothing to compare
	Rows              []gridRow
}

// gridRow is a method.
type gridRow struct {
	ID, Name, Remark, Hash string
	Star                   bool
	A, Spread, Tuned, F    value
	PaperA, PaperF         value
	Rank                   value
}

// gridRun is a run, in the list of all.
type gridRun struct {
	Method, Dataset, Increment, Column, Place, PlaceKey, A, F, Seconds, Cell, Model string
}

func newGridSection(g *findings.Grid, at map[*findings.Entry]string) (*gridSection, error) {
	s := &gridSection{Name: g.Name, Heading: g.Heading()}
	p := g.Provenance()
	s.Failures = p.Failures
	s.Facts = []fact{{"command", p.Command}}
	for _, f := range p.Facts() {
		s.Facts = append(s.Facts, fact(f))
	}
	var costs []*versus.Table
	looks := map[string]string{}
	for _, c := range g.Columns {
		column, all, err := newGridColumn(c, at)
		if err != nil {
			return nil, err
		}
		s.Columns, costs = append(s.Columns, column), append(costs, all...)
		for _, r := range g.Rows {
			if r.State == rows.Done && r.Dataset == c.Dataset && r.Increment == c.Increment {
				s.Runs = append(s.Runs, newGridRun(r, c))
			}
		}
	}
	var err error
	for _, r := range g.Rows {
		looks[r.Line()] = r.RunMethod
	}
	s.Cost = costFigure(costs, nil, looks)
	s.Figures, err = gridFigures(g)
	return s, err
}

func newGridRun(r *rows.Row, c *findings.Column) gridRun {
	return gridRun{
		Method: r.Line(), Dataset: r.Dataset, Increment: r.Increment, Column: c.Name(), Place: fmt.Sprintf("%d, %d, %d", r.LabelSet, r.Timeline, r.Seed),
		PlaceKey: fmt.Sprintf("#%020d%020d%020d", r.LabelSet, r.Timeline, r.Seed), // no number, so that it is compared as text
		A:        fmt.Sprintf("%.2f", r.A), F: rounded(r.F, 2).Text, Seconds: fmt.Sprintf("%.1f", r.Seconds), Cell: r.Cell, Model: prefix(r.Model, 12),
	}
}

func prefix(s string, n int) string { return s[:min(n, len(s))] }

// newGridColumn returns a column with its comparison, and the table that has the costs of its methods, if there are two.
func newGridColumn(c *findings.Column, at map[*findings.Entry]string) (gridColumn, []*versus.Table, error) {
	out := gridColumn{Name: c.Name(), Note: c.Note(), Other: c.Differs()}
	out.Tuned, out.Paper = c.Shows()
	var all []*rows.Row
	recommended := ""
	for _, e := range c.ByA() {
		row := newGridEntry(e)
		row.ID = at[e]
		out.Rows, all = append(out.Rows, row), append(all, e.Rows...)
		if e.Done > 0 && len(e.Vary) == 0 && e.Rows[0].RunMethod == "emgd" {
			recommended = e.Name
		}
	}
	tables, err := versus.Of(versus.Rows(all), recommended)
	if out.Compared = withHighest(c); recommended != "" && len(tables) > 0 {
		out.Compared = newDecision(tables[0], nil)
	}
	return out, tables, err
}

// withHighest compares the methods of a column with the one of the highest mean, as findings have tested it; nil if they have
// not. It is for grids without EMGD's recommended method.
func withHighest(c *findings.Column) *decision {
	d := &decision{Highest: true}
	for _, e := range c.Entries {
		t := e.Against
		if t == nil {
			continue
		}
		if d.Table == nil {
			d.Table, d.Rows = &versus.Table{Reference: t.B.Name}, []decisionRow{entryRow(t.B)}
		}
		row := entryRow(e)
		row.Difference, row.Shared = value{findings.Signed(t.Difference), t.Difference}, fmt.Sprint(t.Situations)
		if t.Resampled {
			row.Interval = interval(t.Interval.Low, t.Interval.High)
			row.Beats = rounded(100*t.Improvement, 0)
		}
		if !math.IsNaN(t.Adjusted) {
			row.P = value{findings.PValue(t.Adjusted), t.Adjusted}
		}
		d.Rows = append(d.Rows, row)
	}
	if d.Table == nil {
		return nil
	}
	return d.ranked()
}

// entryRow is a method without a comparison.
func entryRow(e *findings.Entry) decisionRow {
	situations := map[[2]uint64]bool{}
	for _, r := range e.Rows {
		situations[[2]uint64{r.LabelSet, r.Timeline}] = true
	}
	return decisionRow{Method: e.Name, Series: e.Name, A: valueOf(e, e.A), Difference: value{"", math.NaN()}, P: dash, Beats: dash, Interval: "–", Situations: len(situations), Runs: e.Done}
}

func newGridEntry(e *findings.Entry) gridRow {
	row := gridRow{
		Name: e.Name, Remark: e.Remark(), Hash: e.Hash, Star: e.Best || e.Tied,
		A: valueOf(e, e.A), Spread: spreadOf(e.A), F: valueOf(e, e.F), PaperA: paperValue(e.PaperA), PaperF: paperValue(e.PaperF), Tuned: dash,
		Rank: dash,
	}
	if e.Other != nil {
		row.Tuned = valueOf(e.Other, e.Other.A)
	}
	if e.Rank > 0 {
		row.Rank = rounded(e.Rank, 1)
	}
	return row
}

func valueOf(e *findings.Entry, v findings.Value) value {
	if !v.Defined() {
		return dash
	}
	return value{e.Text(v), v.Mean}
}

func spreadOf(v findings.Value) value {
	if math.IsNaN(v.StdRuns) {
		return dash
	}
	return value{v.Spread(), v.StdRuns}
}

func paperValue(n *paper.Number) value {
	if n == nil {
		return dash
	}
	return value{fmt.Sprintf("%s ±\u00a0%.2f", rounded(n.Mean, 2).Text, n.Std), n.Mean}
}
