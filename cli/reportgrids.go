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

// grids writes the page, or the text, about what results of grids show.
func (c *reportCmd) grids(rc *runContext) error {
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
	if err := c.write(rc, report.RunsInput{Findings: found, Notes: notes}); err != nil {
		return err
	}
	compared := []*versus.Table{}
	for _, g := range found.Grids {
		if g.Own() {
			compared = append(compared, versus.Of(g.Rows, c.Against)...)
		}
	}
	return c.compared(rc, compared)
}

// source says where the results are from.
func (c *reportCmd) source() string {
	parts := make([]string, len(c.Paths))
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
	return strings.Join(parts, ", ")
}

// found reads the results that the names stand for, and the notes beside them.
func (c *reportCmd) found() (all []*rows.Row, notes map[string]string, err error) {
	notes = map[string]string{}
	for _, name := range c.Paths {
		if !grid.IsName(name) {
			own, err := exported(name, notes)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, own...)
			continue
		}
		own, err := c.gridFlags.results([]string{name})
		if err != nil {
			return nil, nil, err
		}
		all = append(all, own[0].Table()...)
	}
	return all, notes, nil
}

// exported reads a file or folder of exported results, and adds the folder's notes.
func exported(path string, notes map[string]string) ([]*rows.Row, error) {
	own, err := findings.ReadNotes(path)
	if err != nil {
		return nil, err
	}
	maps.Copy(notes, own)
	return rows.Files(path)
}
