package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/kernel"
	"github.com/parallelcl/parallelcl/internal/printable"
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

// install installs the kernel and the backend that its cells will use.
func (m moduleFlag) install(rc *runContext, o kernel.Options) (kernel.Kernel, error) {
	source, err := kernel.FindSource(rc.ctx, m.Module)
	if err != nil {
		return kernel.Kernel{}, err
	}
	k, err := kernel.Install(rc.ctx, o, source)
	if err := resumable(rc, err); err != nil {
		return kernel.Kernel{}, err
	}
	b, err := backend.Open(rc.ctx, backend.Options{Verify: true, Progress: rc.progress()})
	if err := resumable(rc, err); err != nil {
		return kernel.Kernel{}, err
	}
	b.Close()
	return k, nil
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
	k, err := c.install(rc, o)
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
