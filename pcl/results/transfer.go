package results

import "slices"

// ForwardTransfer says how much better the run is at each task's own end than a reference run was, in percent, and on
// average over the tasks: what was learnt before and beside a task helped it, where this is positive. The
// reference is for the caller to choose. With tasks learnt each for itself it is the transfer of N. Díaz-Rodríguez et
// al., Don't forget, there is more than forgetting (2018); with all tasks at once it is intransigence with the sign
// reversed (A. Chaudhry et al., Riemannian Walk, 2018). Tasks correspond if they have the same classes; those that
// have no counterpart are undefined and do not count, nor do those at whose end, in a class-incremental run, another number of
// classes competed than in the reference: their accuracies cannot be compared.
func (r *Run) ForwardTransfer(reference *Run) (tasks []Metric, mean Metric) {
	for _, t := range r.Tasks {
		tasks = append(tasks, r.transfer(t, reference))
	}
	none := "no task of the reference run has the same classes"
	if len(tasks) > 0 {
		none = tasks[0].Undefined
	}
	return tasks, meanOf(tasks, none)
}

func (r *Run) transfer(t Task, reference *Run) Metric {
	if r.Dataset != reference.Dataset || r.Increment != reference.Increment {
		return undefined("the reference run is of %s, %s-incremental", reference.Dataset, reference.Increment)
	}
	for _, other := range reference.Tasks {
		if slices.Equal(slices.Sorted(slices.Values(t.Classes)), slices.Sorted(slices.Values(other.Classes))) {
			if own, its := r.competing(t), reference.competing(other); own != its {
				return undefined("%d classes competed at the task's end, and %d in the reference run", own, its)
			}
			return percent(t.AccEnd - other.AccEnd)
		}
	}
	return undefined("no task of the reference run has the same classes")
}

// competing is the number of classes that competed for a sample of a task when the task ended.
func (r *Run) competing(t Task) int {
	if r.Increment != "class" {
		return len(t.Classes)
	}
	classes := map[int]bool{}
	for _, other := range r.Tasks {
		if other.Start <= t.End {
			for _, c := range other.Classes {
				classes[c] = true
			}
		}
	}
	return len(classes)
}
