package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallelcl/parallelcl/internal/kernel"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// kernelCmd is `pcl kernel`, which installs, lists, removes and examines the Jupyter kernel.
type kernelCmd struct {
	Install kernelInstallCmd `cmd:"" help:"Install or update the kernel for this user."`
	List    kernelListCmd    `cmd:"" help:"List the installed kernels."`
	Remove  kernelRemoveCmd  `cmd:"" help:"Remove kernels and their files."`
	Doctor  kernelDoctorCmd  `cmd:"" help:"Show what notebooks need, what is missing, and how to fix it."`
}

// kernelOptions says where the kernel and its files go on this machine.
func kernelOptions(rc *runContext) (kernel.Options, error) {
	cache, err := backend.DefaultCacheDir()
	if err != nil {
		return kernel.Options{}, err
	}
	data, err := kernel.DataDir()
	if err != nil {
		return kernel.Options{}, err
	}
	return kernel.Options{Cache: filepath.Join(cache, "notebook"), Data: data, Progress: rc.progress()}, nil
}

// moduleFlag is the flag of all commands that install the kernel.
type moduleFlag struct {
	Module string `placeholder:"DIR" type:"path" help:"Clone of parallelcl that cells import (default: the one that the current folder is in, else the source that pcl was built from)."`
}

// install installs the kernel and the backend that its cells will use.
func (m moduleFlag) install(rc *runContext, o kernel.Options) (kernel.Kernel, error) {
	dir, err := os.Getwd()
	if err != nil {
		return kernel.Kernel{}, err
	}
	if o.Go, err = kernel.FindGo(); err != nil {
		return kernel.Kernel{}, err
	}
	source, err := kernel.FindSource(rc.ctx, o, m.Module, dir)
	if err != nil {
		return kernel.Kernel{}, err
	}
	k, err := kernel.Install(rc.ctx, o, source)
	if err != nil {
		return k, resumable(rc, err)
	}
	if k.Moved != "" {
		rc.note("%s", printable.Line(k.Moved))
	}
	b, err := backend.Open(rc.ctx, backend.Options{Progress: o.Progress})
	if err != nil {
		return k, resumable(rc, err)
	}
	b.Close()
	return k, nil
}

// resumable adds to the error of an interrupted installation how to continue it.
func resumable(rc *runContext, err error) error {
	if rc.ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("interrupted; the same command goes on: %w", rc.ctx.Err())
}

type kernelInstallCmd struct {
	moduleFlag
}

func (c *kernelInstallCmd) Run(rc *runContext) error {
	o, err := kernelOptions(rc)
	if err != nil {
		return err
	}
	k, err := c.install(rc, o)
	if err != nil {
		return err
	}
	return rc.done("%s: %s, version %s", k.Spec, k.Title, k.Version)
}

type kernelListCmd struct{}

func (c *kernelListCmd) Run(rc *runContext) error {
	o, err := kernelOptions(rc)
	if err != nil {
		return err
	}
	list, err := kernel.List(o.Data)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(rc.stderr, "No kernel is installed: pcl kernel install")
		return nil
	}
	t := newTable("NAME", "TITLE", "VERSION", "MODULE")
	for _, k := range list {
		t.row(k.Name, k.Title, k.Version, k.Source)
	}
	return t.print(rc.stdout)
}

type kernelRemoveCmd struct {
	Versions []string `arg:"" optional:"" name:"version" help:"Versions to remove, as pcl kernel list names them."`
	All      bool     `help:"Remove every kernel, and from the cache the tools and the private JupyterLab."`
}

// Validate wants kernels to be named, or all.
func (c *kernelRemoveCmd) Validate() error {
	if c.All == (len(c.Versions) > 0) {
		return errors.New("name the versions to remove, or give --all")
	}
	return nil
}

func (c *kernelRemoveCmd) Run(rc *runContext) error {
	o, err := kernelOptions(rc)
	if err != nil {
		return err
	}
	list, err := kernel.List(o.Data)
	if err != nil {
		return err
	}
	for _, v := range c.Versions {
		if !slices.ContainsFunc(list, func(k kernel.Kernel) bool { return k.Version == v || k.Name == v }) {
			return usagef("no kernel of version %q is installed; pcl kernel list shows them", v)
		}
	}
	for _, k := range list {
		if !c.All && !slices.Contains(c.Versions, k.Version) && !slices.Contains(c.Versions, k.Name) {
			continue
		}
		if err := kernel.Remove(o.Cache, k); err != nil {
			return err
		}
		if err := rc.done("removed %s", printable.Line(k.Spec)); err != nil {
			return err
		}
	}
	if c.All {
		return os.RemoveAll(o.Cache)
	}
	return nil
}

type kernelDoctorCmd struct{}

// Run prints what notebooks need. It returns an error if something is missing.
func (c *kernelDoctorCmd) Run(rc *runContext) error {
	o, err := kernelOptions(rc)
	if err != nil {
		return err
	}
	checks := kernel.Doctor(rc.ctx, o)
	if err := rc.ctx.Err(); err != nil {
		return err
	}
	var t table
	missing := false
	for _, c := range checks {
		state := "ok"
		if !c.OK {
			state, missing = "missing", true
		}
		t.row(c.Name, state, c.Detail)
		if c.Mend != "" {
			t.row("", "", "to fix it: "+c.Mend)
		}
	}
	err = t.print(rc.stdout)
	fmt.Fprintln(rc.stdout, "\nThe backends: pcl doctor")
	if missing {
		return errors.New("something that notebooks need is missing")
	}
	return err
}
