package viz

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// [results.Run.TaskNames] says what tasks are called. Their names are a user's own, of any length.

// ownName returns the name of a task, or nothing where it is only its number.
func ownName(name string, id int) string {
	if name == fmt.Sprint("task ", id) {
		return ""
	}
	return name
}

// numbered returns the number and the name of a task, where "task" stands beside it.
func numbered(name string, id int) string {
	return strings.TrimSpace(fmt.Sprint(id, " ", ownName(name, id)))
}

// orNumbers returns the names of tasks that stand side by side in a width if all have room, else
// their numbers.
func orNumbers(tasks []results.Task, names []string, width vg.Length) []string {
	numbers, all := make([]string, len(tasks)), true
	for i, t := range tasks {
		numbers[i] = fmt.Sprint(t.ID)
		all = all && ownName(names[i], t.ID) != ""
	}
	if all && fit(names, width) {
		return names
	}
	return numbers
}

// fit says whether names have room side by side, each at the middle of an equal place.
func fit(names []string, width vg.Length) bool {
	place := width/vg.Length(len(names)) - vg.Points(4)
	return !slices.ContainsFunc(names, func(n string) bool { return TextStyle(Ink).Width(n) > place })
}

// namesBetween returns the names of tasks if each has room between its arrival and the next one;
// nil where they have not.
func namesBetween(run *results.Run) []string {
	const width = 0.7 * DefaultWidth // of the steps, beside labels
	names := run.TaskNames()
	for i, t := range run.Tasks {
		next := run.Span()
		if i+1 < len(run.Tasks) {
			next = run.Tasks[i+1].Start
		}
		room := width * vg.Length(float64(next-t.Start)/float64(max(1, run.Span())))
		if ownName(names[i], t.ID) == "" || TextStyle(Muted).Width(names[i])+vg.Points(5) > room {
			return nil
		}
	}
	return names
}
