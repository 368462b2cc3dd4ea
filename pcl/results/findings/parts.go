package findings

import (
	"cmp"
	"slices"
	"strconv"
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
	for _, column := range f.fullest(func(o *Column) bool { return slices.Contains(c.Grids, o.Grid.Base) }) {
		out = append(out, inGrid(c, column)...)
	}
	if len(out) == 0 {
		for _, base := range c.Grids {
			out = append(out, &Part{Place: "grid " + base, Method: c.Methods[0], Outcome: NotTestable, Why: "There are no results of this grid."})
		}
	}
	return out
}

// about says whether a claim is about a place.
func (c *claim) about(p place) bool {
	return (len(c.Datasets) == 0 || slices.Contains(c.Datasets, p.dataset)) && !slices.Contains(c.Without, p.String())
}

// inTable returns the parts of a claim about a place of the paper: one for each of the methods, in each of the data
// sets that stand for the paper's.
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

// compared returns the parts about one method and its rivals: one for each column, or one without a column.
func (f *Findings) compared(c *claim, at place, columns []*Column, method string, rivals []string) (out []*Part) {
	blank := Part{
		Place: at.String() + ", " + at.increment + "-incremental", Method: method, Than: rivals[0], Rivals: len(rivals),
		Paper: paperDifference(c, at, method, rivals),
	}
	for _, column := range columns {
		p := blank
		p.Column, p.Place = column, column.place()
		p.fill(c, column.named(method), column.each(rivals), rivals)
		out = append(out, &p)
	}
	if len(columns) == 0 {
		blank.Outcome, blank.Why = NotTestable, "There are no results on this data set."
		out = append(out, &blank)
	}
	return out
}

// columns returns those that stand for a place of the paper.
func (f *Findings) columns(at place) []*Column {
	return f.fullest(func(c *Column) bool {
		return slices.Contains(c.Grid.Tables, at.table) && c.PaperDataset == at.dataset && c.Increment == at.increment
	})
}

// fullest returns, of the columns that are wanted, one of each data set and increment, with published and with tuned values:
// that with the most situations, on which the tests rest, and of those the one with the most runs. So a grid in two sizes
// counts once.
func (f *Findings) fullest(wanted func(*Column) bool) (out []*Column) {
	for _, g := range f.Grids {
		for _, c := range g.Columns {
			if !wanted(c) {
				continue
			}
			i := slices.IndexFunc(out, func(o *Column) bool {
				return o.Dataset == c.Dataset && o.Increment == c.Increment && o.Grid.Tuned == g.Tuned
			})
			switch {
			case i < 0:
				out = append(out, c)
			case c.fuller(out[i]):
				out[i] = c
			}
		}
	}
	return out
}

// fuller says whether the column's results are from more situations than another one's, or from as many with more runs.
func (c *Column) fuller(o *Column) bool {
	situations, runs := c.made()
	others, otherRuns := o.made()
	return cmp.Or(cmp.Compare(situations, others), cmp.Compare(runs, otherRuns)) > 0
}

// made counts the situations and runs of the method that has the most of them.
func (c *Column) made() (situations, runs int) {
	for _, e := range c.Entries {
		situations, runs = max(situations, len(Situations(e))), max(runs, e.Done)
	}
	return situations, runs
}

// place names the column in a claim's part.
func (c *Column) place() string {
	if c.Grid.Tuned {
		return c.Name + ", tuned values"
	}
	return c.Name
}

// named returns the entry that the paper calls so, or nil.
func (c *Column) named(method string) *Entry {
	i := slices.IndexFunc(c.Entries, func(e *Entry) bool { return e.PaperMethod == method && len(e.Vary) == 0 })
	if i < 0 {
		return nil
	}
	return c.Entries[i]
}

func (c *Column) each(methods []string) (out []*Entry) {
	for _, m := range methods {
		out = append(out, c.named(m))
	}
	return out
}

// inGrid returns the parts of a claim about a column of a grid.
func inGrid(c *claim, column *Column) (out []*Part) {
	for _, method := range c.Methods {
		than := c.Than
		if len(than) == 0 {
			than = []string{method}
		}
		for _, rival := range than {
			a, b := column.line(method, c.At), column.line(rival, c.ThanAt)
			p := &Part{Place: column.place(), Column: column, Method: nameOf(a, method), Than: nameOf(b, rival), Rivals: 1}
			p.fill(c, a, []*Entry{b}, []string{rival})
			out = append(out, p)
		}
	}
	return out
}

func nameOf(e *Entry, method string) string {
	if e == nil {
		return method
	}
	return e.Name
}

// line returns the entry of a method as the grid calls it; if the grid varies a number, that with an extreme one. It is
// nil if there is none.
func (c *Column) line(method string, at extreme) *Entry {
	var own []*Entry
	for _, e := range c.Entries {
		if len(e.Rows) > 0 && e.Rows[0].Method == method {
			own = append(own, e)
		}
	}
	byValue := func(a, b *Entry) int { return cmp.Compare(a.varied(), b.varied()) }
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
func (e *Entry) varied() float64 {
	for _, s := range e.Vary {
		if x, err := strconv.ParseFloat(s.Value, 64); err == nil {
			return x
		}
	}
	return 0
}

// paperDifference is the paper's difference between a method and its rivals, the closest if there are several.
func paperDifference(c *claim, at place, method string, rivals []string) (out *float64) {
	own := find(at, method, c.Metric)
	for _, r := range rivals {
		other := find(at, r, c.Metric)
		if own == nil || other == nil {
			continue
		}
		if d := own.Mean - other.Mean; out == nil || (c.Relation == lower) == (d > *out) {
			out = &d
		}
	}
	return out
}
