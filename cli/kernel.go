package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/kernel"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/pcl/backend"
)

// kernelCmd is `pcl kernel`, which installs, lists, removes and examines the Jupyter kernel.
type kernelCmd struct {
	Install kernelInstallCmd `cmd:"" help:"Install the kernel for the user, or bring it up to date."`
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
	return kernel.Options{Cache: filepath.Join(cache, "notebook"), Data: data, Progress: progressWriter(rc)}, nil
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
	if k.Moved != "" && !rc.quiet {
		fmt.Fprintln(rc.stderr, printable.Line(k.Moved))
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
	if !rc.quiet {
		fmt.Fprintf(rc.stdout, "%s: %s, version %s\n", k.Spec, k.Title, k.Version)
	}
	return nil
}

type kernelListCmd struct {
	JSON bool `name:"json" help:"Print the list as JSON."`
}

func (c *kernelListCmd) Run(rc *runContext) error {
	o, err := kernelOptions(rc)
	if err != nil {
		return err
	}
	list, err := kernel.List(o.Data)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(rc.stdout, append([]kernel.Kernel{}, list...)) // prints [] instead of null for an empty list
	}
	if len(list) == 0 {
		fmt.Fprintln(rc.stderr, "No kernel is installed: pcl kernel install")
		return nil
	}
	w := tabwriter.NewWriter(rc.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTITLE\tVERSION\tMODULE")
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", printable.Line(k.Name), printable.Line(k.Title), k.Version, printable.Line(k.Source))
	}
	return w.Flush()
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

type kernelRemoveCmd struct {
	Versions []string `arg:"" optional:"" name:"version" help:"Versions to remove, as pcl kernel list names them."`
	All      bool     `help:"Remove every kernel, and from the cache the tools and the private JupyterLab."`
}

func (c *kernelRemoveCmd) Run(rc *runContext) error {
	if c.All == (len(c.Versions) > 0) {
		return usageError{errors.New("name the versions to remove, or give --all")}
	}
	o, err := kernelOptions(rc)
	if err != nil {
		return err
	}
	list, err := kernel.List(o.Data)
	if err != nil {
		return err
	}
	chosen := list
	if !c.All {
		if chosen, err = withVersions(list, c.Versions); err != nil {
			return usageError{err}
		}
	}
	for _, k := range chosen {
		if err := kernel.Remove(o.Cache, k); err != nil {
			return err
		}
		if !rc.quiet {
			fmt.Fprintf(rc.stdout, "removed %s\n", printable.Line(k.Spec))
		}
	}
	if c.All {
		return os.RemoveAll(o.Cache)
	}
	return nil
}

func withVersions(list []kernel.Kernel, versions []string) ([]kernel.Kernel, error) {
	var chosen []kernel.Kernel
	for _, v := range versions {
		n := len(chosen)
		for _, k := range list {
			if k.Version == v || k.Name == v {
				chosen = append(chosen, k)
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("no kernel of version %q is installed; pcl kernel list shows them", v)
		}
	}
	return chosen, nil
}

type kernelDoctorCmd struct {
	JSON bool `name:"json" help:"Print the report as JSON."`
}

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
	if c.JSON {
		err = printJSON(rc.stdout, checks)
	} else {
		err = printChecks(rc.stdout, checks)
	}
	if err != nil {
		return err
	}
	for _, check := range checks {
		if !check.OK {
			return errors.New("something that notebooks need is missing")
		}
	}
	return nil
}

func printChecks(out io.Writer, checks []kernel.Check) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range checks {
		state := "ok"
		if !c.OK {
			state = "missing"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", printable.Line(c.Name), state, printable.Line(c.Detail))
		if c.Mend != "" {
			fmt.Fprintf(w, "\t\tto fix it: %s\n", printable.Line(c.Mend))
		}
	}
	fmt.Fprintln(w, "\nThe backends: pcl doctor")
	return w.Flush()
}
