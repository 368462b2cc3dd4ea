package scenario_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Three tasks of two to four of nine classes, each of which has 40 training samples.
func ExampleGenerate() {
	perClass := []int{40, 40, 40, 40, 40, 40, 40, 40, 40}
	s, err := scenario.Generate(scenario.Options{
		Dataset: "mine", Increment: scenario.ClassIncremental, Kind: "parallel",
		Tasks: 3, MinClasses: 2, MaxClasses: 4, Batch: 8, Epochs: 1, LabelSet: 1, Timeline: 2,
	}, perClass)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range s.Tasks {
		fmt.Printf("steps %d to %d: classes %v\n", t.Start, t.End(), t.Classes)
	}
	// Output:
	// steps 0 to 9: classes [2 1]
	// steps 8 to 22: classes [5 8 3]
	// steps 8 to 27: classes [7 6 0 4]
}
