package findings

import (
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results/paper"
)

// Absent is a column of the paper's tables without a result.
type Absent struct{ Table, DataSet, Increment string }

// absent lists the columns of the paper's tables that no grid stands for with at least one run.
func (f *Findings) absent() (out []Absent) {
	for _, table := range paper.Names() {
		for _, at := range placesOf(table) {
			runs := 0
			for _, c := range f.columns(at) {
				runs += c.runs()
			}
			if runs == 0 {
				out = append(out, Absent{at.table, at.dataset, at.increment})
			}
		}
	}
	return out
}

// Missing says in words what of a table of the paper has no result.
type Missing struct{ Table, Text string }

// Missing has an entry for each table of the paper. notes may have a sentence about a table, by its name, such as why it
// is missing; it follows.
func (f *Findings) Missing(notes map[string]string) (out []Missing) {
	for _, table := range paper.Names() {
		var places []string
		for _, a := range f.Absent {
			if a.Table == table {
				places = append(places, a.DataSet+", "+a.Increment+"-incremental")
			}
		}
		text := "Nothing is missing."
		if len(places) > 0 {
			text = "There are no results on " + strings.Join(places, "; ") + "."
		}
		out = append(out, Missing{table, strings.TrimSpace(text + " " + notes[table])})
	}
	return out
}
