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
func newClassTables(groups []viz.Group) (out []classTable) {
	first := groups[0].Runs[0].Tasks
	for _, g := range groups {
		for _, r := range g.Runs {
			if !slices.EqualFunc(r.Tasks, first, sameClasses) {
				return nil
			}
		}
	}
	for t, task := range first {
		c := classTable{Task: task.ID}
		for i, class := range task.ByClass {
			c.Classes, c.Test = append(c.Classes, task.ClassName(i)), append(c.Test, class.Test)
		}
		c.Rows = taskRows(groups, len(c.Classes), func(r runPtr, k int) (final, end float64, ok bool) {
			class := r.Tasks[t].ByClass[k]
			return class.AccFinal, class.AccEnd, true
		})
		out = append(out, c)
	}
	return out
}

// sameClasses reports whether two runs have the same classes in a task, with names and accuracies for each.
func sameClasses(a, b results.Task) bool {
	return slices.Equal(a.Classes, b.Classes) && len(a.Names) == len(a.Classes) && slices.Equal(a.Names, b.Names) &&
		len(a.ByClass) == len(a.Classes) && len(b.ByClass) == len(b.Classes)
}
