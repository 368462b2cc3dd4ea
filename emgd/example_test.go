package emgd_test

import (
	"fmt"

	"github.com/parallelcl/parallelcl/emgd"
)

// Three streams with gradients (1,0,0), (0,2,0) and (2,2,1).
var gram = []float64{
	1, 0, 2,
	0, 4, 4,
	2, 4, 9,
}

// problem is gram, which is known to be one.
var problem, _ = emgd.NewProblem(gram)

func ExampleSolver() {
	var solver emgd.Solver
	c, err := solver.Solve(problem, []float64{0.2, 0.3, 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("λ = %.3f, ‖d‖² = %.3f\n", c.Lambda, c.Norm2)
	fmt.Printf("active %v, slack of the third %.3f\n", c.Active, c.Slacks[2])
	fmt.Println(c.Status)
	// Output:
	// λ = [3.200 1.200 0.000], ‖d‖² = 16.000
	// active [0 1], slack of the third 3.200
	// optimal
}

// Opposite gradients cancel: nothing decreases both losses.
func ExampleStatus_Message() {
	var solver emgd.Solver
	p, err := emgd.FromGradients([][]float64{{1}, {-2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := solver.Solve(p, []float64{0.5, 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Status)
	fmt.Println(c.Status.Message()[:15])
	// Output:
	// stationary
	// Pareto critical
}

// One EMGD step: elastic factors by gradient magnitude (GMC), then the weights.
func ExampleElastic() {
	var elastic emgd.Elastic // GMC, τ = 5, ε1 = 0.9
	var solver emgd.Solver
	sigma := make([]float64, 3)
	if err := elastic.Factors([]int{0, 4, 5}, problem, sigma); err != nil {
		fmt.Println(err)
		return
	}
	c, err := solver.Solve(problem, sigma)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("σ = %.4f\n", sigma)
	fmt.Printf("λ = %.4f\n", c.Lambda)
	delete(elastic.Norms, 4) // the stream has finished
	// Output:
	// σ = [0.2693 0.3289 0.4018]
	// λ = [2.7045 0.8258 0.0000]
}
