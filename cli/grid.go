package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/pcl/grid"
)

// gridCmd is `pcl grid`, which makes many runs, on one machine or on several that share a folder.
type gridCmd struct {
	List   gridListCmd   `cmd:"" help:"List the built-in grids."`
	Run    gridRunCmd    `cmd:"" help:"Make the runs of grids that have not finished."`
	Retry  gridRetryCmd  `cmd:"" help:"Like run, and make failed runs again."`
	Status gridStatusCmd `cmd:"" help:"Show the progress of grids, what is left, and what failed."`
	Again  gridAgainCmd  `cmd:"" name:"reproduce" help:"Make one run of exported results again and compare the two bit by bit."`

	Plan    goneCmd `cmd:"" hidden:"" passthrough:"" now:"pcl grid run makes a grid's runs without a plan"`
	Collect goneCmd `cmd:"" hidden:"" passthrough:"" now:"pcl grid run leaves each run in a folder with its result"`
	Export  goneCmd `cmd:"" hidden:"" passthrough:"" now:"pcl export writes grids as tables"`
	Report  goneCmd `cmd:"" hidden:"" passthrough:"" now:"pcl report takes grids, too"`
}

// goneCmd is a command of earlier versions; its tag now says what to do instead.
type goneCmd struct {
	Args []string `arg:"" optional:""`
}

func (goneCmd) Run(k *kong.Context, rc *runContext) error {
	gone := k.Selected()
	rc.command = "pcl"
	return usageError{fmt.Errorf("there is no %s any more: %s", strings.TrimSpace(gone.FullPath()), gone.Tag.Get("now"))}
}

// goneFlag is a flag of earlier versions; its tag now says what to do instead.
type goneFlag string

// Decode refuses the flag, with or without a value.
func (*goneFlag) Decode(ctx *kong.DecodeContext) error {
	return fmt.Errorf("there is no such flag any more: %s", ctx.Value.Tag.Get("now"))
}

// gridFlags say which grids are meant, and where their runs are.
type gridFlags struct {
	Dir       string `short:"d" default:"grid" type:"path" help:"Folder of the grids' runs (default: ${default}). Several machines may share it."`
	Size      string `placeholder:"NAME" help:"Size of the grids (default full). It is part of their names: table1-smoke."`
	Tuned     bool   `help:"Use the values that pcl tune found, instead of the published ones. It is part of the grids' names: table1-smoke-tuned."`
	TunedFrom string `type:"existingfile" placeholder:"FILE" help:"Use the values in this file, which pcl tune wrote."`
	DataDir   string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

// plans reads grids and expands them.
func (g gridFlags) plans(names []string) (all []*grid.Grid, err error) {
	var values *grid.Tuned
	switch {
	case g.TunedFrom != "":
		values, err = grid.LoadTuned(g.TunedFrom)
	case g.Tuned:
		values, err = grid.BuiltinTuned()
	}
	for i := 0; err == nil && i < len(names); i++ {
		var found *grid.Grid
		if found, err = grid.Find(names[i], g.Size, values); err == nil {
			found.DataDir = g.DataDir
			err = found.Expand()
			all = append(all, found)
		}
	}
	if err != nil && !errors.As(err, new(*fs.PathError)) { // a file that cannot be read now may be read later
		err = usageError{err}
	}
	return all, err
}

// results reads the results of grids.
func (g gridFlags) results(names []string) (all []*grid.Results, err error) {
	grids, err := g.plans(names)
	for i := 0; err == nil && i < len(grids); i++ {
		var r *grid.Results
		r, err = grids[i].Results(g.Dir)
		all = append(all, r)
	}
	return all, err
}

type gridListCmd struct{}

func (c *gridListCmd) Run(rc *runContext) error {
	t := newTable("GRID", "SIZES", "TITLE", "IN THE PAPER")
	for _, name := range append(grid.Builtin(), grid.BuiltinTuning) {
		sizes, err := grid.Sizes(name)
		if err != nil {
			return err
		}
		g, err := grid.Find(name, "", nil)
		if err != nil {
			return err
		}
		t.row(name, strings.Join(sizes, ", "), g.Title, g.Paper)
	}
	return t.print(rc.stdout)
}
