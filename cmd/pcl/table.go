package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// printTable prints a line per group of runs that differ only in their seed.
func printTable(out io.Writer, runs []*results.Run) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DATA SET\tINCREMENT\tMETHOD\tRUNS\tA (%)\tF (%)\tA_first (%)\tSTEPS\tms/STEP\tSTEPS/s")
	for _, g := range results.Group(runs) {
		r := g.Runs[0]
		ms := g.Moment(func(r *results.Run) float64 { return r.Measured.StepMillis })
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%.2f\t%.0f\n", r.Dataset, r.Increment, g.Label(), len(g.Runs),
			spread(g.Moment(func(r *results.Run) float64 { return r.A })),
			spread(g.Moment(func(r *results.Run) float64 { return r.F })),
			spread(g.Moment(func(r *results.Run) float64 { return r.AFirst })),
			r.Steps, ms.Mean, 1000/ms.Mean)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "A: mean final accuracy over the tasks; F: final minus at the task's own end (higher is better); ± population standard deviation over the seeds.")
	return err
}

func spread(m results.Moment) string {
	if m.N < 2 {
		return fmt.Sprintf("%.2f", m.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", m.Mean, m.Std())
}
