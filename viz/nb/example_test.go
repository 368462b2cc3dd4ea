package nb_test

import "github.com/parallelcl/parallelcl/viz/nb"

func ExampleTable() {
	nb.Table([]string{"method", "accuracy"}, []any{"EMGD", 0.81234}, []any{"AvgGrad", 0.79})
	// Output:
	// method   accuracy
	// EMGD     0.8123
	// AvgGrad  0.79
}
