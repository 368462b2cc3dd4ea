package datasets_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/datasets"
)

func ExampleOpen() {
	d, err := datasets.Open(context.Background(), "glyphs", datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d train, %d test, %d classes, %d×%d×%d\n", d.Title, d.Train.Len(), d.Test.Len(), len(d.Classes),
		d.Height, d.Width, d.Channels)
	fmt.Println("image 10 is", d.Classes[d.Train.Labels[10]], "and has", len(d.Image(&d.Train, 10)), "bytes")
	// Output:
	// Glyphs: 24800 train, 4960 test, 62 classes, 28×28×1
	// image 10 is A and has 784 bytes
}

func ExampleList() {
	for _, i := range datasets.List() {
		fmt.Println(i.Name, i.Classes, i.Image)
	}
	// Output:
	// glyphs 62 28×28×1
	// glyphs-tune 62 28×28×1
	// emnist-byclass 62 28×28×1
	// emnist-byclass-test80 62 28×28×1
	// mnist 10 28×28×1
	// mnist-test80 10 28×28×1
	// cifar-10 10 32×32×3
	// cifar-100 100 32×32×3
	// tiny-imagenet 200 64×64×3
	// tiny-imagenet-32 200 32×32×3
}
