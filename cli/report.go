package cli

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/fail"
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
func (c *reportCmd) Validate() (err error) {
	defer fail.Caught(&err)
	if len(c.Paths) == 0 {
		c.Paths = []string{"runs"}
		if c.All {
			c.Paths = []string{"notebooks"}
		}
	}
	for i, path := range c.Paths {
		about, notebooks := lookAt(path)
		fail.When(c.All && about != "notebooks", "no notebooks (*.ipynb) in %s", path)
		fail.When(i > 0 && about != c.about, "%s stands for %s but %s for %s: make a page of each", c.Paths[0], c.about, path, about)
		c.about, c.notebooks = about, append(c.notebooks, notebooks...)
		c.All = c.All || about == "notebooks" && filepath.Ext(path) != ".ipynb" || len(c.notebooks) > 1
	}
	fail.When(c.Markdown && c.about != "grids", "--markdown is for grids: leave it out")
	switch {
	case c.Markdown:
		c.Out = cmp.Or(c.Out, standardOutput)
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
func lookAt(path string) (about string, notebooks []string) {
	if grid.IsName(path) {
		return "grids", nil
	}
	info := fail.Or(os.Stat(path))
	dir, entries := filepath.Dir(path), []fs.DirEntry{fs.FileInfoToDirEntry(info)}
	if info.IsDir() {
		dir, entries = path, fail.Or(os.ReadDir(path))
	}
	tables, folders := false, false
	for _, e := range entries {
		ending := filepath.Ext(e.Name())
		tables, folders = tables || ending == ".csv", folders || !e.Type().IsRegular()
		if ending == ".ipynb" {
			notebooks = append(notebooks, filepath.Join(dir, e.Name()))
		}
	}
	switch {
	case notebooks != nil:
		return "notebooks", notebooks
	case tables && !folders:
		return "grids", nil
	}
	return "runs", nil
}

func (c *reportCmd) Run(rc *runContext) error {
	if c.PDF {
		c.browser = fail.Or(report.FindBrowser())
	}
	if c.about == "notebooks" {
		return c.pages(rc)
	}
	in := c.material()
	if c.Markdown {
		from := make([]string, len(c.Paths))
		for i, path := range c.Paths {
			from[i] = "`" + shown(path) + "`"
		}
		return rc.writeTo(c.Out, func(w io.Writer) error { return in.Findings.Markdown(w, strings.Join(from, ", ")) })
	}
	fail.If(atomicfile.Write(c.Out, func(w io.Writer) error { return report.Runs(rc.ctx, w, in) }))
	var compared []*versus.Table
	for _, g := range in.Findings.Grids {
		if g.Own() {
			compared = append(compared, versus.Of(g.Columns, versus.Preferred(g.Columns))...)
		}
	}
	return cmp.Or(versus.Text(rc.stdout, compared), c.finish(rc, c.Out))
}

// material reads the runs, or the results of grids with the notes beside them, that the paths stand for.
func (c *reportCmd) material() report.RunsInput {
	in := report.RunsInput{Title: c.Title, Origin: thisCommand()}
	if c.about == "runs" {
		in.Files = fail.Or(report.FindRuns(c.Paths...))
		in.Findings = fail.Or(report.FindingsOf(in.Files))
		return in
	}
	var all []*rows.Row
	for _, name := range c.Paths {
		if grid.IsName(name) {
			all = append(all, c.results([]string{name})[0].Table()...)
			continue
		}
		all = append(all, fail.Or(rows.Files(name))...)
	}
	in.Findings = fail.Or(findings.New(all, c.Paths...))
	return in
}

// thisCommand is what a page says about how it was made.
func thisCommand() report.Origin {
	version, commit := origin.Version()
	return report.Origin{Command: madeBy(), Version: version + " " + commit, Made: time.Now()}
}

// finish prints pages to PDFs if asked to, and says which page to open first.
func (c *reportCmd) finish(rc *runContext, pages ...string) error {
	for i := 0; i < len(pages) && c.PDF; i++ {
		fail.If(report.PDF(rc.ctx, c.browser, pages[i], strings.TrimSuffix(pages[i], filepath.Ext(pages[i]))+".pdf"))
	}
	return rc.done("The page: %s", pages[0])
}
