package pcl_test

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
	for p := range x {
		x[p] = float32((7*i+3*p)%11) / 20
	}
	class = d[i%len(d)]
	x[class] = 1
	return class
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Two tasks of two classes; the second arrives while the first is being learnt.
func Example() {
	ctx := context.Background()
	learner := must(pcl.New(ctx, pcl.Options{Model: must(pcl.NewMLP(8, []int{32}, 4))}))
	defer learner.Close()
	attach := func(id int, classes ...int) {
		samples := dots(classes)
		stream := must(pcl.NewStream(samples, 4, 1234, id)) // four epochs of 20 batches; seed 1234
		must(learner.Attach(pcl.Task{Classes: classes, Stream: stream, Test: samples}))
	}
	attach(1, 0, 1)
	check(learner.Run(ctx, pcl.Hooks{
		OnStep: func(s *pcl.StepReport) error {
			if s.Step == 9 {
				attach(2, 2, 3)
			}
			return nil
		},
		Evaluate: func(steps int, accuracy map[int]float64) error { // when a task has ended
			fmt.Println(steps, "steps; above 90 %:", accuracy[1] > 0.9, accuracy[2] > 0.9)
			return nil
		},
	}))
	// Output:
	// 80 steps; above 90 %: true true
	// 90 steps; above 90 %: true true
}
