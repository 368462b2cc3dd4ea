package emgd

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// Scaling gradients by a power of two changes no bit of λ, however far from 1 it is.
func TestPowersOfTwo(t *testing.T) {
	rows, sigma := [][]float64{{-4, 1, 1}, {6, 1, 1}, {1, -2, 3}}, []float64{.2, .3, .5}
	want := solveRows(t, &Solver{}, rows, sigma)
	for _, e := range []int{-1070, -700, -500, -400, 400, 500, 700, 1020} {
		t.Run(fmt.Sprint(e), func(t *testing.T) {
			var scaled [][]float64
			for _, row := range rows {
				scaled = append(scaled, []float64{math.Ldexp(row[0], e), math.Ldexp(row[1], e), math.Ldexp(row[2], e)})
			}
			whole := from(scaled)
			exponent := whole.Exponent()
			c, err := new(Solver).Solve(of(whole.Gram()), sigma)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(c.Lambda, want.Lambda) || c.Status != Optimal {
				t.Errorf("2^%d: λ = %v (%v), want %v", e, c.Lambda, c.Status, want.Lambda)
			}
			if got := math.Ldexp(c.Norm2, 2*(c.Exponent+exponent-e)); got != want.Norm2 {
				t.Errorf("2^%d: ‖d‖² = %v·4^%d, want %v times 4^%d", e, c.Norm2, c.Exponent+exponent, want.Norm2, e)
			}
			own, err := new(Solver).Solve(from(scaled), sigma)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "λ from the rows", own.Lambda, want.Lambda, 1e-15)
			if err := own.Verify(from(scaled), 1e-9); err != nil {
				t.Errorf("2^%d: %v", e, err)
			}
		})
	}
}

// A Gram matrix that is given as such may have any scale.
func TestGramOfAnyScale(t *testing.T) {
	for _, m := range []float64{5e-324, 1e-310, 1e-300, 1e-290, 1e290, 1e308} {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			for _, gram := range [][]float64{{m, 0, 0, m}, {m, -m, -m, m}} {
				c, err := new(Solver).Solve(of(gram), []float64{1, 1})
				if err != nil {
					t.Fatal(err)
				}
				status := Optimal
				if gram[1] < 0 {
					status = Stationary
				}
				switch {
				case !slices.Equal(c.Lambda, []float64{.5, .5}):
					t.Errorf("%g: c.Lambda is %v; want %v", gram, c.Lambda, []float64{.5, .5})
				case c.Status != status:
					t.Errorf("%g: c.Status is %v; want %v", gram, c.Status, status)
				case len(c.Dropped) > 0:
					t.Errorf("%g: len(c.Dropped) is %d; want at most 0", gram, len(c.Dropped))
				}
				if err := c.Verify(of(gram), 1e-9); err != nil {
					t.Errorf("%g: %v", gram, err)
				}
			}
		})
	}
}

// Gradients far apart in size, none of them dropped: the short one decides, and the long one's
// weight is as small as it has to be.
func TestFarApart(t *testing.T) {
	s := Solver{ZeroTol: -1}
	rows := [][]float64{{1e-140, 0}, {-3e140, 4e140}}
	c, err := s.Solve(from(rows), []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "λ", []float64{c.Lambda[0] - 1, c.Lambda[1] * 1e280}, []float64{0, .12}, 1e-14)
	if c.Status != Optimal {
		t.Errorf("status %v", c.Status)
	}
	if err := c.Verify(from(rows), 1e-9); err != nil {
		t.Error(err)
	}
	// Here the weight would be 1.2e-601.
	if _, err := s.Solve(from([][]float64{{1e-300, 0}, {-3e300, 4e300}}), []float64{1, 1}); err == nil {
		t.Error("a weight of 1e-601 is no error")
	}
	// And here d needs none of it.
	c, err = s.Solve(from([][]float64{{1e-300, 0}, {3e300, 4e300}}), []float64{1, 1})
	switch {
	case err != nil:
		t.Error(err)
	case !slices.Equal(c.Lambda, []float64{1, 0}):
		t.Errorf("c.Lambda is %v; want %v", c.Lambda, []float64{1, 0})
	case c.Status != Optimal:
		t.Errorf("c.Status is %v; want %v", c.Status, Optimal)
	}
}

