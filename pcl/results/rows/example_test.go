package rows_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// The mean accuracy of a method in the results that the repository has.
func ExampleFiles() {
	all, err := rows.Files("../../../grids/results/best-test-split.csv")
	if err != nil {
		log.Fatal(err)
	}
	sum, n := 0.0, 0
	for _, r := range all {
		if r.Method == "EMGD (recommended)" && r.Increment == "class" && r.State == rows.Done {
			sum, n = sum+r.Run.A, n+1
		}
	}
	fmt.Printf("%.2f %% over %d runs\n", sum/float64(n), n)
	// Output: 59.61 % over 27 runs
}

// The runs behind the paper's Figure 8 on EMNIST. viz.Temperature(runs...) draws them.
func ExampleRuns() {
	all, err := rows.Files("../../../grids/results/temperature-test-split.csv")
	if err != nil {
		log.Fatal(err)
	}
	runs := rows.Runs(all)
	fmt.Println(len(runs), "runs; the first of", runs[0].MethodTitle, "with a temperature of", runs[0].Params["tau"])
	// Output: 972 runs; the first of EMGD(GMC) with a temperature of 0.1
}
