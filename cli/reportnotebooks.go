package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel"
	"github.com/parallelcl/parallelcl/internal/tempdir"
	"github.com/parallelcl/parallelcl/viz/report"
)

// pages writes the page of one notebook, or a site of several. The page shows cells that failed;
// they are returned as an error when everything has been written.
func (c *reportCmd) pages(rc *runContext) (failed error) {
	first := c.Out
	if c.All {
		first = filepath.Join(c.Out, report.IndexFile)
	}
	if err := atomicfile.Check(first); err != nil { // before a notebook is executed for minutes
		return err
	}
	var notebooks []*report.Notebook
	for _, path := range c.notebooks {
		n, err := report.ReadNotebook(path)
		if err != nil {
			return err
		}
		switch {
		case c.Execute == nil && n.Executed:
		case c.Execute == nil || *c.Execute:
			if err := c.execute(rc, n); err != nil {
				return err
			}
		case !n.HasResults:
			return fmt.Errorf("%s was never executed: leave out --no-execute, or execute it in JupyterLab", n.File)
		}
		notebooks = append(notebooks, n)
	}
	written := []string{c.Out}
	if c.All {
		var err error
		if written, err = report.Site(rc.ctx, c.Out, cmp.Or(c.Title, "Notebooks"), notebooks, thisCommand()); err != nil {
			return err
		}
	} else {
		if err := atomicfile.Write(c.Out, func(w io.Writer) error {
			return notebooks[0].Write(rc.ctx, w, thisCommand())
		}); err != nil {
			return err
		}
	}
	if err := c.finish(rc, written...); err != nil {
		return err
	}
	for _, n := range notebooks {
		if len(n.LeftOut) > 0 {
			rc.note("%s: not shown as in the notebook, as the page's end says:\n  %s", n.File, strings.Join(n.LeftOut, "\n  "))
		}
		failed = errors.Join(failed, n.Failed())
	}
	return failed
}

// execute executes a notebook, and takes its results.
func (c *reportCmd) execute(rc *runContext, n *report.Notebook) error {
	if err := c.prepare(rc); err != nil {
		return err
	}
	temp, err := tempdir.Make("pcl-report-")
	if err != nil {
		return err
	}
	defer temp.Remove()
	folder := temp.Path
	defer rc.hold()() // so that an interrupt ends the kernel before this program
	begin := time.Now()
	rc.note("Executing %s...", n.File)
	if err := c.convert(rc.ctx, n, folder); err != nil {
		return err
	}
	executed, err := report.ReadNotebook(filepath.Join(folder, filepath.Base(n.File)))
	if err != nil {
		return err
	}
	rc.note("  done in %.0f s", time.Since(begin).Seconds())
	executed.File, executed.SHA256 = n.File, n.SHA256
	*n = *executed
	return nil
}

// prepare installs what executes notebooks.
func (c *reportCmd) prepare(rc *runContext) error {
	if c.nbconvert != "" {
		return nil
	}
	o, err := kernelOptions(rc)
	if err != nil {
		return err
	}
	_, err = c.install(rc, o, func(ctx context.Context, o kernel.Options) error {
		for _, private := range []bool{c.Private, true} { // the user's own JupyterLab may lack nbconvert
			lab, err := kernel.Jupyter(ctx, o, private)
			if err != nil {
				return err
			}
			if c.nbconvert, err = exec.LookPath(filepath.Join(filepath.Dir(lab.Path), "jupyter-nbconvert")); err == nil {
				return nil
			}
		}
		return errors.New("the private JupyterLab has no nbconvert: pcl kernel remove, then try again")
	})
	return err
}

// convert writes an executed copy of a notebook to a folder. The result of a cell that fails is its
// error.
func (c *reportCmd) convert(ctx context.Context, n *report.Notebook, folder string) error {
	args := []string{
		"--to", "notebook", "--execute", "--allow-errors", "--log-level=ERROR", "--ExecutePreprocessor.startup_timeout=300",
		"--output-dir", folder, "--output", filepath.Base(n.File),
	}
	if slices.Contains([]string{"", "gonb", kernel.Name}, n.Kernel) { // which all stand for ours
		args = append(args, "--ExecutePreprocessor.kernel_name="+kernel.Name)
	}
	cmd := exec.CommandContext(ctx, c.nbconvert, append(args, n.File)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) } // upon which it ends its kernel
	cmd.WaitDelay = 20 * time.Second
	said, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("execute %s: %w\n%s", n.File, err, strings.TrimSpace(string(said)))
	}
	return cmp.Or(ctx.Err(), err)
}
