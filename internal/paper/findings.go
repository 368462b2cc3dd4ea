// Package paper compares results with the paper's: its numbers beside ours, the verdicts on its
// claims, and REPRODUCTION.md. It reads tables of package rows, and nothing else. Begin with [New].
package paper

import (
	"cmp"
	"io/fs"
	"slices"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Findings are what the results of some grids show.
type Findings struct {
	Grids    []*rows.Table
	Claims   []*Verdict // on the paper's claims; none if all grids are users' own
	Controls []*Verdict // on what other experiments were made to find out

	notes map[string]string
}

// New works out what the rows of any number of grids show. A row that is there twice counts once.
// Folders among the paths may have a file notes.toml with sentences about tables of the paper
// ("Table 3" = "…"), such as why one is missing.
func New(all []*rows.Row, paths ...string) (*Findings, error) {
	notes, err := readNotes(paths)
	if err != nil {
		return nil, err
	}
	f := &Findings{notes: notes}
	if f.Grids, err = rows.Tables(all); err != nil {
		return nil, err
	}
	slices.SortFunc(f.Grids, func(a, b *rows.Table) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	if f.own() {
		return f, nil
	}
	f.Claims, f.Controls = f.judge(claims()), f.judge(controls())
	return f, nil
}

// Published returns what the results of this module show, those of grids/results, from which
// REPRODUCTION.md is made.
func Published() (*Findings, error) {
	folder, err := fs.Sub(grids.Files, "results")
	if err != nil {
		return nil, err
	}
	all, err := rows.Folder(folder)
	if err != nil {
		return nil, err
	}
	return New(all)
}

// own says whether the paper is not what the grids are about.
func (f *Findings) own() bool {
	return !slices.ContainsFunc(f.Grids, func(t *rows.Table) bool { return !Own(t) })
}

// Grid returns the grid of a name, such as "best-test-split", or nil.
func (f *Findings) Grid(name string) *rows.Table {
	i := slices.IndexFunc(f.Grids, func(t *rows.Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return f.Grids[i]
}
