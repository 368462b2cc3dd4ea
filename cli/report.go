package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/viz/report"
)

// reportCmd makes pages from runs, grids or notebooks, whichever its paths name.
type reportCmd struct {
	Paths    []string `arg:"" optional:"" name:"path" help:"Folders or result files of runs (default: runs); grids, as for pcl grid run, or files that pcl export csv wrote of them; or notebooks. A folder may have any one of these."`
	Out      string   `short:"o" type:"stdout" placeholder:"PATH" help:"Page to write, or the site's folder (default: report.html, NOTEBOOK.html, site; standard output for --markdown)."`
	Title    string   `placeholder:"TEXT" help:"Title of the page, or of a site. The page of one notebook has the notebook's."`
	PDF      bool     `name:"pdf" help:"Print the page, or every page of the site, to a PDF beside it, with Chromium or Chrome."`
	JSON     bool     `name:"json" help:"Print how the methods of runs, or of your own grids, compare as JSON, instead of text, beside the page."`
	Against  string   `placeholder:"METHOD" help:"The method that the others are compared with (default: emgd if the runs have it, or the first)."`
	Markdown bool     `help:"Write a text about grids like REPRODUCTION.md instead of a page. It depends on the results alone, not on the day or the machine."`
	All      bool     `help:"Make a site of all notebooks in the folder (default: notebooks)."`
	Execute  *bool    `negatable:"" help:"Execute notebooks even if they have results; with --no-execute, a notebook without results is an error."`
	Private  bool     `help:"Execute with the private JupyterLab even where the user has one."`
	moduleFlag
	gridFlags

	about     subject
	notebooks []string // those that Paths name
	browser   string   // the browser that prints PDFs
	nbconvert string   // the program that executes notebooks; empty until it is found
}

// subject is what a page is about.
type subject string

const (
	aboutRuns      subject = "runs"
	aboutGrids     subject = "grids"
	aboutNotebooks subject = "notebooks"
)

// Validate looks for what the paths name, and checks the flags.
func (c *reportCmd) Validate() error {
	if err := c.look(); err != nil {
		return err
	}
	return c.checkFlags()
}

func (c *reportCmd) Run(rc *runContext) (err error) {
	if err := c.checkOut(); err != nil {
		return err
	}
	if c.PDF {
		if c.browser, err = report.FindBrowser(); err != nil {
			return err
		}
	}
	switch c.about {
	case aboutNotebooks:
		return c.pages(rc)
	case aboutGrids:
		return c.grids(rc)
	}
	return c.runs(rc)
}

// thisCommand is what a page says about how it was made.
func thisCommand() report.Origin {
	version, commit := origin.Version()
	return report.Origin{Command: madeBy(), Version: version + " " + commit, Made: time.Now()}
}

// look finds out what the paths name, which has to be of one kind.
func (c *reportCmd) look() error {
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
		case c.All && about != aboutNotebooks:
			return fmt.Errorf("no notebooks (*.ipynb) in %s", path)
		case i > 0 && about != c.about:
			return fmt.Errorf("%s stands for %s but %s for %s: make a page of each", c.Paths[0], c.about, path, about)
		}
		c.about, c.notebooks = about, append(c.notebooks, notebooks...)
		c.All = c.All || about == aboutNotebooks && !isNotebook(path) || len(c.notebooks) > 1
	}
	return nil
}

// lookAt says what a path names, and lists the notebooks there. A folder of exported tables has no folders in it, as runs would be.
func lookAt(path string) (about subject, notebooks []string, err error) {
	if grid.IsName(path) {
		return aboutGrids, nil, nil
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
	about = aboutRuns
	for _, file := range files {
		switch {
		case isNotebook(file):
			about, notebooks = aboutNotebooks, append(notebooks, file)
		case filepath.Ext(file) == ".csv" && !folders && notebooks == nil:
			about = aboutGrids
		}
	}
	return about, notebooks, nil
}

// isNotebook reports whether a file is a notebook, by its name.
func isNotebook(path string) bool { return filepath.Ext(path) == ".ipynb" }

// checkOut returns an error if the page or site cannot be written, before a notebook is executed for minutes.
func (c *reportCmd) checkOut() error {
	switch {
	case c.Markdown:
		return nil
	case c.All && isStandardOutput(c.Out):
		return usagef("--out -: a site is written to a folder: name it")
	case c.All:
		return atomicfile.Check(filepath.Join(c.out("site"), report.IndexFile))
	case c.about == aboutNotebooks:
		return checkPage(c.page(c.notebooks[0]))
	}
	return checkPage(c.out("report.html"))
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

// checkFlags refuses flags that would do nothing.
func (c *reportCmd) checkFlags() error {
	does := c.Execute != nil && *c.Execute
	for _, f := range []struct {
		name  string
		given bool
		about []subject
	}{
		{"execute", does, []subject{aboutNotebooks}},
		{"no-execute", c.Execute != nil && !does, []subject{aboutNotebooks}},
		{"private", c.Private, []subject{aboutNotebooks}},
		{"module", c.Module != "", []subject{aboutNotebooks}},
		{"json", c.JSON, []subject{aboutRuns, aboutGrids}},
		{"against", c.Against != "", []subject{aboutRuns, aboutGrids}},
		{"markdown", c.Markdown, []subject{aboutGrids}},
		{"size", c.Size != "", []subject{aboutGrids}},
		{"tuned", c.Tuned, []subject{aboutGrids}},
		{"tuned-from", c.TunedFrom != "", []subject{aboutGrids}},
	} {
		if f.given && !slices.Contains(f.about, c.about) {
			return fmt.Errorf("--%s does nothing for %s: leave it out", f.name, c.about)
		}
	}
	switch {
	case c.Private && c.Execute != nil && !does:
		return errors.New("--private says how notebooks are executed, and --no-execute that they are not: leave one out")
	case c.about == aboutNotebooks && !c.All && c.Title != "":
		return errors.New("--title is for a report of runs or grids or for a site; the page of one notebook has the notebook's title: leave it out, or make a site with --all")
	case c.Markdown && (c.Title != "" || c.PDF || c.JSON || c.Against != ""):
		return errors.New("--title, --pdf, --json and --against are for a page; --markdown writes a text with a title of its own: leave them out")
	}
	return nil
}

// runs makes the page about runs of files.
func (c *reportCmd) runs(rc *runContext) error {
	files, err := report.FindRuns(c.Paths...)
	if err != nil {
		return err
	}
	if err := c.write(rc, report.RunsInput{Files: files}); err != nil {
		return err
	}
	return c.compared(rc, versus.Of(rows.Of(runsOf(files)), cmp.Or(c.Against, "emgd")))
}

// write writes the page about runs.
func (c *reportCmd) write(rc *runContext, in report.RunsInput) error {
	in.Title, in.Origin = c.Title, thisCommand()
	return atomicfile.Write(c.out("report.html"), func(w io.Writer) error { return report.Runs(rc.ctx, w, in) })
}

func (c *reportCmd) out(name string) string { return cmp.Or(c.Out, name) }

// compared prints how the methods on a page compare, and finishes the page.
func (c *reportCmd) compared(rc *runContext, all []*versus.Table) error {
	if err := printVersus(rc, all, c.JSON); err != nil {
		return err
	}
	return c.finish(rc, c.out("report.html"), []string{c.out("report.html")})
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
	if c.JSON {
		return nil
	}
	return rc.done("The page: %s", begin)
}
