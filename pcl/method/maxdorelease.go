package method

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
)

func init() {
	Register(Info{
		Name: "maxdo-release", Title: "MaxDO (release)", Family: "pcl",
		Rule: "wⱼ = (Σᵢ Pᵢⱼ + aⱼ)/(K+1), where P results from five SGD steps on the mean relative distance of " +
			"Σⱼ PᵢⱼJⱼ to Jᵢ, and a are the weights of MGDA",
		Source: "reconstructed from the benchmark code of Lyu et al., ICCV 2023 and arXiv 2407.08214",
		Cost:   "K(F+B) + Gram O(K²P) + five steps on a K×K matrix", State: "none", SumW: "1",
	}, func() Method { return new(MaxDORelease) })
}

// The release's settings (docs/method.md §6).
const (
	maxDOSteps    = 5
	maxDORate     = 50.0 // K > 2
	maxDOPairRate = 10.0 // K = 2
	maxDOFactor   = 0.1  // of the loss
)

// MaxDORelease is a reconstruction: each gradient is approached by a mixture P of the others, a row
// softmax of A without its diagonal, with the relative asymmetric distance rad(x→y) =
// ‖x−y‖/(‖x−y‖+‖y‖). For two streams a softmax over one entry would be constant; there A itself,
// clipped to [0,1], is the mixture, and the weights are the softmax of its column sums.
type MaxDORelease struct {
	solver emgd.Solver
}

// Needs asks for the Gram matrix.
func (*MaxDORelease) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *MaxDORelease) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		switch r.k() {
		case 1:
			return []float64{1}, nil
		case 2:
			return maxDOPair(r), nil
		}
		return m.mixed(r)
	})
}

func maxDOPair(r *rows) []float64 {
	a := []float64{1, 1} // how much of the other gradient stands for gradient i
	for range maxDOSteps {
		var g [2]float64
		for i := range a {
			p := []float64{0, 0}
			p[1-i] = a[i]
			g[i] = radGradient(r, i, p)[1-i]
		}
		for i := range a {
			a[i] = min(1, max(0, a[i]-maxDOPairRate*maxDOFactor/2*g[i]))
		}
	}
	// Column j holds how much gradient j stands for the other.
	x := 1 / (1 + math.Exp(a[0]-a[1]))
	return []float64{x, 1 - x}
}

func (m *MaxDORelease) mixed(r *rows) ([]float64, error) {
	k := r.k()
	a := make([]float64, k*k)
	fill(a, 1/float64(k-1))
	for range maxDOSteps {
		p := offDiagonalSoftmax(a, k)
		for i := range k {
			row := p[i*k : (i+1)*k]
			g := radGradient(r, i, row)
			mean := inner(row, g)
			for j := range k {
				a[i*k+j] -= maxDORate * maxDOFactor / float64(k) * row[j] * (g[j] - mean)
			}
		}
	}
	lambda, err := lambdas(&m.solver, r.gram, ones(k))
	if err != nil {
		return nil, err
	}
	v := slices.Clone(lambda)
	for i, x := range offDiagonalSoftmax(a, k) {
		v[i%k] += x
	}
	for j := range v {
		v[j] /= float64(k + 1)
	}
	return v, nil
}

// radGradient is ∂rad(x→Jᵢ)/∂pⱼ for x = Σ pⱼJⱼ; 0 where x = Jᵢ, as the distance has no slope there.
func radGradient(r *rows, i int, p []float64) []float64 {
	off := append([]float64(nil), p...)
	off[i]--
	g := times(r.gram, off) // Jⱼ·(x−Jᵢ)
	y, e := math.Sqrt(r.dot(i, i)), normOf(r.gram, off)
	slope := 0.0
	if e > cancelled*r.size(off) {
		slope = y / (e + y) / (e + y) / e
	}
	for j := range g {
		g[j] *= slope
	}
	return g
}

// offDiagonalSoftmax is the softmax of each row of a without its diagonal entry.
func offDiagonalSoftmax(a []float64, k int) []float64 {
	p := make([]float64, k*k)
	for i := range k {
		top, sum := math.Inf(-1), 0.0
		for j := range k {
			if j != i {
				top = max(top, a[i*k+j])
			}
		}
		for j := range k {
			if j != i {
				p[i*k+j] = math.Exp(a[i*k+j] - top)
				sum += p[i*k+j]
			}
		}
		for j := range k {
			p[i*k+j] /= sum
		}
	}
	return p
}
