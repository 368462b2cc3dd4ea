package method_test

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/pcl/method"
)

// Two streams with opposing gradients, from their Gram matrix alone.
func Example() {
	m := &method.EMGDGMC{Tau: 1}
	w := make([]float64, 2)
	if _, err := m.Weights(&method.Step{IDs: []int{1, 2}, Gram: []float64{18, -22, -22, 38}}, w); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("d = %.3f J₁ + %.3f J₂\n", w[0], w[1])
	// Output: d = 1.251 J₁ + 0.963 J₂
}

// The same method by its name.
func ExampleNew() {
	m, err := method.New("emgd-gmc", map[string]any{"tau": 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := make([]float64, 2)
	if _, err := m.Weights(&method.Step{IDs: []int{1, 2}, Gram: []float64{18, -22, -22, 38}}, w); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("d = %.3f J₁ + %.3f J₂\n", w[0], w[1])
	// Output: d = 1.251 J₁ + 0.963 J₂
}

// inverse gives streams with a large loss a small weight.
type inverse struct {
	Power float64 `param:"power" default:"1" range:"(0,10]" doc:"power of the loss"`
}

func (*inverse) Needs() method.Needs { return method.Needs{Losses: true} }

func (r *inverse) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	for i, loss := range s.Losses {
		w[i] = 1 / (1 + math.Pow(loss, r.Power))
	}
	return method.Outcome{}, nil
}

// A method of your own, known by its name from then on.
func ExampleRegister() {
	method.Register(method.Info{
		Name: "inverse", Title: "Inverse loss", Family: "mtl", Rule: "wᵢ = 1/(1+ℓᵢᵖ)", Source: "this example",
		Cost: "K(F+B)", State: "none", SumW: "between 0 and K",
	}, func() method.Method { return new(inverse) })
	m, err := method.New("inverse", map[string]any{"rescale": "mean"})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := make([]float64, 2)
	if _, err := m.Weights(&method.Step{IDs: []int{1, 2}, Losses: []float64{1, 3}}, w); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", w)
	// Output: [0.667 0.333]
}
