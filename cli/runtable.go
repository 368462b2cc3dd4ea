package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// printTable prints a line for each group of runs that differ only in their seed and situation.
func printTable(out io.Writer, runs []*results.Run) error {
	head := []any{"DATA SET", "INCREMENT", "METHOD", "RUNS"}
	var about []string
	for _, m := range results.Metrics {
		head = append(head, m.Name+" (%)")
		if m.About != "" {
			about = append(about, m.Name+": "+m.About)
		}
	}
	t := newTable(append(head, "STEPS", "ms/STEP", "STEPS/s", "SAMPLES", "SUMS")...)
	for _, g := range results.Group(runs, results.Repetition...) {
		r := g.Runs[0]
		steps := g.Moment(func(r *results.Run) float64 { return float64(r.Steps) })
		ms := g.Moment(func(r *results.Run) float64 { return r.Measured.StepMillis })
		cells := []any{r.Dataset, r.Increment, g.Label(), howMany(g)}
		for _, m := range results.Metrics {
			cells = append(cells, spread(g.Moment(m.Of)))
		}
		samples, sums := versus.BytesOf(g.Runs).Cells()
		t.row(append(cells, fmt.Sprintf("%.0f", steps.Mean), fmt.Sprintf("%.2f", ms.Mean),
			fmt.Sprintf("%.0f", 1000/ms.Mean), samples, sums)...)
	}
	err := t.print(out)
	fmt.Fprintln(out, strings.Join(about, "; ")+"; ± population standard deviation over the runs; SAMPLES: bytes of the "+
		"samples that are kept; SUMS: of the sums that a method learns from.")
	for _, r := range runs {
		for _, remark := range r.Remarks() {
			fmt.Fprintf(out, "Note on %s: %s\n", r.Name(), remark)
		}
	}
	return err
}

// printSituations says what runs of several seeds or situations show.
func printSituations(rc *runContext, runs []*results.Run) error {
	situations, seeds := map[stats.Situation]bool{}, map[uint64]bool{}
	for _, r := range runs {
		at := r.Trial()
		situations[at.Situation], seeds[at.Seed] = true, true
	}
	switch {
	case len(situations) > 1:
		if all := versus.Of(rows.Columns(rows.Of(runs)), ""); len(all) > 0 {
			fmt.Fprintln(rc.stdout)
			return versus.Text(rc.stdout, all)
		}
	case len(seeds) > 1:
		fmt.Fprintln(rc.stdout,
			"Seeds alone say nothing about other label sets and timelines: pcl compare DATA METHOD METHOD… takes nine.")
	}
	return nil
}

// howMany returns the number of runs, and how many of them diverged.
func howMany(g results.RunGroup) string {
	text := fmt.Sprint(len(g.Runs))
	if n := countDiverged(g.Runs); n > 0 {
		text += fmt.Sprintf(", %d diverged", n)
	}
	return text
}

func spread(m results.Moment) string {
	if m.N < 2 {
		return fmt.Sprintf("%.2f", m.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", m.Mean, m.Std())
}
