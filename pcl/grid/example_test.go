package grid_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/grid"
)

// The built-in grids, and what the paper's Table 1 consists of.
func ExampleLoad() {
	sizes, err := grid.Sizes("table1")
	if err != nil {
		log.Fatal(err)
	}
	g, err := grid.Load("table1", "test-split")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sizes)
	fmt.Println(g.Name, g.Datasets, len(g.Methods), "methods", g.LabelSets, g.Timelines, g.Seeds)
	// Output:
	// [full seeds smoke subset test-split]
	// table1-test-split [PS-EMNIST (test split)] 17 methods [0 1 2] [0 1 2] [1234 1235 1236]
}
