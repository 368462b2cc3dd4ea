package method

import (
	"math"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// fairness solves (Mx)ᵢ = cᵢ·xᵢ^(−1/a), x > 0, for a symmetric positive semidefinite M (row-major)
// and c > 0: the minimum of the convex ½xᵀMx − Σ cᵢxᵢ^q/q with q = 1−1/a, and −Σ cᵢ·log xᵢ where
// a = 1 (docs/method.md §4.10, Nash-MTL and FairGrad). Newton's method with a line search, in the
// relative steps xᵢ ← xᵢ(1+t·rᵢ) that do not see the scale of the rows. It stops when every xᵢ(Mx)ᵢ
// is cᵢxᵢ^q to 1e-10, or to the rounding of its sum where rows nearly cancel; there is no solution,
// and it fails, where some x ≥ 0 has Mx = 0.
func fairness(m, c []float64, a float64) ([]float64, error) {
	k := len(c)
	n := newton{m: m, c: c, q: 1 - 1/a, a: a, x: make([]float64, k), t: make([]float64, k), g: make([]float64, k),
		h: make([]float64, k*k)}
	for i := range k {
		n.x[i] = math.Pow(c[i]/m[i*k+i], a/(a+1))
	}
	for range newtonSteps {
		if n.evaluate() {
			return n.x, nil
		}
		r, err := n.direction()
		if err != nil {
			return nil, err
		}
		if !n.move(r) {
			break
		}
	}
	if !n.evaluate() && n.residual() > unsolved {
		return nil, errUnsolved
	}
	return n.x, nil
}

// newtonSteps bounds the iterations; ten to thirty are usual.
const newtonSteps = 500

type newton struct {
	m, c []float64
	a, q float64
	x    []float64
	t    []float64 // cᵢxᵢ^q
	g    []float64 // xᵢ(Mx)ᵢ − tᵢ
	h    []float64
	size []float64 // xᵢ Σⱼ|Mᵢⱼ|xⱼ + tᵢ, against which gᵢ is rounded
}

// evaluate updates t, g and size, and says whether x solves the equations.
func (n *newton) evaluate() bool {
	k := len(n.x)
	n.size = fp.Grow(n.size, k)
	done := true
	for i, x := range n.x {
		n.t[i] = n.c[i] * math.Pow(x, n.q)
		n.g[i], n.size[i] = -n.t[i], n.t[i]
		for j, y := range n.x {
			n.g[i] += x * n.m[i*k+j] * y
			n.size[i] += x * math.Abs(n.m[i*k+j]) * y
		}
		done = done && math.Abs(n.g[i]) <= 1e-10*n.t[i]+1e-15*n.size[i]
	}
	return done
}

// residual is the largest breach of an equation relative to the terms it is the sum of.
func (n *newton) residual() float64 {
	worst := 0.0
	for i := range n.x {
		worst = max(worst, math.Abs(n.g[i])/n.size[i])
	}
	return worst
}

// direction solves (XMX + diag(t)/a) r = −g for the relative step r, with its diagonal scaled to 1.
func (n *newton) direction() ([]float64, error) {
	k := len(n.x)
	scale := make([]float64, k)
	for i, x := range n.x {
		scale[i] = 1 / math.Sqrt(x*n.m[i*k+i]*x+n.t[i]/n.a)
	}
	r := make([]float64, k)
	for i, x := range n.x {
		r[i] = -n.g[i] * scale[i]
		for j, y := range n.x {
			n.h[i*k+j] = x * n.m[i*k+j] * y * scale[i] * scale[j]
		}
		n.h[i*k+i] += n.t[i] / n.a * scale[i] * scale[i]
	}
	if !cholesky(n.h, k) {
		return nil, errUnsolved
	}
	substitute(n.h, r)
	for i := range r {
		r[i] *= scale[i]
	}
	return r, nil
}

// move goes along r as far as the objective decreases enough, and says whether it could.
func (n *newton) move(r []float64) bool {
	slope, least := inner(n.g, r), 0.0
	for _, x := range r {
		least = min(least, x)
	}
	step := 1.0
	if least < 0 {
		step = min(1, -0.99/least)
	}
	for ; step > 1e-12; step /= 2 {
		if n.change(r, step) <= 1e-4*step*slope || step == 1 && least > -1e-6 {
			for i := range n.x {
				n.x[i] *= 1 + step*r[i]
			}
			return true
		}
	}
	return false
}

// change is the objective at x(1+step·r) less that at x, without the cancellation of subtracting.
func (n *newton) change(r []float64, step float64) float64 {
	k, total := len(n.x), 0.0
	for i, x := range n.x {
		y := step * r[i] * x
		for j, z := range n.x {
			total += y * n.m[i*k+j] * (z + step*r[j]*z/2)
		}
		if l := math.Log1p(step * r[i]); n.q == 0 {
			total -= n.t[i] * l
		} else {
			total -= n.t[i] * math.Expm1(n.q*l) / n.q
		}
	}
	return total
}

// cholesky replaces the lower half of a by its factor; false if a is not positive definite.
func cholesky(a []float64, k int) bool {
	for j := range k {
		for i := j; i < k; i++ {
			v := a[i*k+j] - inner(a[i*k:i*k+j], a[j*k:j*k+j])
			switch {
			case i > j:
				a[i*k+j] = v / a[j*k+j]
			case !(v > 0):
				return false
			default:
				a[j*k+j] = math.Sqrt(v)
			}
		}
	}
	return true
}

// substitute solves LLᵀx = b in place.
func substitute(l, b []float64) {
	k := len(b)
	for i := range k {
		b[i] = (b[i] - inner(l[i*k:i*k+i], b[:i])) / l[i*k+i]
	}
	for i := k - 1; i >= 0; i-- {
		for j := i + 1; j < k; j++ {
			b[i] -= l[j*k+i] * b[j]
		}
		b[i] /= l[i*k+i]
	}
}
