package pcl

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
)

// Optimizer turns the direction d into a step of all parameters.
type Optimizer struct {
	Name string  `json:"name" toml:"name"` // "adam" or "sgd"
	LR   float64 `json:"lr" toml:"lr"`     // step size γ
	// Beta1, Beta2 and Epsilon are Adam's; zero values stand for 0.9, 0.999 and 1e-7.
	Beta1   float64 `json:"beta1,omitempty" toml:"beta1"`
	Beta2   float64 `json:"beta2,omitempty" toml:"beta2"`
	Epsilon float64 `json:"epsilon,omitempty" toml:"epsilon"`
}

func (o Optimizer) withDefaults() Optimizer {
	if o.Name == "adam" {
		o.Beta1 = orDefault(o.Beta1, 0.9)
		o.Beta2 = orDefault(o.Beta2, 0.999)
		o.Epsilon = orDefault(o.Epsilon, 1e-7)
	}
	return o
}

// key names what is compiled in: everything but the learning rate.
func (o Optimizer) key() string {
	return fmt.Sprintf("%s %g %g %g", o.Name, o.Beta1, o.Beta2, o.Epsilon)
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

func (o Optimizer) validate() error {
	if o.Name != "adam" && o.Name != "sgd" {
		return fmt.Errorf("optimizer %q is neither \"adam\" nor \"sgd\"", o.Name)
	}
	if !(o.LR > 0) || math.IsInf(o.LR, 1) {
		return fmt.Errorf("learning rate %g is not a positive number", o.LR)
	}
	share := func(x float64) bool { return x >= 0 && x < 1 } // false for NaN, as the next
	if !share(o.Beta1) || !share(o.Beta2) || !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 1) {
		return fmt.Errorf("adam needs 0 ≤ β < 1 and a number ε ≥ 0; got β₁=%g, β₂=%g, ε=%g", o.Beta1, o.Beta2, o.Epsilon)
	}
	return nil
}

// hyperSize is the length of the vector of scalars that changes from step to step.
const hyperSize = 3

// hyper returns γ and Adam's bias corrections at its t-th step (from 1).
func (o Optimizer) hyper(t int) []float32 {
	return []float32{
		float32(o.LR),
		float32(1 / (1 - math.Pow(o.Beta1, float64(t)))),
		float32(1 / (1 - math.Pow(o.Beta2, float64(t)))),
	}
}

// optimizerRule is an optimiser as graph code on flat vectors.
type optimizerRule struct {
	slots []string // what it remembers, each as large as θ
	build func(state []*graph.Node, d, hyper *graph.Node) []*graph.Node
}

func (o Optimizer) rule() optimizerRule {
	if o.Name == "sgd" {
		return optimizerRule{build: func(state []*graph.Node, d, hyper *graph.Node) []*graph.Node {
			return []*graph.Node{graph.Sub(state[0], graph.Mul(element(hyper, 0), d))}
		}}
	}
	return optimizerRule{slots: []string{"m", "v"}, build: o.adam}
}

// adam is Kingma & Ba 2015, Algorithm 1.
func (o Optimizer) adam(state []*graph.Node, d, hyper *graph.Node) []*graph.Node {
	theta, m, v := state[0], state[1], state[2]
	m = graph.Add(graph.MulScalar(m, o.Beta1), graph.MulScalar(d, 1-o.Beta1))
	v = graph.Add(graph.MulScalar(v, o.Beta2), graph.MulScalar(graph.Mul(d, d), 1-o.Beta2))
	mean := graph.Mul(m, element(hyper, 1))
	root := graph.AddScalar(graph.Sqrt(graph.Mul(v, element(hyper, 2))), o.Epsilon)
	step := graph.Mul(element(hyper, 0), graph.Div(mean, root))
	return []*graph.Node{graph.Sub(theta, step), m, v}
}

// element is x[i] as a vector of one, which broadcasts.
func element(x *graph.Node, i int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(i, i+1))
}
