package emgd

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var million = flag.Bool("million", false, "run TestMillion on 1,000,000 problems instead of 20,000")

// illConditioned is the largest violation that the status IllConditioned may come with: relative to
// ‖J_i‖‖d‖ or, where that is nearly cancelled, to ‖J_i‖Σλ_j‖J_j‖.
func illConditioned(c *Certificate) float64 { return max(1e-6, 1e-10/c.Cancellation) }

// TestMillion solves random problems of every kind: K from 1 to 20, gradients from 1e-15 to 1e15,
// duplicate, opposite, nearly parallel, zero and rank-deficient rows, every kind of factors, floors.
func TestMillion(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	if *million {
		n = 1_000_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	worst, constraint, gap, claimed, iterations := 0.0, 0.0, 0.0, 0.0, 0
	status := map[Status]int{}
	buckets := map[int]int{}
	for trial := range n {
		p := randomProblem(r, 20)
		c, err := p.solver().Solve(of(p.gram), p.sigma)
		if err != nil {
			t.Fatalf("problem %d: %v", trial, err)
		}
		for i, l := range c.Lambda {
			if !(l >= 0) || math.IsInf(l, 1) || math.IsNaN(c.Slacks[i]) {
				t.Fatalf("problem %d: λ = %v, slacks = %v", trial, c.Lambda, c.Slacks)
			}
		}
		v, e := judge(p, c)
		status[c.Status]++
		buckets[int(math.Ceil(math.Log10(v+1e-20)))]++
		limit := 1e-9
		if c.Status == IllConditioned && p.kind == "near" {
			limit = illConditioned(c)
		}
		if v > limit || e > 1e-9 || c.Status == IterationLimit {
			t.Errorf("problem %d (K=%d floor=%v zero=%v): violation %.2g constraint %.2g status %v cancellation %.2g iterations %d claimed %.2g", trial, p.k(), p.floor, p.zero, v, e, c.Status, c.Cancellation, c.Iterations, c.Violation)
		}
		worst, constraint, gap = max(worst, v), max(constraint, e), max(gap, c.Gap)
		claimed = max(claimed, c.Violation)
		iterations = max(iterations, c.Iterations)
	}
	t.Logf("%d problems: worst violation %.3g (claimed %.3g), worst |Σλσ−1| %.3g, worst gap %.3g, most iterations %d, %v, 10^%v",
		n, worst, claimed, constraint, gap, iterations, status, buckets)
}
