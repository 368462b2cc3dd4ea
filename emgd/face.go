package emgd

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// face is the face of an [activeSet]'s support, seen from its base e = support[0]: with ratios
// t_j = s_j/s_e, the constraint gives ν_e = (τ − Σs_jν_j)/s_e, and what is left to minimise over is
// a plain quadratic with the matrix
//
//	R_jk = (u_j − t_j u_e)·(u_k − t_k u_e),
//
// which is non-singular exactly when the points of the support are affinely independent. face keeps
// its Cholesky factor LLᵀ = R and y = L⁻¹·rhs while rows come and go. Position k of the support
// (k ≥ 1) is row k of L.
type face struct {
	n, r int       // the stride, and the length of the support
	l    []float64 // row k at l[k·n], entries 1..k
	inv  []float64 // 1/L_kk
	y    []float64
	t    []float64 // s_k/s_e

	raised bool    // a pivot is not the true one: start anew when a row leaves
	terms  float64 // the size of the terms in the base's coefficient, after combination
}

// dependent is the squared pivot up to which a row counts as a combination of the support, relative
// to the terms that cancelled in it: M, which is rounded, cannot tell. The row's condition then
// follows from the conditions of the support, up to √dependent ≈ 6e-8.
const dependent = 4e-15

func (f *face) resize(n int) {
	f.n, f.r, f.raised = n, 0, false
	f.l = fp.Grow(f.l, n*n)
	f.inv, f.y, f.t = fp.Grow(f.inv, n), fp.Grow(f.y, n), fp.Grow(f.t, n)
}

// factor starts anew from the support of w. Rows there are independent; pivots that rounding made
// too small are raised.
func (f *face) factor(w *activeSet) {
	f.r, f.raised = 1, false
	for _, j := range w.support[1:] {
		pivot, scale := f.row(w, j)
		if least := dependent * scale; pivot < least {
			pivot, f.raised = least, true
		}
		f.commit(w, j, pivot)
	}
}

// append adds row j, or reports false if it depends on the rows there; its coefficients in terms of
// the support's rows are then in w.x.
func (f *face) append(w *activeSet, j int) bool {
	pivot, scale := f.row(w, j)
	if !(pivot > dependent*scale) {
		f.combination(w, j)
		return false
	}
	f.commit(w, j, pivot)
	return true
}

// row writes L⁻¹R_j to the free row and returns the squared pivot and the size of the terms in it.
func (f *face) row(w *activeSet, j int) (pivot, scale float64) {
	n, e := f.n, w.support[0]
	cj, ce := w.c[j*n:j*n+n], w.c[e*n:e*n+n]
	tj := w.s[j] / w.s[e]
	cross := cj[e] - tj*ce[e]
	row := f.l[f.r*n : f.r*n+f.r]
	pivot = cj[j] - tj*(cj[e]+cross)
	scale = cj[j] + tj*tj*ce[e]
	for k := 1; k < f.r; k++ {
		i := w.support[k]
		v := cj[i] - tj*ce[i] - f.t[k]*cross
		lk := f.l[k*n+1 : k*n+k]
		done := row[1:k]
		for m, a := range lk {
			v -= a * done[m]
		}
		v *= f.inv[k]
		row[k] = v
		pivot -= v * v
	}
	return pivot, scale
}

// commit makes the free row part of the factor.
func (f *face) commit(w *activeSet, j int, pivot float64) {
	n, r, e := f.n, f.r, w.support[0]
	root := math.Sqrt(pivot)
	tj := w.s[j] / w.s[e]
	y := -(w.tau / w.s[e]) * (w.c[j*n+e] - tj*w.c[e*n+e])
	if w.shifted {
		y -= w.q[j] - tj*w.q[e]
	}
	row := f.l[r*n : r*n+r+1]
	for k := 1; k < r; k++ {
		y -= row[k] * f.y[k]
	}
	row[r] = root
	f.inv[r], f.t[r] = 1/root, tj
	f.y[r] = y * f.inv[r]
	f.r++
}

// drop removes row k ≥ 1 and restores the triangle by rotations of columns.
func (f *face) drop(k int) {
	n, r := f.n, f.r
	for i := k + 1; i < r; i++ {
		copy(f.l[(i-1)*n:(i-1)*n+i+1], f.l[i*n:i*n+i+1])
	}
	copy(f.t[k:r-1], f.t[k+1:r])
	for i := k; i < r-1; i++ {
		a, b := f.l[i*n+i], f.l[i*n+i+1]
		h := math.Sqrt(a*a + b*b)
		c, s := a/h, b/h
		f.l[i*n+i], f.inv[i] = h, 1/h
		for m := i + 1; m < r-1; m++ {
			p := f.l[m*n+i : m*n+i+2 : m*n+i+2]
			p[0], p[1] = c*p[0]+s*p[1], c*p[1]-s*p[0]
		}
		f.y[i], f.y[i+1] = c*f.y[i]+s*f.y[i+1], c*f.y[i+1]-s*f.y[i]
	}
	f.r--
}

// minimiser writes the minimiser over the face to w.x.
func (f *face) minimiser(w *activeSet) {
	e := w.support[0]
	copy(w.x[1:f.r], f.y[1:f.r])
	f.backward(w.x)
	rest := w.tau
	for k := 1; k < f.r; k++ {
		rest -= w.s[w.support[k]] * w.x[k]
	}
	w.x[0] = rest / w.s[e]
}

// combination writes the coefficients of row j, which append refused, in terms of the support's
// rows to w.x.
func (f *face) combination(w *activeSet, j int) {
	copy(w.x[1:f.r], f.l[f.r*f.n+1:f.r*f.n+f.r])
	f.backward(w.x)
	rest := w.s[j] / w.s[w.support[0]]
	f.terms = rest
	for k := 1; k < f.r; k++ {
		rest -= f.t[k] * w.x[k]
		f.terms += math.Abs(f.t[k] * w.x[k])
	}
	w.x[0] = rest
}

// backward solves Lᵀx = x in place, over positions 1 and up.
func (f *face) backward(x []float64) {
	n := f.n
	for k := f.r - 1; k >= 1; k-- {
		v := x[k] * f.inv[k]
		x[k] = v
		floats.AddScaled(x[1:k], -v, f.l[k*n+1:k*n+k])
	}
}
