package emgd

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
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

func (p *instance) String() string {
	return fmt.Sprintf("rows %v σ %v floor %v tol %v gram %v", p.rows, p.sigma, p.solver.Floor, p.solver.ZeroTol, p.gram)
}

// anySize draws from the whole range of float64, subnormal numbers included.
func anySize(r *rand.Rand) float64 {
	return math.Ldexp(1+r.Float64(), r.IntN(1023+1074+1)-1074)
}

// clipped is x·f, cut off at the largest number.
func clipped(x, f float64) float64 {
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
			f = clipped(common, math.Pow(10, 20*r.Float64()-10))
		case 2:
			f = anySize(r)
		}
		for p := range row {
			if mode == 3 {
				f = anySize(r)
			}
			row[p] = clipped(row[p], f)
		}
	}
	p := &instance{rows: rows, sigma: anySigma(r, k), gram: mode < 2 && r.IntN(2) == 0, near: true}
	if r.IntN(3) == 0 {
		p.solver.ZeroTol = -1
	}
	if r.IntN(8) == 0 && mode < 2 {
		p.solver.Floor = r.Float64() / floats.Sum(p.sigma)
		if !(p.solver.Floor >= 0x1p-1022) || math.IsInf(p.solver.Floor, 1) {
			p.solver.Floor = 0
		}
	}
	return p
}

func anySigma(r *rand.Rand, k int) []float64 {
	sigma, mode, common := make([]float64, k), r.IntN(5), anySize(r)
	for i := range sigma {
		switch mode {
		case 0:
			sigma[i] = 1
		case 1:
			sigma[i] = clipped(common, r.Float64()+0.1)
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

// nearCopies draws gradients of which some differ from each other, or from each other's opposites,
// by 1e-16 to 1e-2 of their length.
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
				row[p] = clipped(row[p], common)
			}
		}
	}
	return &instance{rows: rows, sigma: randomSigma(r, make([]float64, k*k), k), solver: Solver{ZeroTol: -1},
		gram: r.IntN(2) == 0, near: true}
}

// unrepresentable says whether a refused problem may need weights that leave float64. With m the
// largest σ_i/‖J_i‖, d is nearly as long as 1/m, and a row that takes part has a weight near
// 1/(m‖J_i‖) unless it adds next to nothing to d.
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

// check solves p and says what is wrong with the answer.
func (p *instance) check(count map[string]int) error {
	given := from(p.rows)
	if p.gram {
		given = of(given.Gram())
	}
	c, err := p.solver.Solve(given, p.sigma)
	if err != nil {
		count["refused"]++
		if p.unrepresentable() {
			return nil
		}
		return err
	}
	count[c.Status.String()]++
	tol := 2 * exact
	switch {
	case c.Status == FloorInfeasible:
		if sum := floats.Dot(c.Lambda, p.sigma); math.Abs(sum-1) > exact || slices.Min(c.Lambda) < 0 {
			return fmt.Errorf("equal weights %v with the sum %v", c.Lambda, sum)
		}
		return nil
	case c.Status == IllConditioned && p.near:
		tol = illConditioned(c)
	}
	unit, _ := given.longest()
	relative := given.Ldexp(-unit)
	for _, i := range c.Dropped {
		if l := relative.Length(i); l > 0 && (p.solver.ZeroTol < 0 || l > 2*DefaultZeroTol) {
			return fmt.Errorf("row %d was dropped, and its length is %v of the longest", i, l)
		}
	}
	if err := c.Verify(given, tol); err != nil {
		return fmt.Errorf("%v: %w; cancellation %.3g, λ %v", c.Status, err, c.Cancellation, c.Lambda)
	}
	return nil
}

// illConditioned is the largest violation that the status IllConditioned may come with: relative to
// ‖J_i‖‖d‖ or, where that is nearly cancelled, to ‖J_i‖Σλ_j‖J_j‖.
func illConditioned(c *Certificate) float64 { return max(1e-6, 1e-10/c.Cancellation) }

// TestMillion solves problems of every kind, each by its Gram matrix, and verifies the answers.
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
	for trial := range n {
		p := draw(r)
		if err := p.check(count); err != nil {
			t.Errorf("problem %d: %v\n%.600v", trial, err, p)
		}
	}
	t.Logf("%d problems: %v", n, count)
}
