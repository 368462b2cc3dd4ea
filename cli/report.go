package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/viz/report"
)

// reportCmd makes pages from results and from notebooks.
type reportCmd struct {
	Paths   []string `arg:"" optional:"" name:"path" help:"Result files or folders of runs (default: runs), or notebooks, or a folder of notebooks."`
	All     bool     `help:"Make a site of all notebooks in the folder (default: notebooks)."`
	Out     string   `short:"o" type:"path" placeholder:"PATH" help:"Page to write, or the site's folder (default: report.html, NOTEBOOK.html, site)."`
	Title   string   `placeholder:"TEXT" help:"Title of a report of runs, or of a site."`
	PDF     bool     `name:"pdf" help:"Print the page, or every page of the site, to a PDF beside it, with Chromium or Chrome."`
	Execute *bool    `negatable:"" help:"Execute notebooks even if they have results; with --no-execute, a notebook without results is an error."`
	JSON    bool     `name:"json" help:"Print how the methods of runs compare as JSON, instead of text, beside the page."`
	Against string   `placeholder:"METHOD" help:"What methods of runs are compared with (default: emgd if it is there, or the first)."`
	Private bool     `help:"Execute with the private JupyterLab even where the user has one."`

	moduleFlag

	found     []string // the notebooks that Paths name; nil for runs
	browser   string   // the browser that prints PDFs
	nbconvert string   // the program that executes notebooks; empty until it is found
}

// Validate looks for what the paths name, and checks the flags.
func (c *reportCmd) Validate() (err error) {
	if c.found, err = c.notebooks(); err == nil {
		err = c.checkFlags(c.found)
	}
	return err
}

func (c *reportCmd) Run(rc *runContext) (err error) {
	if err := c.checkOut(c.found); err != nil {
		return err
	}
	if c.PDF {
		if c.browser, err = report.FindBrowser(); err != nil {
			return err
		}
	}
	if c.found == nil {
		return c.runs(rc, thisCommand())
	}
	return c.pages(rc, thisCommand(), c.found)
}

// thisCommand is what a page says about how it was made.
func thisCommand() report.Origin {
	version, commit := origin.Version()
	return report.Origin{Command: madeBy(), Version: version + " " + commit, Made: time.Now()}
}

// isNotebook reports whether a file is a notebook, by its name.
func isNotebook(path string) bool { return filepath.Ext(path) == ".ipynb" }

// notebooks returns the notebooks that the paths name, or nil if they name runs.
func (c *reportCmd) notebooks() ([]string, error) {
	if len(c.Paths) == 0 {
		c.Paths = []string{"runs"}
		if c.All {
			c.Paths = []string{"notebooks"}
		}
	}
	var out []string
	runs := ""
	for _, path := range c.Paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		n := len(out)
		if info.IsDir() {
			names, err := fs.Glob(os.DirFS(path), "*.ipynb") // the folder's own name may have brackets
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				out = append(out, filepath.Join(path, name))
			}
			c.All = c.All || len(names) > 0
		} else if isNotebook(path) {
			out = append(out, path)
		}
		if len(out) == n {
			runs = path
		}
	}
	switch {
	case c.All && runs != "":
		return nil, fmt.Errorf("no notebooks (*.ipynb) in %s", runs)
	case runs != "" && len(out) > 0:
		return nil, fmt.Errorf("%s is not a notebook but %s is: name either runs or notebooks", runs, out[0])
	}
	c.All = c.All || len(out) > 1
	return out, nil
}

// checkOut returns an error if the page or site cannot be written, before a notebook is executed for minutes.
func (c *reportCmd) checkOut(notebooks []string) error {
	switch {
	case c.All:
		return atomicfile.Check(filepath.Join(c.out("site"), report.IndexFile))
	case notebooks == nil:
		return checkPage(c.out("report.html"))
	}
	return checkPage(c.page(notebooks[0]))
}

// page is the file for the page of a single notebook.
func (c *reportCmd) page(notebook string) string {
	return c.out(strings.TrimSuffix(filepath.Base(notebook), ".ipynb") + ".html")
}

// checkPage returns an error if a page cannot be written to a file.
func checkPage(path string) error {
	if err := isPage(path); err != nil {
		return usageError{err}
	}
	return atomicfile.Check(path)
}

// isPage returns an error if a page cannot be what a file's name says, which those who open it would believe.
func isPage(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".pdf", ".png", ".svg", ".ipynb", ".json", ".csv", ".md":
		return fmt.Errorf("--out %s: a page is HTML: give the file the ending .html", path)
	}
	if path == standardOutput {
		return errors.New("--out -: a page is written to a file: name it")
	}
	return nil
}

// checkFlags refuses flags that would do nothing. notebooks are those that the paths name, or nil for runs.
func (c *reportCmd) checkFlags(notebooks []string) error {
	does := c.Execute != nil && *c.Execute
	for flag, given := range map[string]bool{"execute": does, "no-execute": c.Execute != nil && !does, "private": c.Private, "module": c.Module != ""} {
		if notebooks == nil && given {
			return fmt.Errorf("--%s is for notebooks; a report of runs executes nothing: leave it out", flag)
		}
	}
	switch {
	case notebooks != nil && (c.JSON || c.Against != ""):
		return errors.New("--json and --against are for a report of runs: leave them out")
	case c.Private && c.Execute != nil && !*c.Execute:
		return errors.New("--private says how notebooks are executed, and --no-execute that they are not: leave one out")
	case notebooks != nil && !c.All && c.Title != "":
		return errors.New("--title is for a report of runs or a site; the page of one notebook has the notebook's title: leave it out, or make a site with --all")
	}
	return nil
}

