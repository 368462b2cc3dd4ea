package nb_test

import (
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz/nb"
)

func ExampleTable() {
	nb.Table([]string{"method", "accuracy"}, []any{"EMGD", 0.81234}, []any{"AvgGrad", 0.79})
	// Output:
	// method   accuracy
	// EMGD     0.8123
	// AvgGrad  0.79
}

func ExampleShow_runs() {
	run := results.Run{Method: "emgd-gmc", Params: map[string]any{"tau": 1}, Dataset: "glyphs", Increment: "class",
		Seed: 1, Steps: 20, A: 11.06, F: -2.2}
	nb.Show([]*results.Run{&run, nil})
	nb.Show([]*results.Run{})
	// Output:
	// method          data set  increment  seed  tasks  steps  A (%)  F (%)
	// emgd-gmc tau=1  glyphs    class      1     0      20     11.1   -2.2
	// method  data set  increment  seed  tasks  steps  A (%)  F (%)
}
