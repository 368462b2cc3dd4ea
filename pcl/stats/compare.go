package stats

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Comparison ranks methods and says which of them a test can tell apart: what a critical-difference
// diagram draws.
type Comparison struct {
	Ranks []float64 // average rank of each method, 1 is best
	Pairs int       // situations
	Alpha float64
	// P[i][j] is the p-value of Wilcoxon's test of methods i and j, Adjusted[i][j] the same after
	// Holm's correction for all pairs of methods. Both are symmetric, with 1 in the diagonal.
	P, Adjusted [][]float64
	// Order has the methods by their ranks, the best first.
	Order []int
	// Cliques are the longest stretches of Order in which no two methods differ at the level Alpha,
	// as first and last place. Two methods that do not differ share no clique if one between them
	// differs from either; Adjusted has all pairs.
	Cliques [][2]int
}

// Compare compares all pairs of methods over scores[situation][method], higher being better, by
// Wilcoxon's signed-rank test, exact, with Holm's correction ([Holm]). Unlike Nemenyi's test, the
// verdict on two methods depends on the others only by their number. It is an error if there are
// fewer situations than [MinPairs]: 17 methods make 136 pairs and take 13 situations.
// [AverageRanks] takes any number.
//
// Sources: J. Demšar, JMLR 7 (2006), for the diagram; A. Benavoli, G. Corani and F. Mangili, Should
// We Really Use Post-Hoc Tests Based on Mean-Ranks?, JMLR 17 (2016), for the test.
func Compare(scores [][]float64, alpha float64) (*Comparison, error) {
	if len(scores) == 0 || len(scores[0]) < 2 {
		return nil, errors.New("stats: a ranking takes at least two methods and one situation")
	}
	ranks := AverageRanks(scores)
	if !(alpha > 0 && alpha < 1) {
		panic(fmt.Sprintf("stats: the level of the test is %v; want one between 0 and 1, for example 0.05", alpha))
	}
	k := len(ranks)
	if tests := k * (k - 1) / 2; len(scores) < MinPairs(alpha, tests) {
		return nil, fmt.Errorf("stats: %d situations, in which not even differences of one sign are significant at the "+
			"level %v of %d tests; want %d", len(scores), alpha, tests, MinPairs(alpha, tests))
	}
	c := &Comparison{Ranks: ranks, Pairs: len(scores), Alpha: alpha, P: ones(k), Adjusted: ones(k)}
	c.test(scores)
	for i := range k {
		c.Order = append(c.Order, i)
	}
	slices.SortStableFunc(c.Order, func(i, j int) int { return cmp.Compare(ranks[i], ranks[j]) })
	c.Cliques = c.cliques()
	return c, nil
}

func ones(k int) [][]float64 {
	m := make([][]float64, k)
	for i := range m {
		m[i] = slices.Repeat([]float64{1}, k)
	}
	return m
}

// test fills in the p-values.
func (c *Comparison) test(scores [][]float64) {
	var p []float64
	for i := range c.Ranks {
		for j := range i {
			p = append(p, wilcoxon(column(scores, i), column(scores, j)))
		}
	}
	adjusted := Holm(p)
	at := 0
	for i := range c.Ranks {
		for j := range i {
			c.P[i][j], c.P[j][i] = p[at], p[at]
			c.Adjusted[i][j], c.Adjusted[j][i] = adjusted[at], adjusted[at]
			at++
		}
	}
}

func column(scores [][]float64, j int) []float64 {
	out := make([]float64, len(scores))
	for i, row := range scores {
		out[i] = row[j]
	}
	return out
}

// cliques finds [Comparison.Cliques].
func (c *Comparison) cliques() (out [][2]int) {
	last := -1
	for from := range c.Order {
		to := from
		for to+1 < len(c.Order) && c.alike(from, to+1) {
			to++
		}
		if to > from && to > last {
			out = append(out, [2]int{from, to})
			last = to
		}
	}
	return out
}

// alike says whether the method at a place differs from none between it and an earlier place.
func (c *Comparison) alike(from, to int) bool {
	for _, other := range c.Order[from:to] {
		if c.Adjusted[c.Order[to]][other] <= c.Alpha {
			return false
		}
	}
	return true
}
