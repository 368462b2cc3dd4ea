package paper_test

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/results/paper"
)

// What the paper has for EMGD on PS-EMNIST, class-incremental.
func ExampleFind() {
	n, found := paper.Find("Table 2", "class", "EMGD(GMC)", "PS-EMNIST", "A")
	fmt.Println(n.Mean, "±", n.Std, found)
	// Output: 53.441 ± 0.341 true
}
