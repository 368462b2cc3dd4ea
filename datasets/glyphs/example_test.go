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
	fmt.Println(len(train.Labels), len(test.Labels), len(train.Pixels)/glyphs.Bytes)
	// Output: 620 124 620
}

// A character nearly without distortion, as text.
func ExampleRender() {
	img := glyphs.Render(glyphs.Config{Difficulty: 0.01}, glyphs.Train, 21, 0) // L
	for y := 4; y < 24; y += 2 {
		for x := 6; x < 22; x++ {
			fmt.Printf("%c", " .*#"[img[y*glyphs.Side+x]/64])
		}
		fmt.Println("|")
	}
	// Output:
	//                 |
	//    ##           |
	//    ##.          |
	//    ##.          |
	//    ##.          |
	//    ##.          |
	//    ##.          |
	//    ##.          |
	//    ##########   |
	//                 |
}
