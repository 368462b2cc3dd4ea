package tables

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// LaTeX writes a line for each method and a pair of columns, A and F, for each data set and increment. Numbers are means
// over the seeds and, as ±, their population standard deviation; runs on other label sets or timelines have lines of their
// own. The table needs the package booktabs.
func LaTeX(out io.Writer, runs []*results.Run) error {
	if len(runs) == 0 {
		return errors.New("no runs")
	}
	var columns []Column
	var lines []string
	entries := map[string]map[Column]results.RunGroup{}
	for _, g := range results.Group(runs) {
		c, line := Column{g.Runs[0].Dataset, g.Runs[0].Increment}, g.Label()+situation(g.Runs[0], runs)
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if entries[line] == nil {
			lines, entries[line] = append(lines, line), map[Column]results.RunGroup{}
		}
		if _, twice := entries[line][c]; twice {
			return fmt.Errorf("there are several groups of runs of %s on %s, %s-incremental, which differ in their settings: export them one by one", line, c.Dataset, c.Increment)
		}
		entries[line][c] = g
	}
	if err := Diverged(out, columns, lines, func(line string, c Column) []*results.Run { return entries[line][c].Runs }); err != nil {
		return err
	}
	return Booktabs(out, columns, lines, func(line string, c Column) (a, f string) {
		g, there := entries[line][c]
		if !there {
			return "", ""
		}
		return moment(g.Moment(func(r *results.Run) float64 { return r.A })), moment(g.Moment(func(r *results.Run) float64 { return r.F }))
	})
}

// situation names a run's label set and timeline if the runs have several.
func situation(r *results.Run, runs []*results.Run) string {
	for _, other := range runs {
		if other.LabelSet != r.LabelSet || other.Timeline != r.Timeline {
			return fmt.Sprintf(", label set %d, timeline %d", r.LabelSet, r.Timeline)
		}
	}
	return ""
}

func moment(m results.Moment) string {
	if m.N < 2 {
		return Mean(m.Mean)
	}
	return Spread(m.Mean, m.Std())
}
