package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/grid"
)

// gridCmd is `pcl grid`, which makes many runs, on one machine or on several that share a folder.
type gridCmd struct {
	List    gridListCmd    `cmd:"" help:"List the grids that are built in, and those that are planned."`
	Plan    gridPlanCmd    `cmd:"" help:"Expand grids into cells, each with the complete configuration of a run, and write them down."`
	Run     gridRunCmd     `cmd:"" help:"Make the cells of a planned grid that have no result yet."`
	Retry   gridRetryCmd   `cmd:"" help:"Make the cells that have failed once more."`
	Status  gridStatusCmd  `cmd:"" help:"Show how far grids have come, what is left, and what failed."`
	Collect gridCollectCmd `cmd:"" help:"Write all results to an SQLite file, to be queried."`
	Export  gridExportCmd  `cmd:"" help:"Write the results of a grid as CSV, as a LaTeX table, or for TensorBoard."`
	Report  gridReportCmd  `cmd:"" help:"Make a page, or a text, about what results show: tables beside the paper's, figures, and a verdict on each claim."`
	Again   gridAgainCmd   `cmd:"" name:"reproduce" help:"Make one run of exported results again, and compare it with them to the bit."`
	Clean   gridCleanCmd   `cmd:"" help:"Remove what dead workers left and nobody needs. Plans and results stay."`
}

// gridDir is the flag that all subcommands have.
type gridDir struct {
	Dir string `short:"d" default:"grid" type:"path" help:"Folder of plans and results (default: ${default}). Workers on several machines may share it."`
}

func (d gridDir) folder() grid.Folder { return grid.Folder{Dir: d.Dir} }

// named returns the given names of planned grids or, if there are none, all.
func (d gridDir) named(names []string) ([]string, error) {
	if len(names) > 0 {
		return names, nil
	}
	names, err := d.folder().Names()
	if err == nil && len(names) == 0 {
		err = usageError{fmt.Errorf("no grid is planned in %s: pcl grid plan does that, and pcl grid list shows what there is", d.Dir)}
	}
	return names, err
}

// unplanned is the error of a grid that is not planned, or cannot be, which is wrong usage. A file that cannot be read
// or written is not: the same command may work later.
func unplanned(err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return usageError{err}
}

// quotedName is a name for a command that the user is told.
func quotedName(name string) string { return strings.Join(quoted([]string{name}), "") }

// flag is the folder as a flag, for commands that the user is told.
func (d gridDir) flag() string {
	if usual, err := filepath.Abs("grid"); err == nil && usual == d.Dir {
		return ""
	}
	return " --dir " + quotedName(d.Dir)
}

type gridListCmd struct {
	gridDir
}

func (c *gridListCmd) Run(rc *runContext) error {
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BUILT IN\tSIZES\tTITLE\tIN THE PAPER")
	for _, name := range grid.Builtin() {
		sizes, err := grid.Sizes(name)
		if err != nil {
			return err
		}
		g, err := grid.Load(name, grid.Full)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, strings.Join(sizes, ", "), g.Title, g.Paper)
	}
	sizes, err := grid.Sizes(grid.BuiltinTuning)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\t%s\tTuning: the grid that pcl tune makes\t\n", grid.BuiltinTuning, strings.Join(sizes, ", "))
	if err := w.Flush(); err != nil {
		return err
	}
	names, err := c.folder().Names()
	if err != nil || len(names) == 0 {
		return err
	}
	_, err = fmt.Fprintf(rc.stdout, "\nPlanned in %s: %s\n", c.Dir, strings.Join(names, ", "))
	return err
}

type gridCleanCmd struct {
	gridDir
}

func (c *gridCleanCmd) Run(rc *runContext) error {
	done, err := c.folder().Clean()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(rc.stdout, "Removed %s of cells and %s of dead workers.\n", plural.Of(done.Folders, "folder"), plural.Of(done.Leases, "lease"))
	return err
}

// ofGrid turns the flag of `pcl run` into a shard of a grid.
func (s shard) ofGrid() grid.Shard { return grid.Shard{I: s.I, N: s.N} }
