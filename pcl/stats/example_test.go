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
			out = append(out, stats.Score{
				LabelSet: uint64(situation / 3), Timeline: uint64(situation % 3), Seed: uint64(1234 + seed), Value: of(situation, seed),
			})
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
	s, err := stats.Summarize(emgd)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f ± %.2f (3 seeds), ± %.2f (27 runs)\n", s.Mean, s.StdSeeds, s.StdRuns)
	// Output: 50.00 ± 0.41 (3 seeds), ± 5.24 (27 runs)
}

// Nine situations, each the mean of its seeds, are nine pairs.
func ExampleSignFlip() {
	x, y, err := stats.Situations(emgd, avggrad)
	if err != nil {
		log.Fatal(err)
	}
	r, err := stats.SignFlip(x, y)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d situations, %.1f points better, p = %.4f\n", r.Pairs, r.Mean, r.P)
	// Output: 9 situations, 1.5 points better, p = 0.0039
}

// Three pairs are no evidence, whatever they are.
func ExampleTooFewError() {
	_, err := stats.Wilcoxon([]float64{61, 72, 58}, []float64{50, 60, 49})
	fmt.Println(err)
	// Output: stats: no test of 3 pairs can be significant at the level 0.05: even if all differ in one direction, p is 0.25; it takes 6 pairs
}

// Demšar (2006), Table 2: C4.5 on 14 data sets, without and with a tuned parameter.
func ExampleWilcoxon() {
	plain := []float64{0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1, 0.940, 0.619, 0.972, 0.957}
	tuned := []float64{0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1, 0.962, 0.666, 0.981, 0.978}
	r, err := stats.Wilcoxon(tuned, plain)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rank sums %v and %v, p = %.4f\n", r.Plus, r.Minus, r.P)
	// Output: rank sums 93 and 12, p = 0.0078
}

func ExampleHolm() {
	p, err := stats.Holm([]float64{0.04, 0.01, 0.03})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", p)
	// Output: [0.06 0.03 0.06]
}

func ExampleBootstrap() {
	for _, plan := range []stats.Plan{{}, {Over: stats.Crossed, OneFewer: true}} {
		mean, err := stats.Bootstrap(emgd, stats.Mean, plan)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: %.1f, from %.1f to %.1f\n", plan.Over, mean.Estimate, mean.Low, mean.High)
	}
	// Output:
	// seeds within each situation: 50.0, from 49.7 to 50.3
	// label sets, their timelines, and seeds across all: 50.0, from 43.5 to 56.6
}

func ExampleBootstrapPair() {
	plan := stats.Plan{Over: stats.Crossed, OneFewer: true}
	difference, err := stats.BootstrapPair(emgd, avggrad, stats.MeanDifference, plan)
	if err != nil {
		log.Fatal(err)
	}
	improved, err := stats.BootstrapPair(emgd, avggrad, stats.Improvement, plan)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f points better, from %.1f to %.1f\n", difference.Estimate, difference.Low, difference.High)
	fmt.Printf("better with probability %.2f, from %.2f to %.2f\n", improved.Estimate, improved.Low, improved.High)
	// Output:
	// 1.5 points better, from 1.0 to 2.0
	// better with probability 0.93, from 0.81 to 1.00
}

// What a critical-difference diagram draws: average ranks, and which methods the tests cannot tell apart.
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
