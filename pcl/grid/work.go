package grid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// Expand fills the Rows and Runs of the grid.
func (g *Grid) Expand() error {
	all, configs, err := g.expand()
	if err != nil {
		return fmt.Errorf("grid %s: %w", g.Name, err)
	}
	g.Rows, g.Runs = all, nil
	known := map[string]bool{}
	for i, c := range configs {
		if id := all[i].Cell; !known[id] {
			known[id] = true
			g.Runs = append(g.Runs, c)
		}
	}
	return nil
}

// checkFolder refuses a folder that holds cells of grids as earlier programs kept them.
func checkFolder(dir string) error {
	for _, old := range []string{"manifests", "records"} {
		if _, err := os.Stat(filepath.Join(dir, old)); err == nil {
			return fmt.Errorf("%s is a grid's folder of an earlier program, which keeps its results: write them to CSV files "+
				"with that program (pcl grid export), and name another folder here", dir)
		}
	}
	return nil
}

// Work makes the runs that are not finished, in folders below the store's. A failure of a run is
// reported and noted in its folder, and the next run is made. If files are missing, the other runs
// are made first, and Work then returns [experiment.ErrData]. Other errors end the work:
// [experiment.ErrInterrupted] and [experiment.ErrTimeUp] when the run in progress has been saved.
func (g *Grid) Work(ctx context.Context, store experiment.Store, schedule experiment.Schedule) error {
	if err := checkFolder(store.Dir); err != nil {
		return err
	}
	var stopped error
	missing := map[string]error{}
	for e, err := range experiment.Each(ctx, g.Runs, store, schedule) {
		c := g.Runs[e.Index]
		switch {
		case err == nil:
		case errors.Is(err, experiment.ErrData):
			missing[c.Config().Dataset] = err
		case errors.Is(err, experiment.ErrFailed), errors.Is(err, experiment.ErrForeign):
			if schedule.Log != nil {
				schedule.Log(fmt.Sprintf("%s: %v.", g.place(c.Config()), short(err.Error())))
			}
		case errors.Is(err, experiment.ErrInterrupted), errors.Is(err, experiment.ErrTimeUp):
			stopped = err // others may not have been saved, which counts more
		default:
			return err
		}
	}
	return cmp.Or(stopped, errors.Join(slices.Collect(maps.Values(missing))...))
}

// place says in a few words which place of the grid a run is for, the first if there are several.
func (g *Grid) place(c experiment.Config) string {
	id := c.ID()
	for _, r := range g.Rows {
		if r.Cell == id {
			return fmt.Sprintf("%s, %s, %s-incremental, label set %d, timeline %d, seed %d", r.Line(), r.Dataset, r.Increment,
				r.LabelSet, r.Timeline, r.Seed)
		}
	}
	return c.Folder()
}