// runs writes the report of runs.
func (c *reportCmd) runs(rc *runContext, o report.Origin) error {
	files, err := report.FindRuns(c.Paths...)
	if err != nil {
		return err
	}
	out := c.out("report.html")
	in := report.RunsInput{Title: c.Title, Files: files, Origin: o}
	if err := atomicfile.Write(out, func(w io.Writer) error { return report.Runs(rc.ctx, w, in) }); err != nil {
		return err
	}
	runs := make([]*results.Run, len(files))
	for i, f := range files {
		runs[i] = f.Run
	}
	all, err := versus.Of(versus.Results(runs), cmp.Or(c.Against, "emgd"))
	if err != nil {
		return err
	}
	if err := printVersus(rc, all, c.JSON); err != nil || c.JSON {
		return err
	}
	return c.finish(rc, out, []string{out})
}

func (c *reportCmd) out(name string) string { return cmp.Or(c.Out, name) }

// pages writes the page of one notebook, or a site of several. The page shows cells that failed; they are returned
// as an error when everything has been written.
func (c *reportCmd) pages(rc *runContext, o report.Origin, paths []string) error {
	var notebooks []*report.Notebook
	var failed []error
	for _, path := range paths {
		if err := rc.ctx.Err(); err != nil {
			return err
		}
		n, err := report.ReadNotebook(path)
		if err != nil {
			return err
		}
		if err := c.results(rc, n); err != nil {
			return err
		}
		notebooks = append(notebooks, n)
		failed = append(failed, n.Failed())
	}
	var err error
	if c.All {
		err = c.site(rc, o, notebooks)
	} else {
		out := c.page(paths[0])
		err = atomicfile.Write(out, func(w io.Writer) error { return notebooks[0].Write(rc.ctx, w, o) })
		if err == nil {
			err = c.finish(rc, out, []string{out})
		}
	}
	for _, n := range notebooks {
		if left := n.LeftOut(); len(left) > 0 {
			rc.note("%s: not shown as in the notebook, as the page's end says:\n  %s", n.File, strings.Join(left, "\n  "))
		}
	}
	return errors.Join(append([]error{err}, failed...)...)
}

func (c *reportCmd) site(rc *runContext, o report.Origin, notebooks []*report.Notebook) error {
	dir := c.out("site")
	if err := report.Site(rc.ctx, dir, cmp.Or(c.Title, "Notebooks"), notebooks, o); err != nil {
		return err
	}
	var pages []string
	for _, n := range notebooks {
		pages = append(pages, filepath.Join(dir, strings.TrimSuffix(filepath.Base(n.File), ".ipynb")+".html"))
	}
	return c.finish(rc, filepath.Join(dir, report.IndexFile), pages)
}

// finish prints the pages to PDFs if asked to, and says which page to open first.
func (c *reportCmd) finish(rc *runContext, begin string, pages []string) error {
	if c.PDF {
		for _, page := range pages {
			if err := report.PDF(rc.ctx, c.browser, page, strings.TrimSuffix(page, filepath.Ext(page))+".pdf"); err != nil {
				return err
			}
		}
	}
	return rc.done("The page: %s", begin)
}

// results executes a notebook, unless it has results already or the flags say not to execute it.
func (c *reportCmd) results(rc *runContext, n *report.Notebook) error {
	switch {
	case c.Execute == nil && n.Executed():
		return nil
	case c.Execute != nil && !*c.Execute:
		if !n.HasResults() {
			return fmt.Errorf("%s was never executed: leave out --no-execute, or execute it in JupyterLab", n.File)
		}
		return nil
	}
	if err := c.prepare(rc); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pcl-report-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	defer rc.hold()() // so that an interrupt ends the kernel before this program
	begin := time.Now()
	rc.note("Executing %s...", n.File)
	if err := c.execute(rc.ctx, n, folder); err != nil {
		return err
	}
	executed, err := report.ReadNotebook(filepath.Join(folder, filepath.Base(n.File)))
	if err != nil {
		return err
	}
	rc.note("  done in %.0f s", time.Since(begin).Seconds())
	return n.TakeResults(executed)
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
	if _, err := c.install(rc, o); err != nil {
		return err
	}
	for _, private := range []bool{c.Private, true} { // the user's own JupyterLab may lack nbconvert
		lab, err := kernel.Jupyter(rc.ctx, o, private)
		if err != nil {
			return resumable(rc, err)
		}
		c.nbconvert, err = exec.LookPath(filepath.Join(filepath.Dir(lab.Path), "jupyter-nbconvert"))
		if err == nil {
			return nil
		}
	}
	return errors.New("the private JupyterLab has no nbconvert: pcl kernel remove --all, then try again")
}

// ourKernels are the kernel names in notebooks that stand for our kernel.
var ourKernels = []string{"", "gonb", kernel.Name}

// execute writes an executed copy of a notebook to a folder. The result of a cell that fails is its error.
func (c *reportCmd) execute(ctx context.Context, n *report.Notebook, folder string) error {
	args := []string{
		"--to", "notebook", "--execute", "--allow-errors", "--log-level=ERROR", "--ExecutePreprocessor.startup_timeout=300",
		"--output-dir", folder, "--output", filepath.Base(n.File),
	}
	if slices.Contains(ourKernels, n.Kernel()) {
		args = append(args, "--ExecutePreprocessor.kernel_name="+kernel.Name)
	}
	cmd := exec.CommandContext(ctx, c.nbconvert, append(args, n.File)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) } // upon which it ends its kernel
	cmd.WaitDelay = 20 * time.Second
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("execute %s: %w\n%s", n.File, err, strings.TrimSpace(string(said)))
	}
	return nil
}
