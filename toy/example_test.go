package toy_test

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/toy"
)

// When f2 arrives at step 500, the mean of the gradients lets f1 rise; EMGD decreases both.
func Example() {
	for _, name := range []string{"avggrad", "mgda", "emgd-gmc"} {
		m, err := method.New(name, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		trace, err := toy.Run(m, toy.Figure2())
		if err != nil {
			fmt.Println(err)
			return
		}
		arrival := trace.Steps[500]
		fmt.Printf("%-8s  f1 %.4f → %.4f  f2 %.4f → %.4f\n", name, arrival.F1, trace.End.F1, arrival.F2, trace.End.F2)
	}
	// Output:
	// avggrad   f1 2.2937 → 2.2995  f2 4.2277 → 4.1868
	// mgda      f1 2.2937 → 2.2864  f2 4.2277 → 4.2184
	// emgd-gmc  f1 2.2937 → 2.2747  f2 4.2277 → 4.1906
}
