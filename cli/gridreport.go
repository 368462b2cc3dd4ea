package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/viz/report"
)

// gridReportCmd says what the results of grids show.
type gridReportCmd struct {
	Names []string `arg:"" name:"name" help:"Grids, as for pcl grid run; files that pcl export csv wrote of grids, or folders of them."`
	gridFlags
	Markdown bool   `help:"Write a text like REPRODUCTION.md instead of a page. It depends on the results alone: neither the day nor the machine plays a part."`
	Out      string `short:"o" type:"stdout" placeholder:"FILE" help:"File to write (default: grids.html, or standard output for --markdown)."`
	Title    string `placeholder:"TEXT" help:"Title of the page."`
}

// Validate refuses a title that would do nothing, and a file for a page that cannot be one. It fills in the default.
func (c *gridReportCmd) Validate() error {
	switch {
	case c.Markdown && c.Title != "":
		return errors.New("--title is for a page; the text of --markdown has a title of its own: leave it out")
	case c.Markdown:
		return nil
	}
	c.Out = cmp.Or(c.Out, "grids.html")
	return isPage(c.Out)
}

func (c *gridReportCmd) Run(rc *runContext) error {
	all, notes, err := c.found()
	if err != nil {
		return err
	}
	found, err := findings.New(all)
	if err != nil {
		return err
	}
	if c.Markdown {
		return rc.writeTo(cmp.Or(c.Out, standardOutput), func(w io.Writer) error { return found.Markdown(w, c.source(), notes) })
	}
	in := report.GridsInput{Title: c.Title, Findings: found, Notes: notes, Origin: thisCommand()}
	if err := rc.writeTo(c.Out, func(w io.Writer) error { return report.Grids(rc.ctx, w, in) }); err != nil {
		return err
	}
	return rc.done("The page: %s", c.Out)
}

// source says where the results are from.
func (c *gridReportCmd) source() string {
	parts := make([]string, len(c.Names))
	for i, name := range c.Names {
		switch {
		case grid.IsName(name):
			parts[i] = "the results of " + name
		case filepath.Ext(name) == ".csv":
			parts[i] = fmt.Sprintf("[%s](%[1]s)", shown(name))
		default:
			parts[i] = fmt.Sprintf("the files in [%s](%[1]s)", shown(name))
		}
	}
	return strings.Join(parts, ", ")
}

// found reads the results that the names stand for, and the notes beside them.
func (c *gridReportCmd) found() (all []*rows.Row, notes map[string]string, err error) {
	notes = map[string]string{}
	for _, name := range c.Names {
		if !grid.IsName(name) {
			own, err := exported(name, notes)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, own...)
			continue
		}
		own, err := c.results([]string{name})
		if err != nil {
			return nil, nil, err
		}
		all = append(all, own[0].Table()...)
	}
	return all, notes, nil
}

// exported reads a file or folder of exported results, and adds the folder's notes.
func exported(path string, notes map[string]string) ([]*rows.Row, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, usageError{err}
	}
	own, err := findings.ReadNotes(path)
	if err != nil {
		return nil, err
	}
	maps.Copy(notes, own)
	return rows.Files(path)
}
