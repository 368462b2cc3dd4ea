package findings

import (
	"cmp"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Alpha is the level of all tests.
const Alpha = 0.05

// Findings are what the results of some grids show.
type Findings struct {
	Grids    []*Grid
	Claims   []*Verdict // on the paper's claims
	Controls []*Verdict // on what other experiments were made to find out
	Absent   []Absent   // columns of the paper's tables of which runs are missing
}

// New works out what the rows of any number of grids show. A row that is there twice counts once.
func New(all []*rows.Row) (*Findings, error) {
	f := &Findings{}
	for _, r := range all {
		if err := f.grid(r).add(r); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.Grids, func(a, b *Grid) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Name, b.Name)) })
	for _, g := range f.Grids {
		if err := g.summarise(); err != nil {
			return nil, err
		}
	}
	f.pair()
	var err error
	if f.Claims, err = f.judge(claims()); err != nil {
		return nil, err
	}
	if f.Controls, err = f.judge(controls()); err != nil {
		return nil, err
	}
	f.Absent = f.absent()
	return f, nil
}

// grid returns the grid of a row.
func (f *Findings) grid(r *rows.Row) *Grid {
	i := slices.IndexFunc(f.Grids, func(g *Grid) bool { return g.Name == r.Grid })
	if i < 0 {
		i = len(f.Grids)
		f.Grids = append(f.Grids, newGrid(r))
	}
	return f.Grids[i]
}

// pair gives each entry that of the same method with tuned values, or with published ones.
func (f *Findings) pair() {
	for _, g := range f.Grids {
		other := g.partner()
		i := slices.IndexFunc(f.Grids, func(o *Grid) bool { return o.Name == other })
		if i < 0 {
			continue
		}
		for _, c := range g.Columns {
			for _, e := range c.Entries {
				e.Other = f.Grids[i].find(c, e.Name)
			}
		}
	}
}
