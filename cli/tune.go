package cli

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// tuneCmd is `pcl tune`, which makes the runs of the candidates of a tuning and picks the best
// ones.
type tuneCmd struct {
	Tuning string `arg:"" optional:"" default:"tune" help:"TOML file of a tuning (default: the one that is built in)."`
	Dir    string `short:"d" default:"grid" type:"path" help:"Folder of the runs (default: ${default}). pcl grid run makes runs of a tuning too, on several machines."`
	Size   string `default:"full" placeholder:"NAME" help:"Size of the tuning (default ${default})."`
	Out    string `short:"o" default:"tuned.toml" type:"path" placeholder:"FILE" help:"File for the best values (default ${default}), which pcl grid run --tuned-from reads."`

	gridWork
	dataFlag
}

func (c *tuneCmd) Run(rc *runContext) error {
	g, err := usage(grid.LoadTuning(c.Tuning, c.Size))
	if err != nil {
		return err
	}
	if err := atomicfile.Check(c.Out); err != nil {
		return err
	}
	g.DataDir = c.DataDir
	if err := g.Expand(); err != nil {
		return err
	}
	failed := c.work(rc, []*grid.Grid{g}, experiment.Store{Dir: c.Dir, CheckpointEvery: 500, Attempts: 3},
		experiment.Schedule{})
	r, err := g.Results(c.Dir)
	if err != nil {
		return err
	}
	s := r.Status(experiment.Shard{})
	if s.Left > 0 && failed == nil {
		return fmt.Errorf("other processes are at %s of %s: the same command picks the best values when they are done",
			plural.Of(s.Left, "run"), s.Name)
	}
	if failed != nil && (s.Left > 0 || s.Failed == 0) { // candidates of which runs failed lose
		return failed
	}
	return c.pick(rc, r)
}

// pick chooses the best candidates, writes them to the file and prints them.
func (c *tuneCmd) pick(rc *runContext, r *grid.Results) error {
	best, notes, err := r.Pick()
	if err != nil {
		return err
	}
	if err := best.Save(c.Out); err != nil {
		return err
	}
	winners := newTable("METHOD", "INCREMENT", "BEST", "A", "PUBLISHED")
	for _, b := range best.Winners {
		published := "-"
		if b.Published != nil {
			published = fmt.Sprintf("%.2f", *b.Published)
		}
		winners.row(b.Name, b.Increment, b.Values, fmt.Sprintf("%.2f", b.A), published)
	}
	if err := winners.print(rc.stdout); err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintln(rc.stdout, n)
	}
	if _, err := fmt.Fprintf(rc.stdout, "Written to %s, for pcl grid run --tuned-from\n", c.Out); err != nil {
		return err
	}
	want, have := len(best.Methods)*len(r.Increments), len(best.Winners)
	if have < want {
		return fmt.Errorf("%d of %d searches have no winner, because all candidates failed or diverged",
			want-have, want)
	}
	return nil
}
