package findings

import (
	"cmp"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Findings are what the results of some grids show.
type Findings struct {
	Grids    []*Grid
	Claims   []*Verdict // on the paper's claims; none if all grids are users' own
	Controls []*Verdict // on what other experiments were made to find out

	notes map[string]string
}

// New works out what the rows of any number of grids show. A row that is there twice counts once. Folders among the paths may
// have a file notes.toml with sentences about tables of the paper ("Table 3" = "…"), such as why one is missing.
func New(all []*rows.Row, paths ...string) (*Findings, error) {
	notes, err := readNotes(paths)
	if err != nil {
		return nil, err
	}
	f := &Findings{notes: notes}
	for _, r := range all {
		g := f.Grid(r.Grid)
		if g == nil {
			g = newGrid(r)
			f.Grids = append(f.Grids, g)
		}
		g.Rows = append(g.Rows, r)
	}
	slices.SortFunc(f.Grids, func(a, b *Grid) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Name, b.Name)) })
	for _, g := range f.Grids {
		if err := g.gather(); err != nil {
			return nil, err
		}
	}
	f.pair()
	if f.own() {
		return f, nil
	}
	f.Claims, f.Controls = f.judge(claims()), f.judge(controls())
	return f, nil
}

// own says whether the paper is not what the grids are about.
func (f *Findings) own() bool {
	return !slices.ContainsFunc(f.Grids, func(g *Grid) bool { return !g.Own() })
}

// Grid returns the grid of a name, such as "best-test-split", or nil.
func (f *Findings) Grid(name string) *Grid {
	i := slices.IndexFunc(f.Grids, func(g *Grid) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return f.Grids[i]
}

// pair gives each entry that of the same method with tuned values, or with published ones.
func (f *Findings) pair() {
	for _, g := range f.Grids {
		other := f.Grid(g.partner())
		if other == nil {
			continue
		}
		for _, c := range g.Columns {
			like := other.Column(c.Dataset, c.Increment)
			for i := 0; like != nil && i < len(c.Entries); i++ {
				c.Entries[i].Other = like.Entry(c.Entries[i].Name)
			}
		}
	}
}
