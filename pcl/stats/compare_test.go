package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/seed"
)

// Demšar (2006), Table 6: four classifiers on 14 data sets, by their printed ranks.
var demsar = [][]float64{
	{4, 3, 2, 1}, {1, 2, 3, 4}, {4, 1, 2, 3}, {4, 1, 3, 2}, {4, 2, 3, 1}, {1, 2.5, 4, 2.5}, {3, 2, 4, 1},
	{2.5, 2.5, 4, 1}, {4, 3, 2, 1}, {2.5, 2.5, 2.5, 2.5}, {4, 2.5, 1, 2.5}, {3, 2, 4, 1}, {4, 1, 2, 3}, {3, 1, 4, 2},
}

func TestAverageRanks(t *testing.T) {
	if got := AverageRanks([][]float64{{1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}}); got[0] != 2 || got[1] != 1 {
		t.Errorf("average ranks of six equal situations: %v", got)
	}
	var scores [][]float64
	for _, ranks := range demsar {
		row := make([]float64, len(ranks))
		for j, r := range ranks {
			row[j] = 10 - r
		}
		scores = append(scores, row)
	}
	got := AverageRanks(scores)
	for j, want := range []float64{3.143, 2.000, 2.893, 1.964} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if math.Abs(got[j]-want) > 5e-4 {
				t.Errorf("average rank %d is %v, in print %v", j+1, got[j], want)
			}
		})
	}
	a, b, c := 0.1, 0.2, 0.3 // the first two means are of the same runs, added up in another order
	if got := AverageRanks([][]float64{{(a + b + c) / 3, (c + b + a) / 3, a}}); !slices.Equal(got,
		[]float64{1.5, 1.5, 3}) {
		t.Errorf("ranks %v; want two first ones", got)
	}
	for _, c := range scipy(t).Ranks {
		got := AverageRanks(c.Scores)
		for j := range got {
			if !near(got[j], c.Ranks[j]) {
				t.Errorf("ranks %v, SciPy's %v", got, c.Ranks)
			}
		}
	}
}

// TestCompare: of four methods two are alike, and better than the others, which differ too.
func TestCompare(t *testing.T) {
	random := seed.New(3, "compare")
	var scores [][]float64
	for range 27 {
		x := 60 + 5*random.NormFloat64()
		scores = append(scores, []float64{x - 8 + random.NormFloat64(), x + random.NormFloat64(), x + random.NormFloat64(),
			x - 4 + 2*random.NormFloat64()})
	}
	c := must.Get(Compare(scores, 0.05))(t)
	switch {
	case c.Pairs != 27:
		t.Errorf("c.Pairs is %d; want 27", c.Pairs)
	case c.Alpha != 0.05:
		t.Errorf("c.Alpha is %g; want 0.05", c.Alpha)
	case c.Order[2] != 3:
		t.Errorf("c.Order[2] is %d; want 3", c.Order[2])
	case c.Order[3] != 0:
		t.Errorf("c.Order[3] is %d; want 0", c.Order[3])
	case c.Ranks[0] < c.Ranks[3]:
		t.Errorf("c.Ranks[0] is %g; want at least %g", c.Ranks[0], c.Ranks[3])
	}
	var p []float64
	for i := range 4 {
		if c.P[i][i] != 1 || c.Adjusted[i][i] != 1 {
			t.Errorf("method %d differs from itself: %v, %v", i+1, c.P[i][i], c.Adjusted[i][i])
		}
		for j := range i {
			w := wilcoxon(column(scores, j), column(scores, i))
			switch {
			case c.P[i][j] != w:
				t.Errorf("methods %d and %d: c.P[i][j] is %g; want %g", i+1, j+1, c.P[i][j], w)
			case c.P[j][i] != w:
				t.Errorf("methods %d and %d: c.P[j][i] is %g; want %g", i+1, j+1, c.P[j][i], w)
			case c.Adjusted[i][j] != c.Adjusted[j][i]:
				t.Errorf("methods %d and %d: c.Adjusted[i][j] is %g; want %g", i+1, j+1, c.Adjusted[i][j], c.Adjusted[j][i])
			}
			p = append(p, w)
		}
	}
	adjusted := Holm(p)
	if adjusted[0] != c.Adjusted[1][0] || adjusted[5] != c.Adjusted[3][2] {
		t.Errorf("adjusted %v; want %v", c.Adjusted, adjusted)
	}
	if !slices.Equal(c.Cliques, [][2]int{{0, 1}}) {
		t.Errorf("cliques %v of %v; only the first two are alike", c.Cliques, c.Order)
	}
}

func TestCompareRefuses(t *testing.T) {
	rows := func(n, k int) (out [][]float64) {
		for i := range n {
			row := make([]float64, k)
			for j := range row {
				row[j] = float64(i * j)
			}
			out = append(out, row)
		}
		return out
	}
	must.Get(Compare(rows(12, 17), 0.1))(t)
	for name, scores := range map[string][][]float64{"nothing": nil, "one method": rows(13, 1),
		"few for 136 pairs": rows(11, 17), "five": rows(5, 2)} {
		t.Run(name, func(t *testing.T) {
			if _, err := Compare(scores, 0.1); err == nil {
				t.Error("no error")
			}
		})
	}
}
