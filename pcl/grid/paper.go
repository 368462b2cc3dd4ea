package grid

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// PaperLayer returns the settings of the paper's tables for a data set, such as its memory. If the
// set has several entries, it is the entry with the fewest settings; the others reduce the set.
func PaperLayer(dataset string) (experiment.Layer, error) {
	g, err := load("table1", full)
	if err != nil {
		return experiment.Layer{}, err
	}
	var own table
	var known []string
	for _, entry := range g.Dataset {
		if paperName(entry) == "" {
			continue
		}
		if name, _ := entry["dataset"].(string); name != dataset {
			known = append(known, name)
		} else if own == nil || len(entry) < len(own) {
			own = entry
		}
	}
	if own == nil {
		slices.Sort(known)
		return experiment.Layer{}, fmt.Errorf("%s is not a data set of the paper's tables; want one of %v", dataset,
			slices.Compact(known))
	}
	return experiment.Layer{Values: without(merged(g.Set, own), paperKey), From: "the grid table1"}, nil
}
