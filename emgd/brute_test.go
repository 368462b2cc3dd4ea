package emgd

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// enumerate is the independent oracle: it solves the bordered system of every support by Gaussian
// elimination, in the cosine Gram matrix, and returns the least ‖d‖² of those with λ ≥ floor. With a
// floor it works on the shifted weights λ − floor.
func enumerate(gram, sigma []float64, floor float64) float64 {
	k := len(sigma)
	tau := 1.0
	shift := make([]float64, k) // M·(floor,…,floor)
	for i := range k {
		tau -= floor * sigma[i]
		for j := range k {
			shift[i] += floor * gram[i*k+j]
		}
	}
	norm := make([]float64, k)
	for i := range norm {
		norm[i] = math.Sqrt(gram[i*k+i])
	}
	best := math.Inf(1)
	for set := 1; set < 1<<k; set++ {
		support := make([]int, 0, k)
		for i := range k {
			if set>>i&1 == 1 {
				support = append(support, i)
			}
		}
		n := bits.OnesCount(uint(set))
		a := make([][]float64, n+1)
		for r := range a {
			a[r] = make([]float64, n+2)
			for c := range n {
				switch {
				case r < n:
					i, j := support[r], support[c]
					a[r][c] = gram[i*k+j] / norm[i] / norm[j]
				default:
					a[r][c] = sigma[support[c]] / norm[support[c]]
				}
			}
			if r < n {
				a[r][n] = sigma[support[r]] / norm[support[r]]
				a[r][n+1] = -shift[support[r]] / norm[support[r]]
			} else {
				a[r][n+1] = tau
			}
		}
		x := eliminate(a)
		if x == nil {
			continue
		}
		lambda, ok := make([]float64, k), true
		for i := range lambda {
			lambda[i] = floor
		}
		for r, i := range support {
			ok = ok && x[r] >= -1e-10
			lambda[i] += x[r] / norm[i]
		}
		if !ok {
			continue
		}
		value := 0.0
		for i := range k {
			for j := range k {
				value += lambda[i] * gram[i*k+j] * lambda[j]
			}
		}
		best = min(best, value)
	}
	return best
}

func eliminate(a [][]float64) []float64 {
	n := len(a)
	for c := range n {
		p := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		if math.Abs(a[p][c]) < 1e-11 {
			return nil
		}
		a[c], a[p] = a[p], a[c]
		for r := range n {
			if r == c {
				continue
			}
			f := a[r][c] / a[c][c]
			for j := c; j <= n; j++ {
				a[r][j] -= f * a[c][j]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = a[i][n] / a[i][i]
	}
	return x
}

func TestAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	binding, inactive := 0, 0
	for trial := range 3000 {
		k := 2 + r.IntN(7)
		rows := gaussian(r, k, k+r.IntN(3))
		shift := r.Float64()
		for i := range rows {
			f := math.Pow(10, -1+2*r.Float64())
			rows[i][0] += shift
			for p := range rows[i] {
				rows[i][p] *= f
			}
		}
		sigma := make([]float64, k)
		sum := 0.0
		for i := range sigma {
			sigma[i] = math.Exp(r.NormFloat64())
			if i > 0 && r.IntN(6) == 0 {
				sigma[i] = 0
			}
			sum += sigma[i]
		}
		floor := 0.0
		if r.IntN(2) == 0 {
			floor = r.Float64() / sum
		}
		gram := gramOf(rows)
		c := solveRows(t, &Solver{Floor: floor}, rows, sigma)
		want := enumerate(gram, sigma, floor)
		if math.Abs(c.Norm2-want) > 1e-8*want {
			t.Errorf("trial %d: K=%d floor=%v: ‖d‖² = %v, enumeration gives %v", trial, k, floor, c.Norm2, want)
		}
		if len(c.Active) < k {
			inactive++
			if floor > 0 && c.Status == FloorBinding {
				binding++
			}
		}
	}
	if inactive < 500 || binding < 200 {
		t.Errorf("only %d problems with inactive rows, %d with a binding floor: the comparison is too easy", inactive, binding)
	}
}
