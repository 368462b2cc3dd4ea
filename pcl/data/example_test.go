package data_test

import (
	"fmt"
	"io"
	"log"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// squares are samples of one value; odd and even ones are two classes.
type squares int

func (s squares) Len() int { return int(s) }

func (s squares) Sample(i int, x []float32) (class int) {
	x[0] = float32(i * i)
	return i % 2
}

// Five samples, in a new order in each of two epochs, in batches of at most three.
func ExampleNewStream() {
	stream, err := data.NewStream(squares(5), 2, 1234, 1)
	if err != nil {
		log.Fatal(err)
	}
	for {
		b := &data.Batch{X: make([]float32, 3), Class: make([]int, 3)}
		if err := stream.Next(b); err == io.EOF {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.X[:b.N], b.Class[:b.N], "again:", b.Repeat)
	}
	// Output:
	// [9 1 0] [1 1 0] again: false
	// [4 16] [0 0] again: false
	// [4 1 9] [0 1 1] again: true
	// [0 16] [0 0] again: true
}
