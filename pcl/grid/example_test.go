package grid_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/grid"
)

// The built-in grids, and what the paper's Table 1 consists of.
func ExampleLoad() {
	g, err := grid.Load("table1", "test-split", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Sizes)
	fmt.Println(g.Name, g.Datasets, len(g.Methods), "methods", g.LabelSets, g.Timelines, g.Seeds)
	// Output:
	// [full seeds smoke subset test-split]
	// table1-test-split [PS-EMNIST (test split)] 17 methods [0 1 2] [0 1 2] [1234 1235 1236]
}
