// Package report writes the results of runs, or a notebook, as a single self-contained HTML page, and draws
// the picture of the demonstration for a README.
package report

import (
	"errors"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// DemoInput is what a demonstration has produced. Only Runs is required; sections without data are left out.
type DemoInput struct {
	// Title is the page's heading; "Parallel continual learning" if it is empty.
	Title string
	// Runs are of one data set and one increment. Runs of one method with equal parameters are
	// taken as repetitions: tables and figures show their mean and standard deviation.
	Runs []*results.Run
	// Records holds the steps of one run for each method, by [results.Run].Method. Methods without
	// certificates are ignored.
	Records map[string][]results.Record
	// Toy holds the descents on the two synthetic functions.
	Toy []viz.Trace
	Origin
}

// Demo writes the page: what each method reached, the tasks' timeline, accuracy over time and by
// task, the toy descent against its known numbers, the certificates of the EMGD steps, and the
// parameters, versions, checksums and the command behind it. The page is complete in itself: its
// figures are inline, in colours that follow the page, and answer to a pointer.
func Demo(w io.Writer, in DemoInput) error {
	if len(in.Runs) == 0 {
		return errors.New("report: no runs; a page needs at least one")
	}
	page, err := newPage(&in)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return writePage(w, "demo.gohtml", page)
}
