package stats_test

import (
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl/stats"
)

// benchmark makes scores of three label sets × three timelines × three seeds: A in percent.
func benchmark(of func(situation, seed int) float64) (out []stats.Score) {
	for situation := range 9 {
		for seed := range 3 {
			at := stats.Situation{LabelSet: uint64(situation / 3), Timeline: uint64(situation % 3)}
			out = append(out, stats.Score{Trial: stats.Trial{Situation: at, Seed: uint64(1234 + seed)},
				Value: of(situation, seed)})
		}
	}
	return out
}

// Two methods, of which the second is ½ to 2½ points better.
var (
	avggrad = benchmark(func(situation, seed int) float64 { return 40 + 2*float64(situation) + 0.5*float64(seed) })
	emgd    = benchmark(func(situation, seed int) float64 {
		return 40.5 + 2*float64(situation) + 0.5*float64(seed) + float64((situation+seed)%3)
	})
)

// The two deviations are different things: over the means of the seeds, and over all runs.
func ExampleSummarize() {
	s := stats.Summarize(emgd)
	fmt.Printf("%v (3 seeds), ± %.2f (27 runs)\n", s, s.StdRuns)
	// Output: 50.00 ± 0.41 (3 seeds), ± 5.24 (27 runs)
}

// Nine situations, each the mean of its seeds, are nine pairs.
func ExampleContrasts() {
	c := stats.Contrasts(stats.Situations(emgd, avggrad))[0]
	fmt.Printf("%d situations, %.1f points better, p = %.4f\n", c.Pairs, c.Difference, c.P)
	// Output: 9 situations, 1.5 points better, p = 0.0039
}

func ExampleHolm() {
	fmt.Printf("%.2f\n", stats.Holm([]float64{0.04, 0.01, 0.03}))
	// Output: [0.06 0.03 0.06]
}

// Compare computes what a critical-difference diagram draws: average ranks, and which methods the
// tests cannot tell apart.
func ExampleCompare() {
	var scores [][]float64
	for i := range 10 {
		x := 40 + float64(i)
		scores = append(scores, []float64{x, x + 5 + float64(i%2), x + 5 + float64((i+1)%2)})
	}
	c, err := stats.Compare(scores, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	methods := []string{"avggrad", "emgd-gmc", "mgda"}
	for _, i := range c.Order {
		fmt.Printf("%.1f %s\n", c.Ranks[i], methods[i])
	}
	for _, line := range c.Cliques {
		fmt.Println("not told apart: places", line[0]+1, "to", line[1]+1)
	}
	// Output:
	// 1.5 emgd-gmc
	// 1.5 mgda
	// 3.0 avggrad
	// not told apart: places 1 to 2
}
