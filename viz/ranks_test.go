package viz

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Demšar (2006), Table 6: four classifiers on 14 data sets, by their printed ranks.
var demsar = [][]float64{
	{4, 3, 2, 1}, {1, 2, 3, 4}, {4, 1, 2, 3}, {4, 1, 3, 2}, {4, 2, 3, 1}, {1, 2.5, 4, 2.5}, {3, 2, 4, 1},
	{2.5, 2.5, 4, 1}, {4, 3, 2, 1}, {2.5, 2.5, 2.5, 2.5}, {4, 2.5, 1, 2.5}, {3, 2, 4, 1}, {4, 1, 2, 3}, {3, 1, 4, 2},
}

func TestRankOfDemsar(t *testing.T) {
	var scores [][]float64
	for _, ranks := range demsar {
		row := make([]float64, len(ranks))
		for j, r := range ranks {
			row[j] = -r
		}
		scores = append(scores, row)
	}
	r, err := Rank([]string{"C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"}, scores, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	// The article rounds χ² to 9.28 and takes F from it; F(3, 39) exceeds 2.85 with probability .05.
	for _, c := range []struct {
		name      string
		got, want float64
		tolerance float64
	}{{"χ²", r.ChiSquare, 9.28, 5e-3}, {"F", r.F, 3.69, 5e-3}, {"CD", r.CD, 1.25, 6e-3}} {
		if math.Abs(c.got-c.want) > c.tolerance {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if r.P > 0.05 || r.P < 0.01 {
		t.Errorf("p = %v; the article rejects at .05", r.P)
	}
	if r, err = Rank(r.Methods, scores, 0.1); err != nil || math.Abs(r.CD-1.12) > 5e-3 {
		t.Errorf("CD at .1 is %v (%v), want 1.12", r.CD, err)
	}
}

// Demšar (2006), Table 5(a).
func TestNemenyi(t *testing.T) {
	for alpha, want := range map[float64][]float64{
		0.05: {1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164},
		0.10: {1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920},
	} {
		for i, q := range want {
			if got := nemenyi(i+2, alpha); math.Abs(got-q) > 1.1e-3 {
				t.Errorf("q of %d methods at %v is %.4f, want %v", i+2, alpha, got, q)
			}
		}
	}
}

func TestCliques(t *testing.T) {
	r := &Ranking{Ranks: []float64{5, 1, 1.5, 2.4, 4.9}, CD: 1}
	if got, want := r.byRank(), []int{1, 2, 3, 4, 0}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	// 1 and 1.5, 1.5 and 2.4, 4.9 and 5.
	if got, want := r.cliques(), [][2]int{{0, 1}, {1, 2}, {3, 4}}; !slices.Equal(got, want) {
		t.Errorf("cliques %v, want %v", got, want)
	}
}

func TestRankRuns(t *testing.T) {
	run := func(method, dataset string, seed uint64, a float64) *results.Run {
		r := twoTasks()
		r.Method, r.MethodTitle, r.Dataset, r.Seed, r.A = method, strings.ToUpper(method), dataset, seed, a
		return r
	}
	runs := []*results.Run{
		run("er", "x", 1, 50), run("mgda", "x", 1, 60), run("er", "y", 1, 20), run("mgda", "y", 1, 20), run("mgda", "x", 2, 30), run("er", "x", 2, 10),
	}
	r, err := RankRuns(0.05, runs...)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{(2 + 1.5 + 2) / 3, (1 + 1.5 + 1) / 3.}; math.Abs(r.Ranks[0]-want[0]) > 1e-12 || math.Abs(r.Ranks[1]-want[1]) > 1e-12 {
		t.Errorf("ranks %v of %v, want %v", r.Ranks, r.Labels, want)
	}
	if r.N != 3 || !slices.Equal(r.Labels, []string{"ER", "MGDA"}) {
		t.Errorf("%d situations of %v", r.N, r.Labels)
	}
	for _, bad := range [][]*results.Run{nil, runs[:5], append(runs, runs[0]), runs[:2]} {
		if _, err := RankRuns(0.05, bad...); err == nil {
			t.Errorf("%d runs were ranked", len(bad))
		}
	}
	// Where all situations agree, F is infinite, and p the share of the orders of the others that are that of the first.
	for _, c := range []struct {
		scores [][]float64
		p      float64
	}{
		{[][]float64{{1, 0}, {3, 2}}, 1 / 2.}, {[][]float64{{1, 0, 2}, {3, 2, 4}, {5, 4, 6}}, 1 / 36.},
	} {
		if r, err := Rank([]string{"a", "b", "c"}[:len(c.scores[0])], c.scores, 0.05); err != nil || !math.IsInf(r.F, 1) || math.Abs(r.P-c.p) > 1e-12 {
			t.Errorf("unanimous: %+v, %v", r, err)
		}
	}
	// Where no method differs, nothing is found.
	if r, err := Rank([]string{"a", "b"}, [][]float64{{1, 0}, {2, 3}}, 0.05); err != nil || r.ChiSquare != 0 || r.F != 0 || r.P != 1 {
		t.Errorf("undecided: %+v, %v", r, err)
	}
}

// TestByWilcoxon draws the cliques of the tests, and holds their p-values as data.
func TestByWilcoxon(t *testing.T) {
	var scores [][]float64
	for i := range 12 {
		x := float64(i * 5 % 7)
		scores = append(scores, []float64{x, x + 9 + float64(i%2), x + 9.5})
	}
	nemenyi, err := Rank([]string{"er", "mgda", "emgd-gmc"}, scores, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	r, err := nemenyi.ByWilcoxon()
	if err != nil || nemenyi.Compared != nil {
		t.Fatalf("%v; the first ranking has %v", err, nemenyi.Compared)
	}
	if !slices.Equal(r.cliques(), [][2]int{{0, 1}}) || !slices.Equal(r.byRank(), r.Compared.Order) {
		t.Errorf("cliques %v in the order %v, of the tests %v in %v", r.cliques(), r.byRank(), r.Compared.Cliques, r.Compared.Order)
	}
	fig, err := CriticalDifference(Light, r)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"method", "average_rank", "situations", "friedman_p", "adjusted_p_mgda", "adjusted_p_emgd-gmc", "adjusted_p_er"}; !slices.Equal(fig.Data.Head, want) {
		t.Errorf("head %v", fig.Data.Head)
	}
	if last := fig.Data.Rows[2]; last[0] != "er" || last[4] != r.Compared.Adjusted[0][1] || last[6] != 1. {
		t.Errorf("er's line is %v", last)
	}
	var few *stats.TooFewError
	if nemenyi, err = Rank(r.Methods, scores[:3], 0.05); err != nil {
		t.Fatal(err)
	}
	if _, err = nemenyi.ByWilcoxon(); !errors.As(err, &few) || few.Needed != 7 {
		t.Errorf("three situations: %v", err)
	}
}
