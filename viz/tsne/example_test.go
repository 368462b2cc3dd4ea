package tsne_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/viz/tsne"
)

// Three clusters in twenty dimensions.
func ExampleEmbed() {
	random := rand.New(rand.NewPCG(1, 1))
	var x [][]float64
	for i := range 150 {
		row := make([]float64, 20)
		for j := range row {
			row[j] = random.NormFloat64()
		}
		row[i%3] += 20
		x = append(x, row)
	}
	result, err := tsne.Embed(context.Background(), x, tsne.Options{Seed: 1234})
	if err != nil {
		fmt.Println(err)
		return
	}
	far := 0 // points that are far from the last one of their cluster
	for i, p := range result {
		last := result[147+i%3]
		if math.Hypot(p[0]-last[0], p[1]-last[1]) > 15 {
			far++
		}
	}
	fmt.Printf("%d positions, %d far from their cluster\n", len(result), far)
	// Output:
	// 150 positions, 0 far from their cluster
}
