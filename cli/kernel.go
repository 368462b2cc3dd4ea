package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/internal/kernel"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/terminal"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// kernelCmd is `pcl kernel`, which installs, shows, removes and examines the Jupyter kernel.
type kernelCmd struct {
	Install kernelInstallCmd `cmd:"" help:"Install or update the kernel for this user."`
	List    kernelListCmd    `cmd:"" help:"Show the installed kernel."`
	Remove  kernelRemoveCmd  `cmd:"" help:"Remove the kernel and its files, with the private JupyterLab."`
	Doctor  kernelDoctorCmd  `cmd:"" help:"Show what notebooks need, what is missing, and how to fix it."`
}

// kernelOptions says where the kernel and its files go on this machine. The parser gives it to
// commands that take it.
func kernelOptions(rc *runContext) (kernel.Options, error) {
	cache, err := backend.DefaultCacheDir()
	if err != nil {
		return kernel.Options{}, err
	}
	data, err := kernel.DataDir()
	if err != nil {
		return kernel.Options{}, err
	}
	return kernel.Options{Cache: filepath.Join(cache, "notebook"), Data: data, Note: rc.note}, nil
}

// moduleFlag is the flag of all commands that install the kernel.
type moduleFlag struct {
	Module string `placeholder:"DIR" type:"path" help:"Clone of parallelcl that cells import (default: the one that the current folder is in, else the source that pcl was built from)."`
}

// install installs the kernel, the backend that its cells will use, and at the same time what else
// a command needs, if more isn't nil. It shows how far all of them are.
func (m moduleFlag) install(rc *runContext, o kernel.Options,
	more func(context.Context, kernel.Options) error) (k kernel.Kernel, err error) {
	source, err := kernel.FindSource(rc.ctx, m.Module)
	if err != nil {
		return k, err
	}
	begin := time.Now()
	_, missing := kernel.Read(o)
	if errors.Is(missing, os.ErrNotExist) {
		rc.note("Installing what notebooks need, once: packages for cells, compiled by Go; XLA; JupyterLab, unless it is " +
			"there. That takes\n" +
			"a few minutes on two free cores, 300 MB from the network and 1.7 GB of disk. Ctrl-C stops it; the same command " +
			"goes on.")
		defer func() {
			if err == nil {
				rc.note("Installed in %s.", terminal.Duration(time.Since(begin)))
			}
		}()
	}
	tasks := terminal.NewTasks(rc.progress())
	defer tasks.Close()
	o.Note = tasks.Note
	g, ctx := errgroup.WithContext(rc.ctx)
	g.Go(func() (err error) {
		o := o
		o.Progress = tasks.New("kernel").Count
		k, err = kernel.Install(ctx, o, source)
		o.Progress("", 0, 0)
		return err
	})
	g.Go(func() error {
		task := tasks.New("XLA")
		b, err := backend.Open(ctx, backend.Options{Verify: true, Progress: task})
		task.Count("", 0, 0)
		if err == nil {
			b.Close()
		}
		return err
	})
	if more != nil {
		g.Go(func() error {
			o := o
			o.Progress = tasks.New("JupyterLab").Count
			err := more(ctx, o)
			o.Progress("", 0, 0)
			return err
		})
	}
	err = resumable(rc, g.Wait())
	return k, err
}

// resumable adds to the error of an interrupted installation how to continue it.
func resumable(rc *runContext, err error) error {
	if err == nil || rc.ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("interrupted; the same command goes on: %w", rc.ctx.Err())
}

type kernelInstallCmd struct {
	moduleFlag
}

func (c *kernelInstallCmd) Run(rc *runContext, o kernel.Options) error {
	k, err := c.install(rc, o, nil)
	if err != nil {
		return err
	}
	return rc.done("the kernel is installed: version %s, module in %s", k.Version, printable.Line(k.Source))
}

type kernelListCmd struct{}

func (c *kernelListCmd) Run(rc *runContext, o kernel.Options) error {
	k, err := kernel.Read(o)
	if errors.Is(err, os.ErrNotExist) {
		rc.note("No kernel is installed: pcl kernel install")
		return nil
	}
	if err != nil {
		return err
	}
	return newTable("NAME", "VERSION", "MODULE").row(kernel.Name, k.Version, k.Source).print(rc.stdout)
}

type kernelRemoveCmd struct{}

func (c *kernelRemoveCmd) Run(rc *runContext, o kernel.Options) error {
	if err := kernel.Remove(o); err != nil {
		return err
	}
	return rc.done("removed the kernel and %s", printable.Line(o.Cache))
}

type kernelDoctorCmd struct{}

// Run prints what notebooks need. It returns an error if something is missing.
func (c *kernelDoctorCmd) Run(rc *runContext, o kernel.Options) error {
	checks := kernel.Doctor(rc.ctx, o)
	if err := rc.ctx.Err(); err != nil {
		return err
	}
	var t table
	missing := false
	for _, c := range checks {
		state := "ok"
		if c.Mend != "" {
			state, missing = "missing", true
		}
		t.row(c.Name, state, c.Detail)
		if c.Mend != "" {
			t.row("", "", "to fix it: "+c.Mend)
		}
	}
	err := t.print(rc.stdout)
	fmt.Fprintln(rc.stdout, "\nThe backends: pcl doctor")
	if missing {
		return errors.New("something that notebooks need is missing")
	}
	return err
}
