package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Ranking compares k methods over n situations by their ranks (Demšar, Statistical Comparisons of
// Classifiers over Multiple Data Sets, JMLR 7, 2006).
type Ranking struct {
	Methods []string  // for the style, e.g. "emgd-gmc"
	Labels  []string  // as in print
	Ranks   []float64 // average rank of each method; 1 is best, equal scores share their ranks
	N       int       // situations
	// ChiSquare is Friedman's statistic without a correction for ties, with k−1 degrees of freedom, and F
	// that of Iman and Davenport, with k−1 and (k−1)(n−1); P is the probability of so large an F if all
	// methods were equal. Where all situations rank alike F is infinite, and P is exact: (1/k!)ⁿ⁻¹.
	ChiSquare, F, P float64
	// Alpha is the level of the test, and CD the critical difference of Nemenyi's test: two methods
	// whose average ranks lie further apart differ at that level.
	Alpha, CD float64
	// Compared, if set, has the tests of each pair of methods that say which are joined by a line, in the place of CD;
	// see [Ranking.ByWilcoxon].
	Compared *stats.Comparison

	scores [][]float64 // of each situation and method
}

// Rank ranks methods by scores[situation][method]; higher scores are better.
func Rank(methods []string, scores [][]float64, alpha float64) (*Ranking, error) {
	k, n := len(methods), len(scores)
	switch {
	case k < 2 || n < 2:
		return nil, fmt.Errorf("viz: %d methods in %d situations; a ranking takes at least two of each", k, n)
	case !(alpha > 0 && alpha < 1):
		return nil, fmt.Errorf("viz: the level of the test is %v; want one between 0 and 1, for example 0.05", alpha)
	}
	r := &Ranking{Methods: slices.Clone(methods), Labels: slices.Clone(methods), N: n, Alpha: alpha}
	for i, row := range scores {
		if len(row) != k {
			return nil, fmt.Errorf("viz: situation %d has %d scores for %d methods", i+1, len(row), k)
		}
		r.scores = append(r.scores, slices.Clone(row))
	}
	var err error
	if r.Ranks, err = stats.AverageRanks(r.scores); err != nil {
		return nil, fmt.Errorf("viz: %w", err)
	}
	r.test()
	return r, nil
}

// ByWilcoxon returns the ranking with Wilcoxon's signed-rank test of each pair of methods, corrected by Holm
// ([stats.Compare]), in the place of Nemenyi's test: whether two methods are told apart then depends on the others only
// by their number (Benavoli et al., JMLR 17, 2016). It returns a [stats.TooFewError] if there are too few situations
// for that many methods.
func (r *Ranking) ByWilcoxon() (*Ranking, error) {
	compared, err := stats.Compare(r.scores, r.Alpha)
	if err != nil {
		return nil, fmt.Errorf("viz: %w", err)
	}
	out := *r
	out.Compared = compared
	return &out, nil
}

// test fills in the statistics from the average ranks.
func (r *Ranking) test() {
	k, n := float64(len(r.Ranks)), float64(r.N)
	sum := -k * (k + 1) * (k + 1) / 4
	for _, rank := range r.Ranks {
		sum += rank * rank
	}
	r.ChiSquare = max(0, 12*n/(k*(k+1))*sum)
	orders, _ := math.Lgamma(k + 1)
	r.F, r.P = math.Inf(1), math.Exp(-(n-1)*orders) // all situations rank alike, in one of the k! orders
	if rest := n*(k-1) - r.ChiSquare; rest > 1e-9 {
		r.F = (n - 1) * r.ChiSquare / rest
		r.P = distuv.F{D1: k - 1, D2: (k - 1) * (n - 1)}.Survival(r.F)
	}
	r.CD = nemenyi(len(r.Ranks), r.Alpha) * math.Sqrt(k*(k+1)/(6*n))
}

// nemenyi returns the critical value q of Nemenyi's test: the quantile 1−α of the range of k standard
// normal values, over √2.
func nemenyi(k int, alpha float64) float64 {
	low, high := 0.0, 20.0
	for range 60 {
		mid := (low + high) / 2
		if rangeBelow(mid, k) < 1-alpha {
			low = mid
		} else {
			high = mid
		}
	}
	return low / math.Sqrt2
}

// rangeBelow is the probability that k standard normal values lie within q of each other.
func rangeBelow(q float64, k int) float64 {
	normal := distuv.UnitNormal
	density := func(z float64) float64 {
		return float64(k) * normal.Prob(z) * math.Pow(normal.CDF(z)-normal.CDF(z-q), float64(k-1))
	}
	return quad.Fixed(density, -8, 8+q, 200, nil, 0)
}

// RankRuns ranks methods by the final average accuracy A of their runs, once for each data set, increment, label set,
// timeline and seed, which needs one run of every method. Rankings of one situation, which differ in their seed or
// increment alone, are less independent than Demšar's data sets, so the test is then overconfident.
func RankRuns(alpha float64, runs ...*results.Run) (*Ranking, error) {
	groups, err := byMethod(runs)
	if err != nil {
		return nil, err
	}
	type situation struct {
		title                    string
		labelSet, timeline, seed uint64
		scenario                 string
	}
	var order []situation
	rows := map[situation][]float64{}
	for j, g := range groups {
		for _, r := range g.Runs {
			s := situation{r.Dataset + ", " + r.Increment + "-incremental", r.LabelSet, r.Timeline, r.Seed, r.OwnScenario()}
			if rows[s] == nil {
				order, rows[s] = append(order, s), slices.Repeat([]float64{math.NaN()}, len(groups))
			}
			if !math.IsNaN(rows[s][j]) {
				return nil, fmt.Errorf("viz: %s has two runs on %s, seed %d, of one ranking; give runs that differ in their method, data set, increment, label set, timeline and seed alone", g.Label, r.Dataset, r.Seed)
			}
			rows[s][j] = r.A
		}
	}
	scores := make([][]float64, len(order))
	for i, s := range order {
		scores[i] = rows[s]
		if j := slices.IndexFunc(scores[i], math.IsNaN); j >= 0 {
			return nil, fmt.Errorf("viz: no run of %s on %s, seed %d; every ranking needs all methods", groups[j].Label, s.title, s.seed)
		}
	}
	r, err := Rank(looksOf(groups), scores, alpha)
	if err != nil {
		return nil, err
	}
	for j, g := range groups {
		r.Labels[j] = g.Label
	}
	return r, nil
}

// byRank returns the methods' indices, the best first.
func (r *Ranking) byRank() []int {
	order := make([]int, len(r.Ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Ranks[a], r.Ranks[b]) })
	return order
}

// cliques returns the largest runs of methods, as first and last place by rank, that the test cannot
// tell apart.
func (r *Ranking) cliques() [][2]int {
	if r.Compared != nil {
		return r.Compared.Cliques
	}
	order := r.byRank()
	var out [][2]int
	last := -1
	for i := range order {
		j := i
		for j+1 < len(order) && r.Ranks[order[j+1]]-r.Ranks[order[i]] <= r.CD {
			j++
		}
		if j > i && j > last {
			out = append(out, [2]int{i, j})
			last = j
		}
	}
	return out
}
