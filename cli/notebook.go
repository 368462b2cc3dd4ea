package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel"
)

// notebookCmd is `pcl notebook`, which installs what is missing and opens JupyterLab.
type notebookCmd struct {
	moduleFlag
	Path      string   `arg:"" optional:"" help:"Folder or notebook to open (default: the quickstart; . for the current folder)."`
	NoBrowser bool     `name:"no-browser" help:"Print the address instead of opening a browser."`
	Private   bool     `help:"Use the private JupyterLab even where the user has one."`
	Jupyter   []string `sep:"none" placeholder:"ARG" help:"Argument for jupyter-lab, e.g. --jupyter=--port=9999; may be repeated."`
}

// Validate wants what it is to open to be there.
func (c *notebookCmd) Validate() error {
	if _, err := os.Stat(c.Path); c.Path != "" {
		return err
	}
	return nil
}

// Run installs what is missing and serves JupyterLab until it is interrupted.
func (c *notebookCmd) Run(rc *runContext, o kernel.Options) error {
	var lab kernel.Lab
	k, err := c.install(rc, o, func(ctx context.Context, o kernel.Options) (err error) {
		lab, err = kernel.Jupyter(ctx, o, c.Private)
		return err
	})
	if err != nil {
		return err
	}
	if c.Path == "" {
		if c.Path, err = kernel.Quickstart(k); err != nil {
			return err
		}
	}
	rc.note("Starting JupyterLab %s. Press Ctrl-C to stop it.", lab.Version)
	return c.serve(rc, lab)
}

// serve runs JupyterLab until an interrupt. JupyterLab then ends without asking, and so do its
// kernels.
func (c *notebookCmd) serve(rc *runContext, lab kernel.Lab) error {
	args := c.args(os.Geteuid())
	if slices.Contains(args, allowRoot) {
		rc.note("You are root, so all cells run as root. To reach JupyterLab from outside a container, add " +
			"--jupyter=--ip=0.0.0.0 and publish its port.")
	}
	cmd := exec.CommandContext(rc.ctx, lab.Path, args...)
	cmd.Stdout, cmd.Stderr = rc.stdout, rc.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	defer rc.hold()() // so that JupyterLab ends before this program does
	err := cmd.Run()
	if err != nil && rc.ctx.Err() == nil {
		return fmt.Errorf("JupyterLab: %w", err)
	}
	return nil
}

// allowRoot is the flag without which Jupyter refuses to run as root.
const allowRoot = "--allow-root"

// args returns the arguments for JupyterLab when it is run by the user with this id.
func (c *notebookCmd) args(uid int) []string {
	args := []string{"-y", "--log-level=WARN"}
	if uid == 0 && !slices.Contains(c.Jupyter, allowRoot) {
		args = append(args, allowRoot)
	}
	if c.NoBrowser {
		args = append(args, "--no-browser")
	}
	if info, err := os.Stat(c.Path); err == nil && info.Mode().IsRegular() && !c.elsewhere() {
		args = append(args, "--LabApp.default_url=/lab/tree/"+url.PathEscape(filepath.Base(c.Path)))
	}
	args = append(args, c.Jupyter...)
	if c.Path != "" {
		args = append(args, c.Path)
	}
	return args
}

// elsewhere reports whether the user's own arguments choose the page or the folder. If they do not,
// the notebook's folder is the root of JupyterLab, and the address that is printed leads to the
// notebook, just as a browser that is opened would show it.
func (c *notebookCmd) elsewhere() bool {
	return slices.ContainsFunc(c.Jupyter, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return strings.HasSuffix(name, "default_url") || strings.HasSuffix(name, "dir")
	})
}
