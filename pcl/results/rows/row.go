// Package rows reads and writes the results of grids as CSV: a line for each place of a grid, small enough to be kept
// in a repository. Reports are made from these files alone.
package rows

import (
	"math"
)

// The states of a row say whether there is a result.
const (
	Done    = "done"
	Failed  = "failed"  // its run could not be made; see Row.Reason
	Missing = "missing" // its run has not been made yet
)

// TunedMark ends the names of grids whose methods have tuned values.
const TunedMark = "-tuned"

// Row is a place of a grid, and the result of its run if there is one. The tags are the names of the columns.
type Row struct {
	Grid  string `csv:"grid"` // e.g. "table1-test-split"
	Title string `csv:"title"`
	Paper string `csv:"paper"` // which of the paper's tables or figures the grid is; empty for none
	Size  string `csv:"size"`  // of the grid, e.g. "test-split"

	// What the grid calls its data set and method, and what the paper does; empty where the paper has no such.
	Dataset      string    `csv:"dataset"`
	PaperDataset string    `csv:"paper_dataset"`
	Method       string    `csv:"method"`
	PaperMethod  string    `csv:"paper_method"`
	Increment    string    `csv:"increment"`
	Vary         []Setting // what is varied, sorted by name

	LabelSet uint64 `csv:"labelset"`
	Timeline uint64 `csv:"timeline"`
	Seed     uint64 `csv:"seed"`

	Cell    string `csv:"cell"`    // ID of the cell, which other places may have in common
	Program string `csv:"program"` // that the cell's ID is made of
	State   string `csv:"state"`
	Reason  string `csv:"reason"` // of a failure

	// The rest is about a result.
	Result
}

// Setting is a value of something that a grid varies.
type Setting struct{ Name, Value string }

// Result is what is kept of a run.
type Result struct {
	A        float64   `csv:"A"` // %
	F        float64   `csv:"F"`
	AFirst   float64   `csv:"A_first"`
	Ends     []float64 `csv:"ends"`
	Steps    int       `csv:"steps"`
	Diverged string    `csv:"diverged_at"` // step from which on nothing was learnt; empty for none
	Skipped  int       `csv:"skipped_rows"`

	// Seconds is the time that the cell took its process, of which so much was training and evaluation.
	Seconds      float64 `csv:"seconds"`
	TrainSeconds float64 `csv:"train_seconds"`
	EvalSeconds  float64 `csv:"eval_seconds"`
	StepMillis   float64 `csv:"step_ms"`
	Backend      string  `csv:"backend"`
	Device       string  `csv:"device"`
	Threads      int     `csv:"threads"`
	Version      string  `csv:"version"`
	Commit       string  `csv:"commit"`

	Run        string `csv:"run"`        // hash of the configuration
	RunMethod  string `csv:"run_method"` // name of the method in the configuration
	RunVariant string `csv:"run_variant"`
	Model      string `csv:"model_sha256"` // SHA-256 of the final model
}

// Line is what the row's line of a table is called: the method, and the values of what is varied.
func (r *Row) Line() string {
	name := r.Method
	for _, s := range r.Vary {
		name += ", " + s.Name + "=" + s.Value
	}
	return name
}

// none is what a row without a result has.
func none() Result {
	return Result{A: math.NaN(), F: math.NaN(), AFirst: math.NaN()}
}
