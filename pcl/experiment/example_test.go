package experiment_test

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// Two methods with two seeds each, class-incremental.
func ExampleVary() {
	class := []string{"class"}
	for _, c := range experiment.Vary(experiment.DefaultConfig("glyphs"), []string{"emgd-gmc", "avggrad"}, class,
		1234, 1235) {
		fmt.Println(c.Method, c.Increment, c.Seed)
	}
	// Output:
	// emgd-gmc class 1234
	// emgd-gmc class 1235
	// avggrad class 1234
	// avggrad class 1235
}
