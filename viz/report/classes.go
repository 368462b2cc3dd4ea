package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
)

// classes shows the final accuracy by class, and that at the task's own end, a table for each task. There is none if runs differ in
// their tasks' classes.
func (s *runSet) classes(c *findings.Column) block {
	runs := s.runs(c.Entries...)
	first := runs[0].Tasks
	if slices.ContainsFunc(runs, func(r *results.Run) bool { return !slices.EqualFunc(r.Tasks, first, sameClasses) }) {
		return block{}
	}
	b := block{Title: "Final accuracy by class", Folded: true}
	for t, task := range first {
		out := &table{Head: []string{"method"}}
		for k, class := range task.ByClass {
			out.Head = append(out.Head, fmt.Sprintf("%s (%d test samples)", task.Names[k], class.Test))
		}
		for _, e := range c.Entries {
			cells := []datum{{Text: e.Name}}
			for k := range task.ByClass {
				var finals, ends []float64
				for _, r := range s.runs(e) {
					class := r.Tasks[t].ByClass[k]
					finals, ends = append(finals, 100*class.AccFinal), append(ends, 100*class.AccEnd)
				}
				mean := numberCell(stat.Mean(finals, nil), fixed(1))
				mean.Small = numberCell(stat.Mean(ends, nil), fixed(1)).Text
				cells = append(cells, mean)
			}
			out.add(row{Series: e.Name}, cells...)
		}
		b.Parts = append(b.Parts, block{Title: fmt.Sprintf("Task %d", task.ID), Table: out,
			Notes: []string{"Means over the runs, in %; below, what the accuracy was when the task ended."}})
	}
	return b
}

// sameClasses reports whether two runs have the same classes in a task, with names and accuracies for each.
func sameClasses(a, b results.Task) bool {
	return slices.Equal(a.Classes, b.Classes) && len(a.Names) == len(a.Classes) && slices.Equal(a.Names, b.Names) &&
		len(a.ByClass) == len(a.Classes) && len(b.ByClass) == len(b.Classes)
}
