package features_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/features"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// photos would be pictures of 64×64, with three channels in [0,1].
var photos data.Samples

// A learner on features takes pictures, and predicts on pictures. It can unlearn a task to the bit,
// and then the cache has no features of that task's pictures either.
func ExampleOpen() {
	ctx := context.Background()
	spec, err := features.Parse("efficientnet-lite0")
	if err != nil {
		log.Fatal(err)
	}
	backbone, err := features.Open(ctx, spec, features.Options{}, 64, 64, 3)
	if err != nil {
		log.Fatal(err)
	}
	defer backbone.Close()
	net, err := pcl.NewMLP(features.Width, nil, 10) // lda does not use it
	if err != nil {
		log.Fatal(err)
	}
	learner, err := pcl.New(ctx, pcl.Options{Model: net, Features: backbone, Method: &method.LDA{}})
	if err != nil {
		log.Fatal(err)
	}
	defer learner.Close()
	stream, err := pcl.NewStream(photos, 1, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	task, err := learner.Attach(pcl.Task{Classes: []int{0, 1}, Stream: stream})
	if err == nil {
		err = learner.Run(ctx, pcl.Hooks{})
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(learner.Predict(make([]float32, 64*64*3)))
	fmt.Println(learner.Unlearn(task, photos))
}
