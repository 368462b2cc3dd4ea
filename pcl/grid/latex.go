package grid

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/tables"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// LaTeX writes the grid as a table in the form of the paper's: a line for each method and a pair of columns, A and F,
// for each data set and increment. Numbers are means over the finished runs and, as ±, the population standard
// deviation of the seeds' means (docs/protocol.md §3.2). Where runs are missing, there is the mean and the number of
// runs. A comment at the top names entries with diverged runs. The table needs the package booktabs.
func (r *Results) LaTeX(out io.Writer) error {
	columns, lines := r.layout()
	if _, err := fmt.Fprintf(out, "%% %s: %s\n", r.Name, r.Title); err != nil {
		return err
	}
	if err := tables.Diverged(out, columns, lines, func(line string, c tables.Column) []*results.Run { return r.finished(r.rows(line, c)) }); err != nil {
		return err
	}
	return tables.Booktabs(out, columns, lines, func(line string, c tables.Column) (a, f string) {
		rows := r.rows(line, c)
		return r.entry(rows, func(x *results.Run) float64 { return x.A }), r.entry(rows, func(x *results.Run) float64 { return x.F })
	})
}

// lineName is what a row's line of the table is called.
func lineName(r Row) string {
	return strings.TrimSuffix(r.Method+", "+r.variant(), ", ")
}

// layout returns the columns and lines of the table, in the order of the grid.
func (r *Results) layout() (columns []tables.Column, lines []string) {
	for _, row := range r.Rows {
		if c := (tables.Column{Dataset: row.Dataset, Increment: string(row.Increment)}); !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if l := lineName(row); !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return columns, lines
}

// rows returns those behind an entry of the table.
func (r *Results) rows(line string, c tables.Column) (out []Row) {
	for _, row := range r.Rows {
		if lineName(row) == line && row.Dataset == c.Dataset && string(row.Increment) == c.Increment {
			out = append(out, row)
		}
	}
	return out
}

// finished returns the runs of some rows that have one.
func (r *Results) finished(rows []Row) (out []*results.Run) {
	for _, row := range rows {
		if run := r.states[row.Run].Run; run != nil {
			out = append(out, run)
		}
	}
	return out
}

// entry is the mean and deviation of a number over the finished runs of some rows.
func (r *Results) entry(rows []Row, figure func(*results.Run) float64) string {
	var scores []stats.Score
	for _, row := range rows {
		if run := r.states[row.Run].Run; run != nil {
			scores = append(scores, stats.Score{LabelSet: row.LabelSet, Timeline: row.Timeline, Seed: row.Seed, Value: figure(run)})
		}
	}
	if len(scores) == 0 {
		return ""
	}
	s, err := stats.Summarize(scores)
	switch {
	case len(scores) < len(rows), err != nil: // situations lack seeds, so that the seeds' means cannot be compared
		return fmt.Sprintf("%s (%d of %d)", tables.Mean(mean(scores)), len(scores), len(rows))
	case s.Seeds < 2:
		return tables.Mean(s.Mean)
	}
	return tables.Spread(s.Mean, s.StdSeeds)
}

func mean(scores []stats.Score) (mean float64) {
	for _, s := range scores {
		mean += s.Value / float64(len(scores))
	}
	return mean
}
