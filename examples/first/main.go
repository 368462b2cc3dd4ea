package main

import (
	"context"
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl"
)

// dots are images of eight pixels, of which the brightest tells the class.
type dots []int // the classes

func (d dots) Len() int { return 640 }

func (d dots) Sample(i int, x []float32) (class int) {
	clear(x)
	class = d[i%len(d)]
	x[class] = 1
	return class
}

func main() {
	ctx := context.Background()
	learner := must(pcl.New(ctx, pcl.Options{Model: must(pcl.NewMLP(8, []int{32}, 4))}))
	defer learner.Close()
	for seed, classes := range []dots{{0, 1}, {2, 3}} { // two tasks at once, each for four epochs
		must(learner.Attach(pcl.Task{Classes: classes, Stream: must(pcl.NewStream(classes, 4, 1234, seed)), Test: classes}))
	}
	must(0, learner.Run(ctx, pcl.Hooks{Evaluate: func(steps int, accuracy map[int]float64) error {
		fmt.Println(steps, "steps, accuracy of each task:", accuracy)
		return nil
	}}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
