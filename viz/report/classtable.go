package report

import (
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// classTable has the final accuracy on each class of a task, and that at the task's own end.
type classTable struct {
	Task    int
	Classes []string
	Test    []int // test samples
	Rows    []taskRow
}

// newClassTables returns a table for each task. There are none if runs differ in their tasks' classes, or are of older
// programs, which did not note what there is to say about a class.
func newClassTables(runs []runPtr) ([]classTable, error) {
	first := runs[0].Tasks
	for _, r := range runs {
		if !slices.EqualFunc(r.Tasks, first, sameClasses) {
			return nil, nil
		}
	}
	groups, err := viz.Groups(runs)
	if err != nil {
		return nil, err
	}
	var out []classTable
	for t, task := range first {
		c := classTable{Task: task.ID}
		for i, class := range task.ByClass {
			c.Classes, c.Test = append(c.Classes, task.ClassName(i)), append(c.Test, class.Test)
		}
		for _, g := range groups {
			row := taskRow{Label: g.Label}
			for k := range task.ByClass {
				row.Final = append(row.Final, ofTask(g, t, func(task results.Task) float64 { return 100 * task.ByClass[k].AccFinal }))
				row.End = append(row.End, ofTask(g, t, func(task results.Task) float64 { return 100 * task.ByClass[k].AccEnd }))
			}
			c.Rows = append(c.Rows, row)
		}
		out = append(out, c)
	}
	return out, nil
}

// sameClasses reports whether two runs have the same classes in a task, with names and accuracies for each.
func sameClasses(a, b results.Task) bool {
	return slices.Equal(a.Classes, b.Classes) && len(a.Names) == len(a.Classes) && slices.Equal(a.Names, b.Names) &&
		len(a.ByClass) == len(a.Classes) && len(b.ByClass) == len(b.Classes)
}
