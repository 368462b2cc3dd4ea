package grid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Plan is a grid with the configurations of its runs.
type Plan struct {
	*Grid
	Rows []*rows.Row          // without results; Cell is the ID of the run
	Runs []experiment.Checked // the run of each row, once if rows share it, in the order in which one process makes them
}

// Expand returns the plan of a grid.
func (g *Grid) Expand() (*Plan, error) {
	all, configs, err := g.expand()
	if err != nil {
		return nil, fmt.Errorf("grid %s: %w", g.Name, err)
	}
	p := &Plan{Grid: g, Rows: all}
	known := map[string]bool{}
	for i, c := range configs {
		if id := all[i].Cell; !known[id] {
			known[id] = true
			p.Runs = append(p.Runs, c)
		}
	}
	return p, nil
}

// checkFolder refuses a folder that holds cells of grids as earlier programs kept them.
func checkFolder(dir string) error {
	for _, old := range []string{"manifests", "records"} {
		if _, err := os.Stat(filepath.Join(dir, old)); err == nil {
			return fmt.Errorf("%s is a grid's folder of an earlier program, which keeps its results: write them to CSV files with that program (pcl grid export), and name another folder here", dir)
		}
	}
	return nil
}

// ErrNoData says that runs are left because their data set is not on this machine, or is another one.
var ErrNoData = errors.New("a data set is missing")

// Work makes the runs that are not finished, in folders below w.Dir. A run that fails is noted in its folder, and said; where a data
// set is missing, the other runs are made, and the error is [ErrNoData] in the end. Other errors end the work:
// [experiment.ErrInterrupted] and [experiment.ErrTimeUp] when the run in progress has been saved.
func (p *Plan) Work(ctx context.Context, w experiment.Where) error {
	if err := checkFolder(w.Dir); err != nil {
		return err
	}
	var stopped error
	missing := map[string]error{}
	for e, err := range experiment.Each(ctx, p.Runs, w) {
		c := p.Runs[e.Index]
		machine := new(experiment.MachineError)
		switch {
		case err == nil:
		case errors.As(err, &machine) && machine.Dataset != "", errors.Is(err, experiment.ErrData):
			missing[c.Dataset] = fmt.Errorf("%w: %w", ErrNoData, err)
		case errors.As(err, new(*experiment.FailedError)), errors.Is(err, experiment.ErrForeign):
			if w.Say != nil {
				w.Say(fmt.Sprintf("%s: %v.", p.place(c.Config), short(err.Error())))
			}
		case errors.Is(err, experiment.ErrInterrupted), errors.Is(err, experiment.ErrTimeUp):
			stopped = err // others may not have been saved, which counts more
		default:
			return err
		}
	}
	if stopped != nil {
		return stopped
	}
	var all error
	for _, err := range missing {
		all = errors.Join(all, err)
	}
	return all
}

// Retry forgets that runs of a shard have failed, so that [Plan.Work] makes them again.
func (p *Plan) Retry(dir string, shard experiment.Shard) error {
	for _, c := range p.Runs {
		if !shard.Has(c.Config) {
			continue
		}
		if err := experiment.Retry(filepath.Join(dir, c.Folder())); err != nil {
			return err
		}
	}
	return nil
}

// place says in a few words which place of the grid a run is for, the first if there are several.
func (p *Plan) place(c experiment.Config) string {
	id := c.ID()
	for _, r := range p.Rows {
		if r.Cell == id {
			return fmt.Sprintf("%s, %s, %s-incremental, label set %d, timeline %d, seed %d", r.Line(), r.Dataset, r.Increment, r.LabelSet, r.Timeline, r.Seed)
		}
	}
	return c.Folder()
}
