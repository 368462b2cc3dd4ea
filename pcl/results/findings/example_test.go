package findings_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/results/findings"
)

// Our accuracy beside the paper's.
func Example() {
	f, err := findings.Published()
	if err != nil {
		log.Fatal(err)
	}
	column := f.Grid("best-test-split").Column("PS-EMNIST (test split)", "class")
	e := column.Entry("AvgGrad")
	there, _ := findings.InPaper(e)
	fmt.Printf("%s: A = %s %% here, %.2f ± %.2f in the paper\n", e.Name, e.A, there.Mean, there.Std)
	// Output: AvgGrad: A = 46.83 ± 0.50 % here, 43.82 ± 0.57 in the paper
}
