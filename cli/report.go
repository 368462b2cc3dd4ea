package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/internal/paper"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results"
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

// Validate finds out what the paths name, which has to be of one kind, and checks the name of the
// page.
func (c *reportCmd) Validate() (err error) {
	if len(c.Paths) == 0 {
		c.Paths = []string{"runs"}
		if c.All {
			c.Paths = []string{"notebooks"}
		}
	}
	for i, path := range c.Paths {
		about, notebooks, err := lookAt(path)
		if err != nil {
			return err
		}
		if c.All && about != "notebooks" {
			return fmt.Errorf("no notebooks (*.ipynb) in %s", path)
		}
		if i > 0 && about != c.about {
			return fmt.Errorf("%s stands for %s but %s for %s: make a page of each", c.Paths[0], c.about, path, about)
		}
		c.about, c.notebooks = about, append(c.notebooks, notebooks...)
		c.All = c.All || about == "notebooks" && filepath.Ext(path) != ".ipynb" || len(c.notebooks) > 1
	}
	if c.Markdown && c.about != "grids" {
		return errors.New("--markdown is for grids: leave it out")
	}
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

// lookAt says what a path names, and lists the notebooks there. A folder of exported tables has no
// folders in it, as runs would be.
func lookAt(path string) (about string, notebooks []string, err error) {
	if grid.IsName(path) {
		return "grids", nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	dir, entries := filepath.Dir(path), []fs.DirEntry{fs.FileInfoToDirEntry(info)}
	if info.IsDir() {
		dir = path
		if entries, err = os.ReadDir(path); err != nil {
			return "", nil, err
		}
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
		return "notebooks", notebooks, nil
	case tables && !folders:
		return "grids", nil, nil
	}
	return "runs", nil, nil
}

func (c *reportCmd) Run(rc *runContext) error {
	if c.PDF {
		var err error
		if c.browser, err = report.FindBrowser(); err != nil {
			return err
		}
	}
	if c.about == "notebooks" {
		return c.pages(rc)
	}
	in, err := c.material()
	if err != nil {
		return err
	}
	if c.Markdown {
		from := make([]string, len(c.Paths))
		for i, path := range c.Paths {
			from[i] = "`" + shown(path) + "`"
		}
		return rc.writeTo(c.Out, func(w io.Writer) error { return in.Findings.Markdown(w, strings.Join(from, ", ")) })
	}
	if err := atomicfile.Write(c.Out, func(w io.Writer) error { return report.Runs(rc.ctx, w, in) }); err != nil {
		return err
	}
	var compared []*versus.Table
	for _, g := range in.Findings.Grids {
		if paper.Own(g) {
			compared = append(compared, versus.Of(g.Columns, versus.Preferred(g.Columns))...)
		}
	}
	return cmp.Or(versus.Text(rc.stdout, compared), c.finish(rc, c.Out))
}

// material reads the runs, or the results of grids with the notes beside them, that the paths stand
// for.
func (c *reportCmd) material() (report.RunsInput, error) {
	in := report.RunsInput{Title: c.Title, Origin: thisCommand()}
	if c.about == "runs" {
		var err error
		if in.Files, err = results.Find(c.Paths...); err != nil {
			return report.RunsInput{}, err
		}
		if in.Findings, err = report.FindingsOf(in.Files); err != nil {
			return report.RunsInput{}, err
		}
		return in, nil
	}
	var all []*rows.Row
	for _, name := range c.Paths {
		if grid.IsName(name) {
			found, err := c.results([]string{name})
			if err != nil {
				return report.RunsInput{}, err
			}
			all = append(all, found[0].Table()...)
			continue
		}
		table, err := rows.Files(name)
		if err != nil {
			return report.RunsInput{}, err
		}
		all = append(all, table...)
	}
	var err error
	if in.Findings, err = paper.New(all, c.Paths...); err != nil {
		return report.RunsInput{}, err
	}
	return in, nil
}

// thisCommand is what a page says about how it was made.
func thisCommand() report.Origin {
	version, commit := origin.Version()
	return report.Origin{Command: madeBy(), Version: version + " " + commit, Made: time.Now()}
}

// finish prints pages to PDFs if asked to, and says which page to open first.
func (c *reportCmd) finish(rc *runContext, pages ...string) error {
	for i := 0; i < len(pages) && c.PDF; i++ {
		if err := report.PDF(rc.ctx, c.browser, pages[i], strings.TrimSuffix(pages[i], filepath.Ext(pages[i]))+
			".pdf"); err != nil {
			return err
		}
	}
	return rc.done("The page: %s", pages[0])
}
