package findings

import "github.com/parallelcl/parallelcl/pcl/results/paper"

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
