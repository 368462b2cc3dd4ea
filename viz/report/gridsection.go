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
	Decisions         []decision
	Cost              *runFigure
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
	A, Spread, Tuned, F    value
	PaperA, PaperF         value
	Rank                   value
	Behind, P, Beats       value // Behind is empty for the one of the highest mean
	Interval               string
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
	for _, c := range g.Columns {
		s.Columns = append(s.Columns, newGridColumn(c, at))
		for _, r := range g.Rows {
			if r.State == rows.Done && r.Dataset == c.Dataset && r.Increment == c.Increment {
				s.Runs = append(s.Runs, newGridRun(r, c))
			}
		}
	}
	var err error
	if s.Figures, err = gridFigures(g); err != nil {
		return nil, err
	}
	looks := map[string]string{}
	for _, r := range g.Rows {
		looks[r.Line()] = r.RunMethod
	}
	s.Decisions, err = decisions(versus.Rows(g.Rows), nil)
	s.Cost = costFigure(s.Decisions, looks)
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
		row.Rank = rounded(e.Rank, 1)
	}
	t := e.Against
	if t == nil {
		return row
	}
	row.Behind = value{findings.Signed(t.Difference), t.Difference}
	if t.Resampled {
		row.Interval = fmt.Sprintf("%s to %s", findings.Signed(t.Interval.Low), findings.Signed(t.Interval.High))
		row.Beats = rounded(100*t.Improvement, 0)
	}
	if !math.IsNaN(t.Adjusted) {
		row.P = value{findings.PValue(t.Adjusted), t.Adjusted}
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
