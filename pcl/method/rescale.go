package method

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// rescaling declares the parameter that every method has.
type rescaling struct {
	Rescale Rescaling `param:"rescale" default:"native" choices:"native,mean,match_avg" doc:"how d is scaled: native (by the method itself), mean (w/|Σw|), or match_avg (to the length of the mean gradient)"`
}

var rescaleParam = params.Of(rescaling{})[0]

// Rescaled is a method with another scale of d (docs/method.md §1.4).
type Rescaled struct {
	Method Method
	To     Rescaling // the zero value stands for RescaleNative

	setup
}

// Unwrap returns the method.
func (r *Rescaled) Unwrap() Method { return r.Method }

// Start checks the scale.
func (r *Rescaled) Start() error {
	to := rescaling{r.To}
	if err := params.Fill(&to); err != nil {
		return err
	}
	r.To = to.Rescale
	return nil
}

// Info is the method's, but for the sum of its weights.
func (r *Rescaled) Info() Info {
	info := Describe(r.Method)
	switch r.To {
	case RescaleMean:
		info.SumW = "1"
	case RescaleMatchAvg:
		info.SumW = "‖d‖ = ‖mean‖"
	}
	return info
}

// Needs are the method's, and the Gram matrix for match_avg.
func (r *Rescaled) Needs() Needs {
	needs := r.Method.Needs()
	needs.Gram = needs.Gram || r.To == RescaleMatchAvg
	return needs
}

// Weights scales the method's weights and direction.
func (r *Rescaled) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(r, w); err != nil {
		return Outcome{}, err
	}
	out, err := r.Method.Weights(s, w)
	if err != nil || r.To == RescaleNative {
		return out, err
	}
	factor := r.factor(s, w, out.Direction)
	floats.Scale(factor, w)
	floats.Scale(factor, out.Direction)
	return out, nil
}

func (r *Rescaled) factor(s *Step, w, direction []float64) float64 {
	if r.To == RescaleMean {
		return MeanScale(w)
	}
	gram := s.Gram
	own, parts := normOf(gram, w), 0.0
	if direction != nil {
		own = math.Ldexp(floats.Norm(direction, 2), -s.exponent())
	}
	for i, x := range w {
		parts += math.Abs(x) * math.Sqrt(gram[i*len(w)+i])
	}
	if own <= cancelled*parts {
		return 1 // d is 0 up to rounding, which must not be blown up
	}
	return normOf(gram, even(len(w))) / own
}

// MeanScale returns 1/|Σw|, by which a weighted sum of gradients becomes a weighted mean of them.
// Where negative weights outweigh the others, the sum keeps its direction. If Σw is 0 up to
// rounding, MeanScale returns 1.
func MeanScale(w []float64) float64 {
	size := 0.0
	for _, x := range w {
		size += math.Abs(x)
	}
	total := math.Abs(sumOf(w))
	if !(total > cancelled*size) {
		return 1
	}
	return 1 / total
}

// cancelled is the ‖d‖/Σ|wᵢ|‖Jᵢ‖ below which float64 cannot tell d from 0 by its Gram matrix, and
// the |Σw|/Σ|w| below which a sum of weights is not divided by.
const cancelled = 1e-6

// normOf returns ‖Σ wᵢJᵢ‖ from the Gram matrix (row-major K×K).
func normOf(gram, w []float64) float64 {
	k, top := len(w), 0.0
	for i, x := range w { // the longest part: dividing by it keeps the products in range
		top = max(top, math.Abs(x)*math.Sqrt(gram[i*k+i]))
	}
	if top == 0 {
		return 0
	}
	part, total := make([]float64, k), 0.0
	for i, x := range w {
		part[i] = x / top
	}
	for i, x := range part {
		for j, m := range gram[i*k : (i+1)*k] {
			total += x * m * part[j]
		}
	}
	return top * math.Sqrt(max(total, 0))
}
