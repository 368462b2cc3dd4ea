package grid

import (
	"fmt"
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl/results/tensorboard"
)

// TensorBoard writes the finished runs of the grid as event files: a folder for each, under those of its data set,
// increment and method. It returns how many there are.
func (r *Results) TensorBoard(dir string) (n int, err error) {
	taken := map[string]bool{}
	for _, row := range r.Rows {
		run := r.states[row.Run].Run
		if run == nil {
			continue
		}
		place := tensorboard.Folder(row.Dataset, string(row.Increment), lineName(row),
			fmt.Sprintf("label set %d, timeline %d, seed %d", row.LabelSet, row.Timeline, row.Seed))
		if taken[place] { // names that differ only in what folders cannot have
			place += " " + row.Run
		}
		taken[place] = true
		if err := tensorboard.Save(filepath.Join(dir, filepath.FromSlash(place)), run, nil); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