// The text of a certificate names the rows left out, and promises nothing to them.
func TestMessageNamesDroppedRows(t *testing.T) {
	rows := [][]float64{{1e7, 0}, {-1e-6, 5e-7}}
	c := solveRows(t, &Solver{}, rows, []float64{1, 0})
	switch {
	case c.Status != RowsDropped:
		t.Errorf("c.Status is %v; want %v", c.Status, RowsDropped)
	case c.Slacks[1] != -10:
		t.Errorf("c.Slacks[1] is %g; want -10", c.Slacks[1])
	case !slices.Equal(c.Dropped, []int{1}):
		t.Errorf("c.Dropped is %v; want %v", c.Dropped, []int{1})
	}
	if m := c.Message(); !strings.Contains(m, "row 1") || strings.Contains(m, "decreases every loss in") {
		t.Errorf("message %q", m)
	}
	c.Status = Optimal
	if c.Verify(of(gramOf(rows)), 1e-9) == nil {
		t.Error("Verify accepts a dropped row that loses as optimal")
	}
	// With both rows in it, the exact solution is no harder.
	c = solveRows(t, &Solver{ZeroTol: -1}, rows, []float64{1, 1})
	near(t, "λ", []float64{c.Lambda[0] * 1e13, c.Lambda[1] - 1}, []float64{1, 0}, 1e-9)
	if c.Status != Optimal {
		t.Errorf("status %v", c.Status)
	}
}

// Factors may be so large that their sum overflows.
func TestLargeFactors(t *testing.T) {
	for _, gram := range [][]float64{{1, 0, 0, 1}, {0, 0, 0, 0}} {
		for _, s := range []*Solver{{}, {Floor: 1e-300}} {
			c, err := s.Solve(of(gram), []float64{1e308, 1e308})
			switch {
			case err != nil:
				t.Fatalf("%v with a floor of %v: %v", gram, s.Floor, err)
			case math.Abs(c.Lambda[0]*1e308-.5) > 1e-14:
				t.Fatalf("%v with a floor of %v: math.Abs(c.Lambda[0]*1e308-.5) is %g; want at most 1e-14", gram, s.Floor,
					math.Abs(c.Lambda[0]*1e308-.5))
			case math.Abs(c.Lambda[1]*1e308-.5) > 1e-14:
				t.Fatalf("%v with a floor of %v: math.Abs(c.Lambda[1]*1e308-.5) is %g; want at most 1e-14", gram, s.Floor,
					math.Abs(c.Lambda[1]*1e308-.5))
			}
			if err := c.Verify(of(gram), 1e-9); (err == nil) != (c.Status != FloorInfeasible) {
				t.Errorf("%v with a floor of %v: %v, %v", gram, s.Floor, c.Status, expect.Text(err))
			}
		}
	}
}

// Two opposite gradients that ask for next to nothing share all the weight, and it adds up to 1.
func TestNegligibleFactorsCount(t *testing.T) {
	rows := [][]float64{{7.304326207190835e+40, -3.592422311300494e+40}, {-8.716456227584282e+33, 4.2869377598182084e+33},
		{-2e-22, -1e-22}}
	c, err := (&Solver{ZeroTol: -1}).Solve(from(rows), []float64{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if sum := floats.Sum(c.Lambda); c.Status != Stationary || math.Abs(sum-1) > 1e-12 {
		t.Errorf("λ = %v (%v) with the sum %v", c.Lambda, c.Status, sum)
	}
}

// Factors know the gradients' own lengths.
func TestFactorsOfLongGradients(t *testing.T) {
	var e Elastic
	sigma := make([]float64, 2)
	if err := e.Factors([]int{1, 2}, from([][]float64{{3e200, 4e200}, {0, 1e200}}), sigma); err != nil {
		t.Fatal(err)
	}
	near(t, "m", []float64{e.Norms[1]}, []float64{5e200}, 1e-15)
	if sigma[1] != minSigma {
		t.Errorf("σ = %v", sigma)
	}
	if err := new(Elastic).Factors([]int{1}, from([][]float64{{1.5e308, 1.5e308}}), sigma[:1]); err == nil {
		t.Error("a length out of range is no error")
	}
}
