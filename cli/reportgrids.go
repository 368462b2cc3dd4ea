package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/viz/report"
)

// grids writes the page about what results of grids show, and prints how the methods of the user's own compare.
func (c *reportCmd) grids(rc *runContext) error {
	found, notes, err := c.found()
	if err != nil {
		return err
	}
	if err := c.write(rc, report.RunsInput{Findings: found, Notes: notes}); err != nil {
		return err
	}
	for _, g := range found.Grids {
		if !g.Own() {
			continue
		}
		if err := versus.Text(rc.stdout, versus.Of(g.Columns, versus.Preferred(g.Columns))); err != nil {
			return err
		}
	}
	return c.finish(rc, c.Out)
}

// markdown writes the text about what results of grids show.
func (c *reportCmd) markdown(rc *runContext) error {
	if c.about != "grids" {
		return usagef("--markdown is for grids: leave it out")
	}
	found, notes, err := c.found()
	if err != nil {
		return err
	}
	parts := make([]string, len(c.Paths)) // where the results are from
	for i, name := range c.Paths {
		switch {
		case grid.IsName(name):
			parts[i] = "the results of " + name
		case filepath.Ext(name) == ".csv":
			parts[i] = fmt.Sprintf("[%s](%[1]s)", shown(name))
		default:
			parts[i] = fmt.Sprintf("the files in [%s](%[1]s)", shown(name))
		}
	}
	return rc.writeTo(cmp.Or(c.Out, standardOutput), func(w io.Writer) error { return found.Markdown(w, strings.Join(parts, ", "), notes) })
}

// found reads the results that the names stand for, and the notes beside them.
func (c *reportCmd) found() (found *findings.Findings, notes map[string]string, err error) {
	var all []*rows.Row
	notes = map[string]string{}
	for _, name := range c.Paths {
		var own []*rows.Row
		if grid.IsName(name) {
			var r []*grid.Results
			if r, err = c.gridFlags.results([]string{name}); err == nil {
				own = r[0].Table()
			}
		} else {
			var beside map[string]string
			if beside, err = findings.ReadNotes(name); err == nil {
				maps.Copy(notes, beside)
				own, err = rows.Files(name)
			}
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, own...)
	}
	found, err = findings.New(all)
	return found, notes, err
}
