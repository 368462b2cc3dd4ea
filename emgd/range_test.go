package emgd

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	million    = flag.Bool("million", false, "run TestMillion on 1,000,000 problems instead of 2,000")
	rangeDuals = flag.Int("range", 4_000, "number of problems over the whole range of float64 in TestRange")
	nearDuals  = flag.Int("near", 2_000, "number of problems with near-copies in TestNearCopies")
)

// instance is a problem given by its gradients, which may have any size.
type instance struct {
	rows   [][]float64
	sigma  []float64
	solver Solver
	gram   bool // solve from the Gram matrix that Problem.Gram makes
	near   bool // some rows nearly repeat or cancel each other
}

func (p *instance) solve() (*Certificate, error) {
	if !p.gram {
		return p.solver.Solve(from(p.rows), p.sigma)
	}
	whole := from(p.rows)
	c, err := p.solver.Solve(of(whole.Gram()), p.sigma)
	if err == nil {
		c.Exponent += whole.Exponent()
	}
	return c, err
}

func (p *instance) String() string {
	return fmt.Sprintf("rows %v σ %v floor %v tol %v gram %v", p.rows, p.sigma, p.solver.Floor, p.solver.ZeroTol, p.gram)
}

// anySize draws from the whole range of float64, subnormal numbers included.
func anySize(r *rand.Rand) float64 {
	return math.Ldexp(1+r.Float64(), r.IntN(1023+1074+1)-1074)
}

// times is x·f, cut off at the largest number.
func times(x, f float64) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, x*f))
}

// wideProblem draws gradients of any size: all alike, near each other, each for itself, or entry by
// entry.
func wideProblem(r *rand.Rand) *instance {
	k := 1 + r.IntN(10)
	rows, _ := randomRows(r, k)
	mode, common := r.IntN(4), anySize(r)
	for _, row := range rows {
		f := common
		switch mode {
		case 1:
			f = times(common, math.Pow(10, 20*r.Float64()-10))
		case 2:
			f = anySize(r)
		}
		for p := range row {
			if mode == 3 {
				f = anySize(r)
			}
			row[p] = times(row[p], f)
		}
	}
	p := &instance{rows: rows, sigma: anySigma(r, k), gram: mode < 2 && r.IntN(2) == 0, near: true}
	if r.IntN(3) == 0 {
		p.solver.ZeroTol = -1
	}
	if r.IntN(8) == 0 && mode < 2 {
		p.solver.Floor = r.Float64() / sumOf(p.sigma)
		if !(p.solver.Floor >= 0x1p-1022) || math.IsInf(p.solver.Floor, 1) {
			p.solver.Floor = 0
		}
	}
	return p
}

