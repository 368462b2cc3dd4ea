package cli

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// tuneCmd is `pcl tune`, which plans the candidates of a tuning as a grid, makes its cells and picks the best ones.
type tuneCmd struct {
	Tuning string `arg:"" optional:"" default:"tune" help:"TOML file of a tuning (default: the one that is built in)."`
	gridDir
	Size string `default:"full" placeholder:"NAME" help:"Size of the tuning (default ${default}). It becomes part of its grid's name: tune-smoke."`
	Out  string `short:"o" default:"tuned.toml" type:"path" placeholder:"FILE" help:"File for the best values (default ${default}), which pcl grid plan --tuned-from reads."`
	Plan bool   `help:"Only plan the grid, for pcl grid run on several machines; the same command without --plan then picks the best values."`

	Jobs    number `short:"j" default:"1" placeholder:"N" help:"Number of processes on this machine (default ${default}); one per core is best on a CPU."`
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
	computeFlags
}

func (c *tuneCmd) Run(rc *runContext) error {
	t, err := grid.LoadTuning(c.Tuning, c.Size)
	if err != nil {
		return usageError{err}
	}
	_, isPart, err := ownPart()
	if err != nil {
		return usageError{err}
	}
	if !isPart {
		if !c.Plan { // which writes no values
			if err := atomicfile.Check(c.Out); err != nil {
				return err
			}
		}
		if err := c.plan(rc, t); err != nil || c.Plan {
			return err
		}
	}
	run := gridRunCmd{Names: []string{t.Grid.Name}, gridDir: c.gridDir, Jobs: c.Jobs, CheckpointEvery: 500, Attempts: 3, Clients: 1, DataDir: c.DataDir}
	err = run.Run(rc)
	if isPart {
		return err // the process that started this one picks the best
	}
	if err := c.finished(t.Grid.Name, err); err != nil {
		return err
	}
	return c.pick(rc, t)
}

// finished returns nil if no cell is left, so that the best candidates can be picked. Cells that failed are not left: their
// candidates lose. made is how the making of the cells ended.
func (c *tuneCmd) finished(name string, made error) error {
	s, err := c.folder().Status(name)
	switch {
	case err != nil:
		return errors.Join(made, err)
	case s.Left > 0 && made == nil:
		return fmt.Errorf("other workers are at %s of %s: the same command picks the best values when they are done", plural.Of(s.Left, "cell"), name)
	case s.Left > 0 || s.Failed == 0:
		return made
	}
	return nil
}

// plan plans the grid of the candidates.
func (c *tuneCmd) plan(rc *runContext, t *grid.Tuning) error {
	how, err := c.compute(rc)
	if err != nil {
		return err
	}
	t.Grid.DataDir = c.DataDir
	m, err := c.folder().Plan(t.Grid, grid.PlanOptions{Compute: how, Program: c.Program})
	if err != nil {
		return err
	}
	return c.planned(rc, m, dataFlag(c.DataDir))
}

// pick chooses the best candidates, writes them to the file and prints them.
func (c *tuneCmd) pick(rc *runContext, t *grid.Tuning) error {
	r, err := collected(rc, c.folder(), t.Grid.Name)
	if err != nil {
		return err
	}
	best, notes, err := t.Pick(r)
	if err != nil {
		return err
	}
	if err := best.Save(c.Out); err != nil {
		return err
	}
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "METHOD\tINCREMENT\tBEST\tA\tPUBLISHED")
	for _, b := range best.List(t.Methods) {
		published := "-"
		if b.Published != nil {
			published = fmt.Sprintf("%.2f", *b.Published)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%s\n", b.Name, b.Increment, b.Values, b.A, published)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintln(rc.stdout, n)
	}
	if _, err := fmt.Fprintf(rc.stdout, "Written to %s, for pcl grid plan --tuned-from\n", c.Out); err != nil {
		return err
	}
	if want, got := len(t.Methods)*len(t.Grid.Increments), len(best.List(t.Methods)); got < want {
		return fmt.Errorf("%d of %d searches have no winner, because all candidates failed or diverged", want-got, want)
	}
	return nil
}
