package glyphs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/datasets/glyphs"
)

func ExampleGenerate() {
	train, test, err := glyphs.Generate(context.Background(), glyphs.Config{Seed: 1, TrainPerClass: 10, TestPerClass: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(train.Labels), len(test.Labels), len(train.Pixels)/len(train.Labels))
	// Output: 620 124 784
}
