// Package rows reads and writes the results of grids as CSV: a line for each place of a grid, small enough to be kept
// in a repository. Reports are made from these files alone.
package rows

import (
	"math"
	"strconv"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// State says whether there is a result.
type State string

const (
	Done    State = "done"
	Failed  State = "failed"  // its run could not be made; see Row.Reason
	Missing State = "missing" // nobody has made it yet
)

// TunedMark ends the names of grids whose methods have tuned values.
const TunedMark = "-tuned"

// Row is a place of a grid, and the result of its run if there is one.
type Row struct {
	Grid  string // e.g. "table1-test-split"
	Title string
	Paper string // which of the paper's tables or figures the grid is; empty for none
	Size  string // of the grid, e.g. "test-split"

	// What the grid calls its data set and method, and what the paper does; empty where the paper has no such.
	Dataset, PaperDataset string
	Method, PaperMethod   string
	Increment             string
	Vary                  []Setting // what is varied, sorted by name

	LabelSet, Timeline, Seed uint64

	Cell    string // ID of the cell, which other places may have in common
	Program string // that the cell's ID is made of
	State   State
	Reason  string // of a failure

	// The rest is about a result.
	Result
}

// Setting is a value of something that a grid varies.
type Setting struct{ Name, Value string }

// Result is what is kept of a run.
type Result struct {
	A, F, AFirst float64 // %
	Ends         []float64
	Steps        int
	Diverged     string // step from which on nothing was learnt; empty for none
	Skipped      int

	// Seconds is the time that the cell took its process, of which so much was training and evaluation.
	Seconds, TrainSeconds, EvalSeconds, StepMillis float64
	Backend, Device                                string
	Threads                                        int
	Version, Commit                                string

	Run        string // hash of the configuration
	RunMethod  string // name of the method in the configuration
	RunVariant string
	Model      string // SHA-256 of the final model
}

// ResultOf returns what is kept of a run.
func ResultOf(run *results.Run) Result {
	m := run.Measured
	out := Result{
		A: run.A, F: run.F, AFirst: run.AFirst, Steps: run.Steps, Skipped: run.Skipped,
		TrainSeconds: m.TrainSeconds, EvalSeconds: m.EvalSeconds, StepMillis: m.StepMillis,
		Backend: m.Backend, Device: m.Device, Threads: m.Threads, Version: m.Version, Commit: m.Commit,
		Run: run.ID, RunMethod: run.Method, RunVariant: run.Variant, Model: run.ModelSHA256,
	}
	if run.DivergedAt != nil {
		out.Diverged = strconv.Itoa(*run.DivergedAt)
	}
	for _, p := range run.Curve {
		for range p.Ended {
			out.Ends = append(out.Ends, 100*p.Mean)
		}
	}
	return out
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
