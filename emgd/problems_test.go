package emgd

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// of and from are the problems of a Gram matrix and of gradients that are known to be good.
func of(gram []float64) *Problem     { return sure(NewProblem(gram)) }
func from(rows [][]float64) *Problem { return sure(FromGradients(rows)) }
func sure(p *Problem, err error) *Problem {
	if err != nil {
		panic(err)
	}
	return p
}

// gramOf is the Gram matrix of gradients of ordinary size.
func gramOf(rows [][]float64) []float64 { return from(rows).Gram() }

// randomRows draws K rows of the given rank and then spoils some of them: duplicates, opposites,
// near-copies, zero rows, integers, per-row scales. near says whether there are near-copies: rows
// that agree to anything from 0 to 14 digits, and so perhaps to just the precision of M.
func randomRows(r *rand.Rand, k int) (rows [][]float64, near bool) {
	rank := 1 + r.IntN(k+5)
	dim := rank + r.IntN(3)
	base := gaussian(r, rank, dim)
	rows = make([][]float64, k)
	integers := r.IntN(6) == 0
	shift := 0.0
	if r.IntN(3) == 0 {
		shift = math.Pow(10, -2+3*r.Float64()) // gradients with a common part
	}
	for i := range rows {
		rows[i] = make([]float64, dim)
		for _, b := range base {
			c := r.NormFloat64()
			if integers {
				c = math.Round(c)
			}
			for p := range dim {
				x := b[p]
				if integers {
					x = math.Round(2 * x)
				}
				rows[i][p] += c * x
			}
		}
		rows[i][0] += shift
	}
	for i := range rows {
		if k == 1 || r.IntN(5) != 0 {
			continue
		}
		src := rows[r.IntN(k)]
		switch c := r.IntN(6); c {
		case 0: // duplicate
			copy(rows[i], src)
		case 1: // opposite, of another length
			f := -math.Exp(r.NormFloat64())
			for p := range rows[i] {
				rows[i][p] = f * src[p]
			}
		case 2, 3: // nearly parallel, nearly opposite
			near = true
			e := math.Pow(10, -14*r.Float64())
			for p := range rows[i] {
				rows[i][p] = float64(5-2*c)*src[p] + e*r.NormFloat64()
			}
		case 4: // zero
			clear(rows[i])
		case 5: // negative sum of the others: 0 in the hull
			clear(rows[i])
			for _, o := range rows {
				for p := range rows[i] {
					rows[i][p] -= o[p]
				}
			}
		}
	}
	scaleRows(r, rows)
	return rows, near
}

func gaussian(r *rand.Rand, n, dim int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, dim)
		for p := range rows[i] {
			rows[i][p] = r.NormFloat64()
		}
	}
	return rows
}

// scaleRows scales all rows together, one by one, or both, within 1e-15…1e15.
func scaleRows(r *rand.Rand, rows [][]float64) {
	mode, global := r.IntN(4), math.Pow(10, -15+30*r.Float64())
	for _, row := range rows {
		f := 1.0
		switch mode {
		case 1:
			f = global
		case 2:
			f = math.Pow(10, -3+6*r.Float64())
		case 3:
			f = math.Pow(10, -15+30*r.Float64())
		}
		for p := range row {
			row[p] *= f
		}
	}
}

func randomSigma(r *rand.Rand, gram []float64, k int) []float64 {
	sigma := make([]float64, k)
	sum := 0.0
	mode := r.IntN(7)
	for i := range sigma {
		switch mode {
		case 0:
			sigma[i] = 1
		case 1: // one-hot below
		case 2:
			sigma[i] = math.Sqrt(gram[i*k+i])
		case 3:
			sigma[i] = math.Pow(10, -6*r.Float64())
		case 4: // some zeros
			if r.IntN(2) == 0 {
				sigma[i] = r.Float64()
			}
		default:
			sigma[i] = math.Exp(r.NormFloat64())
		}
		sum += sigma[i]
	}
	if sum == 0 {
		sigma[r.IntN(k)] = 1
		sum = 1
	}
	if mode != 0 {
		for i := range sigma {
			sigma[i] /= sum
		}
	}
	return sigma
}

// randomProblem draws gradients from 1e-15 to 1e15 with duplicate, opposite, nearly parallel, zero
// and rank-deficient rows, every kind of factors, and floors.
func randomProblem(r *rand.Rand) *instance {
	k := 1 + r.IntN(20)
	rows, near := randomRows(r, k)
	p := &instance{rows: rows, gram: true, near: near, solver: Solver{ZeroTol: -1}}
	p.sigma = randomSigma(r, gramOf(rows), k)
	if r.IntN(4) == 0 {
		p.solver.ZeroTol = 0
	}
	if r.IntN(5) == 0 {
		p.solver.Floor = 1 / (float64(k) + 1) / floats.Sum(p.sigma)
		if r.IntN(2) == 0 {
			p.solver.Floor = r.Float64() / floats.Sum(p.sigma)
		}
	}
	return p
}
