package emgd

import (
	"math"
	"math/rand/v2"
	"slices"
)

// problem is a random instance: the Gram matrix of K gradients, factors, and solver settings.
type problem struct {
	gram, sigma []float64
	floor       float64
	zero        ZeroPolicy
	zeroTol     float64
	kind        string // "near": has near-copies; "raw": perhaps no Gram matrix at all
}

func (p *problem) k() int { return len(p.sigma) }

func (p *problem) solver() *Solver {
	return &Solver{Floor: p.floor, Zero: p.zero, ZeroTol: p.zeroTol}
}

// of and from are the problems of a Gram matrix and of gradients that are known to be good.
func of(gram []float64) *Problem     { return sure(NewProblem(gram)) }
func from(rows [][]float64) *Problem { return sure(FromGradients(rows)) }
func sure(p *Problem, err error) *Problem {
	if err != nil {
		panic(err)
	}
	return p
}

func gramOf(j [][]float64) []float64 {
	k := len(j)
	m := make([]float64, k*k)
	for a := range k {
		for b := range a + 1 {
			v := 0.0
			for p, x := range j[a] {
				v += x * j[b][p]
			}
			m[a*k+b], m[b*k+a] = v, v
		}
	}
	return m
}

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

func randomProblem(r *rand.Rand, maxK int) *problem {
	k := 1 + r.IntN(maxK)
	rows, near := randomRows(r, k)
	p := &problem{gram: gramOf(rows), zeroTol: -1}
	if near {
		p.kind = "near"
	}
	p.sigma = randomSigma(r, p.gram, k)
	if r.IntN(3) == 0 {
		p.zero = Keep
	}
	if r.IntN(4) == 0 {
		p.zeroTol = 0
	}
	if r.IntN(5) == 0 {
		sum := 0.0
		for _, s := range p.sigma {
			sum += s
		}
		p.floor = 1 / (float64(k) + 1) / sum
		if r.IntN(2) == 0 {
			p.floor = r.Float64() / sum
		}
	}
	return p
}

// dd is an unevaluated sum hi+lo with twice the precision of float64: the judge must round less
// than the judged.
type dd struct{ hi, lo float64 }

func (a dd) addProduct(x, y float64) dd {
	p := x * y
	e := math.FMA(x, y, -p)
	return a.add(p).add(e)
}

func (a dd) add(x float64) dd {
	s := a.hi + x
	b := s - a.hi
	e := (a.hi - (s - b)) + (x - b)
	e += a.lo
	t := s + e
	return dd{t, e - (t - s)}
}

func (a dd) value() float64 { return a.hi + a.lo }

// judge recomputes the optimality conditions from M, σ and λ alone and returns the worst violation
// relative to ‖J_i‖‖d‖ + σ_i|level|, and the error of Σλσ = 1.
func judge(p *problem, c *Certificate) (violation, constraint float64) {
	k := p.k()
	gain := make([]dd, k)
	norm2, linear, sum := dd{}, dd{}, dd{}
	dropped := make([]bool, k)
	for _, i := range c.Dropped {
		dropped[i] = true
	}
	free := 0.0
	for i := range k {
		sum = sum.addProduct(c.Lambda[i], p.sigma[i])
		if dropped[i] {
			continue
		}
		free += p.sigma[i]
		for j := range k {
			if !dropped[j] {
				gain[i] = gain[i].addProduct(p.gram[i*k+j], c.Lambda[j])
			}
		}
		norm2 = norm2.addProduct(c.Lambda[i], gain[i].hi).addProduct(c.Lambda[i], gain[i].lo)
		linear = linear.addProduct(p.floor, gain[i].hi).addProduct(p.floor, gain[i].lo)
	}
	constraint = math.Abs(sum.value() - 1)
	norm := math.Sqrt(max(0, norm2.value()))
	switch c.Status {
	case FloorInfeasible:
		return 0, constraint
	case Stationary:
		size := 0.0
		for i, l := range c.Lambda {
			size += l * math.Sqrt(p.gram[i*k+i])
		}
		if norm > 1.001*stationary(k)*size {
			return math.Inf(1), constraint
		}
		return 0, constraint
	}
	level := norm2.value()
	if p.floor > 0 {
		level = c.Level
	}
	for i := range k {
		if dropped[i] {
			continue
		}
		scale := math.Sqrt(p.gram[i*k+i])*norm + p.sigma[i]*max(norm2.value(), math.Abs(level))
		if scale == 0 {
			continue
		}
		slack := gain[i].addProduct(-p.sigma[i], level).value()
		if c.Lambda[i] > p.floor && slices.Contains(c.Active, i) {
			slack = -math.Abs(slack)
		}
		violation = max(violation, -slack/scale)
	}
	return violation, constraint
}
