package method

import "math"

// The arithmetic on short vectors that rules have in common.

func fill(w []float64, v float64) {
	for i := range w {
		w[i] = v
	}
}

func sumOf(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

// toSum scales positive weights to a given sum.
func toSum(w []float64, sum float64) {
	factor := sum / sumOf(w)
	for i := range w {
		w[i] *= factor
	}
}

// softmax replaces z by its softmax.
func softmax(z []float64) {
	top := math.Inf(-1)
	for _, x := range z {
		top = max(top, x)
	}
	for i, x := range z {
		z[i] = math.Exp(x - top)
	}
	toSum(z, 1)
}

func difference(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i, x := range a {
		d[i] = x - b[i]
	}
	return d
}

func inner(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// times is m·v for a square matrix m, row-major. Sums of four rows at a time do not wait for each other.
func times(m, v []float64) []float64 {
	k := len(v)
	out := make([]float64, k)
	i := 0
	for ; i+4 <= k; i += 4 {
		a, b, c, d := m[i*k:][:k], m[(i+1)*k:][:k], m[(i+2)*k:][:k], m[(i+3)*k:][:k]
		var s, t, u, w float64
		for j, x := range v {
			s, t, u, w = s+a[j]*x, t+b[j]*x, u+c[j]*x, w+d[j]*x
		}
		out[i], out[i+1], out[i+2], out[i+3] = s, t, u, w
	}
	for ; i < k; i++ {
		out[i] = inner(m[i*k:(i+1)*k], v)
	}
	return out
}
