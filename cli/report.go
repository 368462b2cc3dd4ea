package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/viz/report"
)

// reportCmd makes pages from runs, grids or notebooks, whichever its paths name.
type reportCmd struct {
	Paths    []string `arg:"" optional:"" name:"path" help:"Folders or result files of runs (default: runs); grids, as for pcl grid run, or files that pcl export csv wrote of them; or notebooks. A folder may have any one of these."`
	Out      string   `short:"o" type:"path" placeholder:"PATH" help:"Page to write, or the site's folder (default: report.html, NOTEBOOK.html, site; standard output for --markdown)."`
	Title    string   `placeholder:"TEXT" help:"Title of the page about runs or grids, or of a site. The page of one notebook has the notebook's."`
	PDF      bool     `name:"pdf" help:"Print the page, or every page of the site, to a PDF beside it, with Chromium or Chrome."`
	Markdown bool     `help:"Write a text about grids like REPRODUCTION.md instead of a page. It depends on the results alone, not on the day or the machine."`
	All      bool     `help:"Make a site of all notebooks in the folder (default: notebooks)."`
	Execute  *bool    `negatable:"" help:"Execute notebooks even if they have results; with --no-execute, one without any is an error."`
	Private  bool     `help:"Execute with the private JupyterLab even where the user has one."`
	moduleFlag
	gridFlags

	about     string   // what the page is about: runs, grids or notebooks
	notebooks []string // those that Paths name
	browser   string   // the browser that prints PDFs
	nbconvert string   // the program that executes notebooks; empty until it is found
}

// Validate finds out what the paths name, which has to be of one kind, and checks the name of the page.
func (c *reportCmd) Validate() error {
	if len(c.Paths) == 0 {
		c.Paths = []string{"runs"}
		if c.All {
			c.Paths = []string{"notebooks"}
		}
	}
	for i, path := range c.Paths {
		about, notebooks, err := lookAt(path)
		switch {
		case err != nil:
			return err
		case c.All && about != "notebooks":
			return fmt.Errorf("no notebooks (*.ipynb) in %s", path)
		case i > 0 && about != c.about:
			return fmt.Errorf("%s stands for %s but %s for %s: make a page of each", c.Paths[0], c.about, path, about)
		}
		c.about, c.notebooks = about, append(c.notebooks, notebooks...)
		c.All = c.All || about == "notebooks" && !isNotebook(path) || len(c.notebooks) > 1
	}
	switch {
	case c.Markdown:
		return nil
	case c.All:
		c.Out = cmp.Or(c.Out, "site")
		return nil
	case c.about == "notebooks":
		c.Out = cmp.Or(c.Out, strings.TrimSuffix(filepath.Base(c.notebooks[0]), ".ipynb")+".html")
	}
	c.Out = cmp.Or(c.Out, "report.html")
	return checkEnding("--out", c.Out, ".html", ".htm")
}

// lookAt says what a path names, and lists the notebooks there. A folder of exported tables has no folders in it, as runs would be.
func lookAt(path string) (about string, notebooks []string, err error) {
	if grid.IsName(path) {
		return "grids", nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	files := []string{path}
	folders := false
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return "", nil, err
		}
		files = nil
		for _, e := range entries {
			files = append(files, filepath.Join(path, e.Name()))
			folders = folders || !e.Type().IsRegular()
		}
	}
	about = "runs"
	for _, file := range files {
		switch {
		case isNotebook(file):
			about, notebooks = "notebooks", append(notebooks, file)
		case filepath.Ext(file) == ".csv" && !folders && notebooks == nil:
			about = "grids"
		}
	}
	return about, notebooks, nil
}

// isNotebook reports whether a file is a notebook, by its name.
func isNotebook(path string) bool { return filepath.Ext(path) == ".ipynb" }

func (c *reportCmd) Run(rc *runContext) (err error) {
	if c.PDF {
		if c.browser, err = report.FindBrowser(); err != nil {
			return err
		}
	}
	switch {
	case c.Markdown:
		return c.markdown(rc)
	case c.All: // before a notebook is executed for minutes
		err = atomicfile.Check(filepath.Join(c.Out, report.IndexFile))
	default:
		err = atomicfile.Check(c.Out)
	}
	if err != nil {
		return err
	}
	switch c.about {
	case "notebooks":
		return c.pages(rc)
	case "grids":
		return c.grids(rc)
	}
	return c.runs(rc)
}

// thisCommand is what a page says about how it was made.
func thisCommand() report.Origin {
	version, commit := origin.Version()
	return report.Origin{Command: madeBy(), Version: version + " " + commit, Made: time.Now()}
}

// runs writes the page about runs, and prints how their methods compare.
func (c *reportCmd) runs(rc *runContext) error {
	files, err := report.FindRuns(c.Paths...)
	if err != nil {
		return err
	}
	if err := c.write(rc, report.RunsInput{Files: files}); err != nil {
		return err
	}
	compared := findings.Columns(rows.Of(runsOf(files)))
	if err := versus.Text(rc.stdout, versus.Of(compared, versus.Preferred(compared))); err != nil {
		return err
	}
	return c.finish(rc, c.Out)
}

// write writes the page about runs or grids.
func (c *reportCmd) write(rc *runContext, in report.RunsInput) error {
	in.Title, in.Origin = c.Title, thisCommand()
	return atomicfile.Write(c.Out, func(w io.Writer) error { return report.Runs(rc.ctx, w, in) })
}

// finish prints pages to PDFs if asked to, and says which page to open first.
func (c *reportCmd) finish(rc *runContext, begin string, pages ...string) error {
	if !c.PDF {
		return rc.done("The page: %s", begin)
	}
	for _, page := range append(pages, begin) {
		if err := report.PDF(rc.ctx, c.browser, page, strings.TrimSuffix(page, filepath.Ext(page))+".pdf"); err != nil {
			return err
		}
	}
	return rc.done("The page: %s", begin)
}
