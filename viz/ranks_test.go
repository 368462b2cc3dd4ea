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

func TestRankRuns(t *testing.T) {
	run := func(method, dataset string, seed uint64, a float64) *results.Run {
		r := twoTasks()
		r.Method, r.MethodTitle, r.Dataset, r.Seed, r.A = method, strings.ToUpper(method), dataset, seed, a
		return r
	}
	var runs []*results.Run
	for seed := range uint64(7) {
		runs = append(runs, run("er", "x", seed, 50), run("mgda", "x", seed, 60))
	}
	runs = append(runs, run("er", "y", 1, 20), run("mgda", "y", 1, 20), run("mgda", "y", 2, 30), run("er", "y", 2, 10))
	r, err := RankRuns(0.05, runs...)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{(8*2 + 1.5) / 9, (8 + 1.5) / 9.}; math.Abs(r.Ranks[0]-want[0]) > 1e-12 || math.Abs(r.Ranks[1]-want[1]) > 1e-12 {
		t.Errorf("ranks %v of %v, want %v", r.Ranks, r.Labels, want)
	}
	if r.Pairs != 9 || !slices.Equal(r.Labels, []string{"ER", "MGDA"}) {
		t.Errorf("%d situations of %v", r.Pairs, r.Labels)
	}
	for _, bad := range [][]*results.Run{nil, runs[:len(runs)-1], append(runs, runs[0]), runs[:2]} {
		if _, err := RankRuns(0.05, bad...); err == nil {
			t.Errorf("%d runs were ranked", len(bad))
		}
	}
	var few *stats.TooFewError
	if _, err := RankRuns(0.05, runs[:8]...); !errors.As(err, &few) {
		t.Errorf("four situations: %v", err)
	}
	fig, err := Ranks(r)
	if err != nil {
		t.Fatal(err)
	}
	if last := fig.Data.Rows[1]; last[0] != "ER" || last[3] != r.Adjusted[0][1] || last[4] != 1. {
		t.Errorf("ER's line is %v", last)
	}
}
