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
	dataFlag
}

// plans reads grids and expands them. A mistake in a grid is a usage error; a file that cannot be
// read is not, since it may be read later.
func (g gridFlags) plans(names []string) (all []*grid.Grid, err error) {
	all, err = g.expanded(names)
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = usageError{err}
	}
	return all, err
}

func (g gridFlags) expanded(names []string) (all []*grid.Grid, err error) {
	var values *grid.Tuned
	if g.TunedFrom != "" || g.Tuned {
		if values, err = grid.LoadTuned(g.TunedFrom); err != nil { // an empty name stands for the published values
			return nil, err
		}
	}
	for _, name := range names {
		found, err := grid.Load(name, g.Size, values)
		if err != nil {
			return nil, err
		}
		found.DataDir = g.DataDir
		if err := found.Expand(); err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

func (g gridFlags) results(names []string) (all []*grid.Results, err error) {
	plans, err := g.plans(names)
	if err != nil {
		return nil, err
	}
	for _, found := range plans {
		results, err := found.Results(g.Dir)
		if err != nil {
			return nil, err
		}
		all = append(all, results)
	}
	return all, nil
}

type gridListCmd struct{}

func (c *gridListCmd) Run(rc *runContext) error {
	t := newTable("GRID", "SIZES", "TITLE", "IN THE PAPER")
	for _, name := range grid.Builtin() {
		g, err := grid.Load(name, "", nil)
		if err != nil {
			return err
		}
		t.row(name, strings.Join(g.Sizes, ", "), g.Title, g.Paper)
	}
	return t.print(rc.stdout)
}
