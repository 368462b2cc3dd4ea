package paper

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// parts returns those of a claim, not yet judged.
func (f *Findings) parts(c *claim) (out []*Part) {
	for _, table := range c.Tables {
		for _, place := range placesOf(table) {
			if !c.about(place) {
				continue
			}
			out = append(out, f.inTable(c, place)...)
		}
	}
	for _, column := range f.fullest(func(o *rows.Column) bool { return slices.Contains(c.Grids, base(o.Table)) }) {
		out = append(out, inGrid(c, column)...)
	}
	if len(out) == 0 {
		for _, base := range c.Grids {
			out = append(out, &Part{Place: "grid " + base, Method: c.Methods[0], Outcome: NotTestable,
				Why: "There are no results of this grid."})
		}
	}
	return out
}

// about says whether a claim is about a place.
func (c *claim) about(p place) bool {
	return (len(c.Datasets) == 0 || slices.Contains(c.Datasets, p.dataset)) && !slices.Contains(c.Without, p.String())
}

// inTable returns the parts of a claim about a place of the paper: one for each of the methods, in
// each of the data sets that stand for the paper's.
func (f *Findings) inTable(c *claim, at place) (out []*Part) {
	columns := f.columns(at)
	for _, method := range c.Methods {
		if rivals := c.rivals(at.table); c.EveryOther {
			out = append(out, f.compared(c, at, columns, method, rivals)...)
		} else {
			for _, r := range rivals {
				out = append(out, f.compared(c, at, columns, method, []string{r})...)
			}
		}
	}
	return out
}

// compared returns the parts about one method and its rivals: one for each column, or one without a
// column.
func (f *Findings) compared(c *claim, at place, columns []*rows.Column, method string, rivals []string) (out []*Part) {
	blank := Part{
		Place: at.String() + ", " + at.increment + "-incremental", Method: method, Than: rivals[0], Rivals: len(rivals),
		Paper: paperDifference(c, at, method, rivals),
	}
	for _, column := range columns {
		p := blank
		p.Column, p.Place = column, placeIn(column)
		p.fill(c, named(column, method), each(column, rivals), rivals)
		out = append(out, &p)
	}
	if len(columns) == 0 {
		blank.Outcome, blank.Why = NotTestable, "There are no results on this data set."
		out = append(out, &blank)
	}
	return out
}

// columns returns those that stand for a place of the paper.
func (f *Findings) columns(at place) []*rows.Column {
	return f.fullest(func(c *rows.Column) bool {
		return slices.Contains(tablesIn(c.Table.Paper), at.table) && c.PaperDataset == at.dataset &&
			c.Increment == at.increment
	})
}

// fullest returns, of the columns that are wanted, one of each data set and increment, with
// published and with tuned values: that with the most situations, on which the tests rest, and of
// those the one with the most runs. So a grid in two sizes counts once.
func (f *Findings) fullest(wanted func(*rows.Column) bool) (out []*rows.Column) {
	for _, g := range f.Grids {
		for _, c := range g.Columns {
			if !wanted(c) {
				continue
			}
			i := slices.IndexFunc(out, func(o *rows.Column) bool {
				return o.Dataset == c.Dataset && o.Increment == c.Increment && o.Table.Tuned == g.Tuned
			})
			switch {
			case i < 0:
				out = append(out, c)
			case fuller(c, out[i]):
				out[i] = c
			}
		}
	}
	return out
}

// fuller says whether the column's results are from more situations than another one's, or from as
// many with more runs.
func fuller(c, o *rows.Column) bool {
	situations, runs := made(c)
	others, otherRuns := made(o)
	return cmp.Or(cmp.Compare(situations, others), cmp.Compare(runs, otherRuns)) > 0
}

// made counts the situations and runs of the method that has the most of them.
func made(c *rows.Column) (situations, runs int) {
	for _, e := range c.Entries {
		situations, runs = max(situations, len(rows.Situations(results.FinalAccuracy, e))), max(runs, e.Done)
	}
	return situations, runs
}

// placeIn names the column in a claim's part.
func placeIn(c *rows.Column) string {
	if c.Table.Tuned {
		return c.Benchmark.String() + ", tuned values"
	}
	return c.Benchmark.String()
}

// named returns the entry that the paper calls so, or nil.
func named(c *rows.Column, method string) *rows.Entry {
	i := slices.IndexFunc(c.Entries, func(e *rows.Entry) bool { return e.PaperMethod == method && len(e.Vary) == 0 })
	if i < 0 {
		return nil
	}
	return c.Entries[i]
}

func each(c *rows.Column, methods []string) (out []*rows.Entry) {
	for _, m := range methods {
		out = append(out, named(c, m))
	}
	return out
}

// inGrid returns the parts of a claim about a column of a grid.
func inGrid(c *claim, column *rows.Column) (out []*Part) {
	for _, method := range c.Methods {
		than := c.Than
		if len(than) == 0 {
			than = []string{method}
		}
		for _, rival := range than {
			a, b := lineOf(column, method, c.At), lineOf(column, rival, c.ThanAt)
			p := &Part{Place: placeIn(column), Column: column, Method: nameOf(a, method), Than: nameOf(b, rival), Rivals: 1}
			p.fill(c, a, []*rows.Entry{b}, []string{rival})
			out = append(out, p)
		}
	}
	return out
}

func nameOf(e *rows.Entry, method string) string {
	if e == nil {
		return method
	}
	return e.Name
}

// lineOf returns the entry of a method as the grid calls it; if the grid varies a number, that with
// an extreme one. It is nil if there is none.
func lineOf(c *rows.Column, method string, at extreme) *rows.Entry {
	var own []*rows.Entry
	for _, e := range c.Entries {
		if len(e.Rows) > 0 && e.Rows[0].Method == method {
			own = append(own, e)
		}
	}
	byValue := func(a, b *rows.Entry) int { return cmp.Compare(varied(a), varied(b)) }
	switch {
	case len(own) == 0:
		return nil
	case at == smallest:
		return slices.MinFunc(own, byValue)
	case at == largest:
		return slices.MaxFunc(own, byValue)
	}
	return own[0]
}

// varied is the first number that the entry's grid varies.
func varied(e *rows.Entry) float64 {
	for _, s := range e.Vary {
		if x, err := strconv.ParseFloat(s.Value, 64); err == nil {
			return x
		}
	}
	return 0
}

// paperDifference is the paper's difference between a method and its rivals, the closest if there
// are several.
func paperDifference(c *claim, at place, method string, rivals []string) (out *float64) {
	own := find(at, method, c.metric)
	for _, r := range rivals {
		other := find(at, r, c.metric)
		if own == nil || other == nil {
			continue
		}
		if d := own.Mean - other.Mean; out == nil || (c.Relation == lower) == (d > *out) {
			out = &d
		}
	}
	return out
}