func sumOf(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func anySigma(r *rand.Rand, k int) []float64 {
	sigma, mode, common := make([]float64, k), r.IntN(5), anySize(r)
	for i := range sigma {
		switch mode {
		case 0:
			sigma[i] = 1
		case 1:
			sigma[i] = times(common, r.Float64()+0.1)
		case 2:
			sigma[i] = anySize(r)
		case 3:
			if r.IntN(2) == 0 {
				sigma[i] = r.Float64()
			}
		default:
			sigma[i] = math.Exp(r.NormFloat64()) / float64(k)
		}
	}
	if slices.Max(sigma) == 0 {
		sigma[r.IntN(k)] = 1
	}
	return sigma
}

// nearCopies draws gradients of which some differ from each other, or from each other's opposites, by
// 1e-16 to 1e-2 of their length.
func nearCopies(r *rand.Rand) *instance {
	k := 2 + r.IntN(9)
	dim := 1 + r.IntN(k+2)
	rows := gaussian(r, k, dim)
	for i := 1; i < k; i++ {
		if r.IntN(2) == 0 {
			continue
		}
		src, e := rows[r.IntN(i)], math.Pow(10, -16+14*r.Float64())
		sign := 1.0
		if r.IntN(4) == 0 {
			sign = -1
		}
		for p := range rows[i] {
			rows[i][p] = sign * src[p] * (1 + e*r.NormFloat64())
		}
	}
	if r.IntN(2) == 0 {
		scaleRows(r, rows)
	} else {
		common := anySize(r)
		for _, row := range rows {
			for p := range row {
				row[p] = times(row[p], common)
			}
		}
	}
	return &instance{rows: rows, sigma: randomSigma(r, make([]float64, k*k), k), solver: Solver{ZeroTol: -1}, gram: r.IntN(2) == 0, near: true}
}

// precision is that of the judge, in bits: far beyond what cancels.
const precision = 400

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func number() *big.Float { return new(big.Float).SetPrec(precision) }

// verdict is what math/big finds of a certificate, from the gradients, σ and λ alone.
type verdict struct {
	violation  float64 // of the conditions of rows that took part, relative to scale_i
	dropped    float64 // the same of the dropped rows: how far the worst slack is negative
	constraint float64 // |Σλσ − 1|
	ratio      float64 // ‖d‖/Σλ‖J‖
	claims     float64 // how far slacks, ‖d‖² and level are from what the certificate says, relative to scale_i
	wrong      string  // what else is wrong
}

// inner are the inner products of the gradients that the certificate is about.
func (p *instance) inner() [][]*big.Float {
	k, t := len(p.rows), number()
	m := make([][]*big.Float, k)
	gram, exponent := []float64(nil), 0
	if p.gram {
		gram, exponent = from(p.rows).Gram(), from(p.rows).Exponent()
	}
	for i := range k {
		m[i] = make([]*big.Float, k)
		for j := range i + 1 {
			v := number()
			if p.gram {
				v.SetMantExp(exactly(gram[i*k+j]), 2*exponent)
			} else {
				for q, x := range p.rows[i] {
					v.Add(v, t.Mul(exactly(x), exactly(p.rows[j][q])))
				}
			}
			m[i][j], m[j][i] = v, v
		}
	}
	return m
}

func judge(p *instance, c *Certificate) (v verdict) {
	k, t, m := len(p.rows), number(), p.inner()
	sum, size, norm2 := exactly(-1), number(), number()
	along, norm := make([]*big.Float, k), make([]*big.Float, k)
	for i := range k {
		along[i], norm[i] = number(), number().Sqrt(m[i][i])
		for j, l := range c.Lambda {
			along[i].Add(along[i], t.Mul(m[i][j], exactly(l)))
		}
		norm2.Add(norm2, t.Mul(along[i], exactly(c.Lambda[i])))
		sum.Add(sum, t.Mul(exactly(c.Lambda[i]), exactly(p.sigma[i])))
		size.Add(size, t.Mul(exactly(c.Lambda[i]), norm[i]))
		if !(c.Lambda[i] >= 0) {
			v.wrong = "λ < 0"
		}
		if c.Status != FloorInfeasible && c.Status != Stationary && !slices.Contains(c.Dropped, i) && (c.Lambda[i] < c.Floor || c.Lambda[i] > c.Floor && !slices.Contains(c.Active, i)) {
			v.wrong = fmt.Sprintf("row %d is below the floor, or above it and not active", i)
		}
	}
	length := number()
	if norm2.Sign() > 0 { // a rounded Gram matrix may be no Gram matrix
		length.Sqrt(norm2)
	}
	v.constraint, _ = sum.Abs(sum).Float64()
	v.ratio = quotient(length, size)
	if p.solver.ZeroTol < 0 || len(c.Dropped) == 0 {
		for _, i := range c.Dropped {
			if norm[i].Sign() != 0 {
				v.wrong = fmt.Sprintf("row %d was dropped and is not 0", i)
			}
		}
	} else {
		v.wrong = wronglyDropped(c, norm)
	}
	if c.Status == Stationary || c.Status == FloorInfeasible {
		return v
	}
	level := number().Set(norm2)
	if c.Floor > 0 {
		level = number().SetMantExp(exactly(c.Level), 2*c.Exponent)
	}
	most := number().Abs(level)
	if most.Cmp(norm2) < 0 {
		most.Set(norm2)
	}
	for i := range k {
		scale := number().Mul(norm[i], length)
		scale.Add(scale, t.Mul(exactly(p.sigma[i]), most))
		if scale.Sign() == 0 {
			continue
		}
		slack := number().Sub(along[i], t.Mul(exactly(p.sigma[i]), level))
		claimed := number().SetMantExp(exactly(c.Slacks[i]), 2*c.Exponent)
		if e := scale.MantExp(nil) - 2*c.Exponent; e > -900 { // else it may have lost digits, or all
			v.claims = max(v.claims, math.Abs(quotient(claimed.Sub(claimed, slack), scale)))
		}
		breach := -quotient(slack, scale)
		switch {
		case slices.Contains(c.Dropped, i):
			v.dropped = max(v.dropped, breach)
			continue
		case slices.Contains(c.Active, i):
			breach = math.Abs(breach)
		}
		v.violation = max(v.violation, breach)
	}
	claimed := number().SetMantExp(exactly(c.Norm2), 2*c.Exponent)
	v.claims = max(v.claims, math.Abs(quotient(claimed.Sub(claimed, norm2), norm2)))
	return v
}

// claimLimit is how far ‖d‖² may be off where weights larger than d cancel in it: the rounding of the
// Gram matrix is relative to (Σλ‖J‖)².
func claimLimit(ratio float64) float64 { return 1e-9 + 1e-15/ratio/ratio }

// wronglyDropped names a row that was left out although it is longer than the tolerance allows.
func wronglyDropped(c *Certificate, norm []*big.Float) string {
	top := slices.MaxFunc(norm, (*big.Float).Cmp)
	for _, i := range c.Dropped {
		if quotient(norm[i], top) > DefaultZeroTol*(1+1e-9) {
			return fmt.Sprintf("row %d was dropped and is not next to 0", i)
		}
	}
	return ""
}

func quotient(a, b *big.Float) float64 {
	if b.Sign() == 0 {
		return 0
	}
	x, _ := number().Quo(a, b).Float64()
	return x
}

// unrepresentable says whether a refused problem may need weights that leave float64. With m the largest
// σ_i/‖J_i‖, d is nearly as long as 1/m, and a row that takes part has a weight near 1/(m‖J_i‖) unless
// it adds next to nothing to d.
func (p *instance) unrepresentable() bool {
	length, far := make([]int, len(p.rows)), math.MinInt
	for i, row := range p.rows {
		length[i] = math.MinInt
		if top := largest(row); top > 0 {
			length[i] = math.Ilogb(top)
			far = max(far, length[i])
		}
	}
	for _, near := range []int{far - 43, far - 38} { // shorter rows may be dropped
		if p.solver.ZeroTol < 0 || p.steepest(length, near) == math.MinInt {
			near = -2000
		}
		m := p.steepest(length, near)
		for i, e := range length {
			if e >= near && (m+e > 950 || m+e < -950) || e == math.MinInt && p.sigma[i] < 0x1p-1022 {
				return true
			}
		}
	}
	return false
}

// steepest is the exponent of the largest σ_i/‖J_i‖ of the rows that are long enough.
func (p *instance) steepest(length []int, near int) int {
	m := math.MinInt
	for i, e := range length {
		if e >= near && p.sigma[i] > 0 {
			m = max(m, math.Ilogb(p.sigma[i])-e)
		}
	}
	return m
}

// check solves p, has the answer judged, and says what is wrong with it.
func (p *instance) check(count map[string]int) (v verdict, err error) {
	c, err := p.solve()
	if err != nil {
		count["refused"]++
		if p.unrepresentable() {
			err = nil
		}
		return v, err
	}
	count[c.Status.String()]++
	v = judge(p, c)
	limit := 2 * exact
	if c.Status == IllConditioned && p.near {
		limit = illConditioned(c)
	}
	switch {
	case c.Status == Stationary && v.ratio > 1.001*stationary(len(p.rows)):
		v.wrong = "d is not 0"
	case c.Status == IterationLimit:
		v.wrong = "iteration limit"
	}
	if v.violation > limit || c.Status == Optimal && v.dropped > limit || v.constraint > exact || v.claims > claimLimit(v.ratio) || v.wrong != "" {
		err = fmt.Errorf("%v: %+v; cancellation %.3g, λ %v", c.Status, v, c.Cancellation, c.Lambda)
	}
	if c.Status == IllConditioned {
		v.violation = 0
	}
	return v, err
}

// illConditioned is the largest violation that the status IllConditioned may come with: relative to
// ‖J_i‖‖d‖ or, where that is nearly cancelled, to ‖J_i‖Σλ_j‖J_j‖.
func illConditioned(c *Certificate) float64 { return max(1e-6, 1e-10/c.Cancellation) }

// TestMillion solves problems of every kind, each by its Gram matrix, and has math/big judge the answers.
func TestMillion(t *testing.T) {
	n := 2_000
	if *million {
		n = 1_000_000
	}
	manyProblems(t, n, rand.New(rand.NewPCG(1, 2)), randomProblem)
}

// TestRange does the same over the whole range of float64.
func TestRange(t *testing.T) {
	manyProblems(t, *rangeDuals, rand.New(rand.NewPCG(21, 22)), wideProblem)
}

// TestNearCopies does the same for gradients that nearly repeat or cancel each other.
func TestNearCopies(t *testing.T) {
	manyProblems(t, *nearDuals, rand.New(rand.NewPCG(23, 24)), nearCopies)
}

func manyProblems(t *testing.T, n int, r *rand.Rand, draw func(*rand.Rand) *instance) {
	t.Parallel()
	count := map[string]int{}
	var worst verdict
	for trial := range n {
		p := draw(r)
		v, err := p.check(count)
		if err != nil {
			t.Errorf("problem %d: %v\n%.600v", trial, err, p)
		}
		worst.violation, worst.constraint, worst.claims = max(worst.violation, v.violation), max(worst.constraint, v.constraint), max(worst.claims, v.claims)
	}
	t.Logf("%d problems: worst violation %.3g, worst |Σλσ−1| %.3g, worst claim off by %.3g, %v", n, worst.violation, worst.constraint, worst.claims, count)
}
