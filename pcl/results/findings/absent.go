package findings

import (
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results/paper"
)

// absent is a column of the paper's tables of which runs are missing.
type absent struct {
	place
	done, planned int // runs with a result, and all; both are 0 if no grid was planned for the column
}

// absent lists the columns of the paper's tables for which no grid has all of its runs.
func (f *Findings) absent() (out []absent) {
	for _, table := range paper.Names() {
		for _, at := range placesOf(table) {
			most := absent{place: at}
			complete := false
			for _, c := range f.columns(at) {
				done, planned := c.finished()
				complete = complete || done == planned
				if done >= most.done {
					most.done, most.planned = done, planned
				}
			}
			if !complete {
				out = append(out, most)
			}
		}
	}
	return out
}

// finished counts the runs of a column, and those that have a result.
func (c *Column) finished() (done, planned int) {
	for _, e := range c.Entries {
		done += e.Done
		planned += len(e.Rows)
	}
	return done, planned
}

// Missing says in words what of a table of the paper has no result.
type Missing struct{ Table, Text string }

// Missing has an entry for each table of the paper. notes may have a sentence about a table, by its name, such as why it
// is missing; it follows. Of users' own grids nothing of the paper is missing.
func (f *Findings) Missing(notes map[string]string) (out []Missing) {
	if f.own() {
		return nil
	}
	all := f.absent()
	for _, table := range paper.Names() {
		var none, some []string
		for _, a := range all {
			name := a.dataset + ", " + a.increment + "-incremental"
			switch {
			case a.table != table:
			case a.done == 0:
				none = append(none, name)
			default:
				some = append(some, fmt.Sprintf("%s (%d of %d)", name, a.planned-a.done, a.planned))
			}
		}
		var texts []string
		if len(none)+len(some) == 0 {
			texts = append(texts, "Each column of the paper has a grid with all of its runs.")
		}
		if len(none) > 0 {
			texts = append(texts, "There are no results on "+strings.Join(none, "; ")+".")
		}
		if len(some) > 0 {
			texts = append(texts, "Runs are missing on "+strings.Join(some, "; ")+".")
		}
		out = append(out, Missing{table, strings.TrimSpace(strings.Join(texts, " ") + " " + notes[table])})
	}
	return out
}
