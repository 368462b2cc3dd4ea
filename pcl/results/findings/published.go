package findings

import (
	"io/fs"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Published returns what the results show that come with this module: those of grids/results, from which REPRODUCTION.md
// is made.
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
