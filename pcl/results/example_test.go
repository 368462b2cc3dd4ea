package results_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Two methods were run with the same two seeds. Load reads a run from its file.
func ExampleLeadOf() {
	runs := func(a ...float64) (out []*results.Run) {
		for seed, x := range a {
			out = append(out, &results.Run{Dataset: "glyphs", Seed: uint64(seed), A: x})
		}
		return out
	}
	lead, err := results.LeadOf(runs(61.5, 60), runs(59, 60.5), results.Accuracy)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lead)
	// Output: +1.0, higher in 1 of 2 runs
}
