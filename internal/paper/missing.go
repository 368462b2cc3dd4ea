package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Missing says of each table of the paper what has no result, and then what the notes say of it. Of
// users' own grids nothing of the paper is missing.
func (f *Findings) Missing() (out []rows.Fact) {
	if f.own() {
		return nil
	}
	for _, table := range paperTables {
		var none, some []string
		for _, at := range placesOf(table) {
			name := at.dataset + ", " + at.increment + "-incremental"
			switch done, planned := f.finished(at); {
			case done == 0:
				none = append(none, name)
			case done < planned:
				some = append(some, fmt.Sprintf("%s (%d of %d)", name, planned-done, planned))
			}
		}
		text := ""
		if len(none)+len(some) == 0 {
			text = "Each column of the paper has a grid with all of its runs. "
		}
		if len(none) > 0 {
			text += "There are no results on " + strings.Join(none, "; ") + ". "
		}
		if len(some) > 0 {
			text += "Runs are missing on " + strings.Join(some, "; ") + ". "
		}
		out = append(out, rows.Fact{Name: table, Value: strings.TrimSpace(text + f.notes[table])})
	}
	return out
}

// finished counts the runs of a place of the paper, and those that have a result: in a column that
// has all, or else in that with the most results.
func (f *Findings) finished(at place) (done, planned int) {
	for _, c := range f.columns(at) {
		own, all := 0, 0
		for _, e := range c.Entries {
			own, all = own+e.Done, all+len(e.Rows)
		}
		if own == all {
			return own, all
		}
		if own >= done {
			done, planned = own, all
		}
	}
	return done, planned
}

func once(all []string, s string) []string {
	if s == "" || slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}
