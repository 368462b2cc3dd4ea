package memory_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// A budget of six samples in all: the second task thins out the first one's class.
func Example() {
	store, err := memory.NewStore(memory.Config{Policy: "fixed_total", Budget: 6}, 1234)
	if err != nil {
		log.Fatal(err)
	}
	for task := 1; task <= 2; task++ {
		var samples []memory.Item
		for i := range 10 {
			samples = append(samples, memory.Item{Task: task, Class: task, Pixels: []float32{float32(i) / 10}})
		}
		store.Add(samples)
		count := map[int]int{}
		for i := range store.Len() {
			count[store.Item(i).Class]++
		}
		fmt.Println("samples of each class:", count)
	}
	fmt.Println("a batch of", len(store.Draw(4)))
	// Output:
	// samples of each class: map[1:6]
	// samples of each class: map[1:3 2:3]
	// a batch of 4
}
