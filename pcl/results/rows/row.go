// Package rows has the table of runs that comparisons, exports and pages read. A [Row] is a run in
// its place; a [Table] gathers rows by data set and increment, and by method. Rows are written and
// read as CSV files, small enough to be kept in a repository. Begin with [Of] or [Files], and
// [Tables].
package rows

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// The states of a row say whether there is a result.
const (
	Done    = "done"
	Failed  = "failed"  // its run could not be made; see Row.Reason
	Missing = "missing" // its run has not been made yet
)

// TunedMark ends the names of grids whose methods have tuned values.
const TunedMark = "-tuned"

// Row is a place in a table, and its run if that is finished.
type Row struct {
	Grid  string // e.g. "table1-test-split"
	Title string // of the grid
	Paper string // which of the paper's tables or figures the grid is; empty for none
	Size  string // of the grid, e.g. "test-split"

	// Names of the data set and the method in the grid and in the paper; empty where the paper has
	// none.
	Dataset, PaperDataset string
	Method, PaperMethod   string
	Increment             string
	Vary                  []Setting // what is varied, sorted by name
	stats.Trial

	Cell    string // ID of the cell, which other places may have in common
	Program string // that the cell's ID is made of
	State   string
	Reason  string // of a failure

	// Run is the result; nil if there is none. A run that was read from a CSV file has what the
	// columns tell, and no more; [Runs] makes runs for figures of it.
	Run *results.Run
	// Seconds is the time that the cell took its process.
	Seconds float64

	kept map[*results.Metric]*float64 // of a CSV file
}

// Setting is a value of something that a grid varies.
type Setting struct{ Name, Value string }

// Place is where a row stands in a table of runs. Two rows of one grid and one place are of the
// same run.
type Place struct {
	results.Benchmark
	Line string
	stats.Trial
}

// Place returns where the row stands.
func (r *Row) Place() Place { return Place{r.Benchmark(), r.Line(), r.Trial} }

// Benchmark returns the data set, as the grid calls it, and the increment.
func (r *Row) Benchmark() results.Benchmark {
	return results.Benchmark{Dataset: r.Dataset, Increment: r.Increment}
}

// String names the place in a message.
func (p Place) String() string {
	return fmt.Sprintf("%s on %s, label set %d, timeline %d, seed %d",
		p.Line, p.Benchmark, p.LabelSet, p.Timeline, p.Seed)
}

// Line is what the row's line of a table is called: the method, and the values of what is varied.
func (r *Row) Line() string {
	name := r.Method
	for _, s := range r.Vary {
		name += ", " + s.Name + "=" + s.Value
	}
	return name
}

// Value returns a metric of the row's run, or NaN if there is none. A method that trains a new
// network for each evaluation has no accuracy at the tasks' own ends that could be compared.
func (r *Row) Value(m *results.Metric) float64 {
	switch {
	case r.State != Done, m != results.FinalAccuracy && r.Run.Method == "gdumb":
		return math.NaN()
	case r.kept[m] != nil:
		return *r.kept[m]
	}
	return m.Of(r.Run)
}

// Took returns the seconds that the run took; 0 if they are not known.
func (r *Row) Took() float64 {
	if r.Seconds > 0 || r.Run == nil {
		return r.Seconds
	}
	return r.Run.Measured.Seconds()
}
