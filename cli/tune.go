package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// tuneCmd is `pcl tune`, which makes the runs of the candidates of a tuning and picks the best ones.
type tuneCmd struct {
	Tuning string `arg:"" optional:"" default:"tune" help:"TOML file of a tuning (default: the one that is built in)."`
	Dir    string `short:"d" default:"grid" type:"path" help:"Folder of the runs (default: ${default}). pcl grid run makes runs of a tuning too, on several machines."`
	Size   string `default:"full" placeholder:"NAME" help:"Size of the tuning (default ${default})."`
	Out    string `short:"o" default:"tuned.toml" type:"path" placeholder:"FILE" help:"File for the best values (default ${default}), which pcl grid run --tuned-from reads."`

	Jobs    int    `range:"whole [1,1024]" short:"j" default:"1" placeholder:"N" help:"Runs to make at the same time (default ${default}); one per core is best on a CPU."`
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
	machineFlags
}

func (c *tuneCmd) Run(rc *runContext) error {
	t, err := grid.LoadTuning(c.Tuning, c.Size)
	if err != nil {
		return usageError{err}
	}
	if err := atomicfile.Check(c.Out); err != nil {
		return err
	}
	t.Grid.DataDir = c.DataDir
	if err := t.Grid.Expand(); err != nil {
		return err
	}
	run := gridRunCmd{gridFlags: gridFlags{Dir: c.Dir, DataDir: c.DataDir}, machineFlags: c.machineFlags, Jobs: c.Jobs, CheckpointEvery: 500, Attempts: 3}
	err = run.work(rc, []*grid.Grid{t.Grid}, time.Time{})
	r, e := t.Grid.Results(c.Dir)
	if e != nil {
		return errors.Join(err, e)
	}
	switch s := r.Status(experiment.Shard{}); {
	case s.Left > 0 && err == nil:
		return fmt.Errorf("other processes are at %s of %s: the same command picks the best values when they are done", plural.Of(s.Left, "run"), s.Name)
	case err != nil && (s.Left > 0 || s.Failed == 0): // candidates of which runs failed lose
		return err
	}
	return c.pick(rc, t, r)
}

// pick chooses the best candidates, writes them to the file and prints them.
func (c *tuneCmd) pick(rc *runContext, t *grid.Tuning, r *grid.Results) error {
	best, notes, err := t.Pick(r)
	if err != nil {
		return err
	}
	if err := best.Save(c.Out); err != nil {
		return err
	}
	winners := newTable("METHOD", "INCREMENT", "BEST", "A", "PUBLISHED")
	for _, b := range best.List(t.Methods) {
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
	if want, got := len(t.Methods)*len(t.Grid.Increments), len(best.List(t.Methods)); got < want {
		return fmt.Errorf("%d of %d searches have no winner, because all candidates failed or diverged", want-got, want)
	}
	return nil
}
