package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/grid/store"
)

// gridCollectCmd writes results to an SQLite file.
type gridCollectCmd struct {
	Names []string `arg:"" optional:"" name:"name" help:"Planned grids (default: all)."`
	gridDir
	Out string `short:"o" type:"path" placeholder:"FILE" help:"SQLite file to write (default: results.sqlite in the folder)."`
}

func (c *gridCollectCmd) Run(rc *runContext) error {
	names, err := c.named(c.Names)
	if err != nil {
		return err
	}
	if c.Out == "" {
		c.Out = filepath.Join(c.Dir, grid.DatabaseFile)
	}
	var all []*grid.Results
	runs, cells := 0, 0
	for _, name := range names {
		r, err := collected(rc, c.folder(), name)
		if err != nil {
			return err
		}
		all = append(all, r)
		runs, cells = runs+len(r.Runs), cells+len(r.Manifest.Cells)
	}
	if err := store.Write(c.Out, all); err != nil {
		return err
	}
	_, err = fmt.Fprintf(rc.stdout, "%s: %d of %d cells of %s\n", c.Out, runs, cells, plural.Of(len(all), "grid"))
	return err
}

// collected reads the results of a grid, and prints what is to be noted about them.
func collected(rc *runContext, f grid.Folder, name string) (*grid.Results, error) {
	r, err := f.Collect(name)
	if err != nil {
		return nil, unplanned(err)
	}
	if !rc.quiet {
		for _, n := range r.Notes {
			fmt.Fprintf(rc.stderr, "%s: %s\n", name, n)
		}
	}
	return r, nil
}

// standardOutput is what stands for it in flags that name a file to write.
const standardOutput = "-"

// gridExportCmd writes the results of a grid in other forms.
type gridExportCmd struct {
	Name string `arg:"" help:"Planned grid."`
	gridDir
	Format string `default:"csv" enum:"csv,latex,tensorboard" help:"${enum}: a line for each run, the means as a table, or an event file for each run (default ${default})."`
	Out    string `short:"o" type:"stdout" default:"-" placeholder:"PATH" help:"File to write (default: standard output); for tensorboard the folder."`
}

func (c *gridExportCmd) Run(rc *runContext) error {
	if c.Format == "tensorboard" && isStandardOutput(c.Out) {
		return usageError{errors.New("--format tensorboard writes a file for each run: --out DIR says where")}
	}
	r, err := collected(rc, c.folder(), c.Name)
	if err != nil {
		return err
	}
	if n := r.Missing(); n > 0 && !rc.quiet {
		fmt.Fprintf(rc.stderr, "%s: %d of %d cells have no result yet\n", c.Name, n, len(r.Manifest.Cells))
	}
	if c.Format == "tensorboard" {
		return c.tensorBoard(rc, r)
	}
	write := r.CSV
	if c.Format == "latex" {
		write = r.LaTeX
	}
	return rc.writeTo(c.Out, write)
}

// isStandardOutput says whether a path stands for the standard output, which on Unix has a path too.
func isStandardOutput(path string) bool { return path == standardOutput || path == "/dev/stdout" }

// writeTo writes a file, or to the standard output.
func (rc *runContext) writeTo(path string, write func(io.Writer) error) error {
	if isStandardOutput(path) {
		return write(rc.stdout)
	}
	return atomicfile.Write(path, write)
}

// tensorBoard writes the event files of the runs.
func (c *gridExportCmd) tensorBoard(rc *runContext, r *grid.Results) error {
	n, err := r.TensorBoard(c.Out)
	if err != nil {
		return err
	}
	return eventFiles(rc, n, c.Out)
}

// eventFiles says that event files were written.
func eventFiles(rc *runContext, n int, dir string) error {
	if rc.quiet {
		return nil
	}
	_, err := fmt.Fprintf(rc.stdout, "%s in %s, for: tensorboard --logdir %s\n", plural.Of(n, "event file"), dir, quotedName(dir))
	return err
}
