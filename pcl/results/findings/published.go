package findings

import (
	"fmt"
	"io/fs"

	"github.com/parallelcl/parallelcl/grids"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Published returns what the results show that come with this module: those of grids/results, from which REPRODUCTION.md
// is made.
func Published() (*Findings, error) {
	files, err := fs.Glob(grids.Results, "results/*.csv")
	if err != nil {
		return nil, err
	}
	var all []*rows.Row
	for _, name := range files {
		own, err := readPublished(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, own...)
	}
	return New(all)
}

func readPublished(name string) ([]*rows.Row, error) {
	f, err := grids.Results.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return rows.Read(f)
}
