package paper

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

func found(t *testing.T, all []*rows.Row) *Findings {
	t.Helper()
	f, err := New(all)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPartsOfAGrid puts the files of two machines together, each of which has half of the runs.
func TestPartsOfAGrid(t *testing.T) {
	whole, first, second := stored(), stored(), stored()
	for i := range whole {
		half := first
		if i%2 == 0 {
			half = second
		}
		half[i].State, half[i].Run = rows.Missing, nil
	}
	f := found(t, append(first, second...))
	for i, e := range f.Grids[0].Columns[0].Entries {
		want := found(t, whole).Grids[0].Columns[0].Entries[i]
		switch {
		case !e.Complete():
			t.Errorf("%s: e.Complete() is false", e.Name)
		case e.A != want.A:
			t.Errorf("%s: e.A is %v; want %v", e.Name, e.A, want.A)
		}
	}
	other := stored()
	other[4].Run.ModelSHA256 = "another"
	if _, err := New(append(whole, other...)); err == nil {
		t.Errorf("two results of a run: %v", expect.Text(err))
	}
}

func stored() []*rows.Row {
	return table(invented.Methods([]string{"EMGD(GMC)", "AvgGrad"}, 53, 3), 3).Rows()
}

// TestRank: methods with all runs are ranked over the situations that they share.
func TestRank(t *testing.T) {
	methods := invented.Methods([]string{"EMGD(GMC)", "MGDA", "AvgGrad"}, 53, 4)
	one := *table(methods[2:], 3).Rows()[0]
	one.Seed, one.State, one.Run = 7, rows.Missing, nil
	for name, c := range map[string]struct {
		all  []*rows.Row
		want []float64
	}{
		"all":           {table(methods, 3).Rows(), []float64{1, 2, 3}},
		"a missing run": {append(table(methods, 3).Rows(), &one), []float64{1, 2, 0}},
		"few in common": {append(table(methods[:2], 3).Rows(), table(methods[2:], 1).Rows()...), []float64{1, 2, 3}},
		"one":           {table(methods[:1], 3).Rows(), []float64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, e := range found(t, c.all).Grids[0].Columns[0].Entries {
				if e.Rank != c.want[i] {
					t.Errorf("%s has the rank %g, want %g", e.Name, e.Rank, c.want[i])
				}
			}
		})
	}
}

// TestForeignSeed: a seed that only a third method has leaves two others as they are.
func TestForeignSeed(t *testing.T) {
	two := table(invented.Methods([]string{"EMGD(GMC)", "AvgGrad"}, 53, 3), 3).Rows()
	want := found(t, two).Grids[0].Columns[0]
	one := *table(invented.Methods([]string{"MGDA"}, 50, 3), 1).Rows()[0]
	one.Seed = 7
	c := found(t, append(slices.Clone(two), &one)).Grids[0].Columns[0]
	alone, both := compare(want.Entries[0], want.Entries[1], results.FinalAccuracy),
		compare(c.Entries[0], c.Entries[1], results.FinalAccuracy)
	switch {
	case both.Pairs != 9:
		t.Errorf("both.Pairs is %d; want 9", both.Pairs)
	case both.Contrast != alone.Contrast:
		t.Errorf("both.Contrast is %+v; want %+v", both.Contrast, alone.Contrast)
	}
}

// TestOwnForeignSeed: a run with a seed that the same method has in no other situation leaves its
// mean without a spread, and the report as it is otherwise.
func TestOwnForeignSeed(t *testing.T) {
	all := table(invented.Methods([]string{"EMGD(GMC)", "AvgGrad"}, 53, 3), 3).Rows()
	one := *all[0]
	one.Seed, one.Cell = 7, "another"
	c := found(t, append(all, &one)).Grids[0].Columns[0]
	switch e := c.Entries[0]; {
	case math.IsNaN(e.A.Mean):
		t.Error("math.IsNaN(e.A.Mean) is true")
	case !math.IsNaN(e.A.StdSeeds):
		t.Error("math.IsNaN(e.A.StdSeeds) is false")
	case !math.IsNaN(e.A.StdRuns):
		t.Error("math.IsNaN(e.A.StdRuns) is false")
	}
	if e := c.Entries[1]; !(e.A.StdSeeds > 0) {
		t.Errorf("%s has the mean %+v", e.Name, e.A)
	}
}

// TestSharedSeeds: two methods are compared over the seeds that both have, and not over others.
func TestSharedSeeds(t *testing.T) {
	more, fewer := table(invented.Methods([]string{"EMGD(GMC)"}, 53, 3), 3),
		table(invented.Methods([]string{"AvgGrad"}, 50, 3), 3)
	fewer.Seeds = 2
	all := more.Rows()
	for _, r := range all {
		if r.Seed != fewer.Rows()[0].Seed && r.Seed != fewer.Rows()[1].Seed {
			r.Run.A = -1000
		}
	}
	c := found(t, append(all, fewer.Rows()...)).Grids[0].Columns[0]
	switch both := compare(c.Entries[0], c.Entries[1], results.FinalAccuracy); {
	case both.Pairs != 9:
		t.Errorf("both.Pairs is %d; want 9", both.Pairs)
	case math.Abs(both.Difference-3) > .5:
		t.Errorf("math.Abs(both.Difference-3) is %g; want at most .5", math.Abs(both.Difference-3))
	}
	if shared := rows.Situations(results.FinalAccuracy, c.Entries...); len(shared) != 9 ||
		slices.Min(shared[0].Means) < 0 {
		t.Error(shared)
	}
}

// TestSummaries compares means and spreads with sums by hand, and with runs missing, failed,
// diverged or twice.
func TestSummaries(t *testing.T) {
	all := table(invented.Methods([]string{"AvgGrad", "MGDA"}, 50, 1), 1).Rows()
	for i, r := range all[:9] { // 3 timelines × 3 seeds
		r.Run.A = float64(10*(i%3) + i/3)
	}
	all[10].State, all[10].Reason, all[10].Run = rows.Failed, "no room", nil
	at := 7
	all[11].Run.DivergedAt = &at
	f := found(t, append(all, all[0]))
	c := f.Grids[0].Columns[0]
	avg, mgda := c.Entries[0], c.Entries[1]
	switch {
	case avg.A.Mean != 11:
		t.Errorf("AvgGrad: avg.A.Mean is %g; want 11", avg.A.Mean)
	case math.Abs(avg.A.StdSeeds-math.Sqrt(200.0/3)) > 1e-12:
		t.Errorf("AvgGrad: math.Abs(avg.A.StdSeeds-math.Sqrt(200.0/3)) is %g; want at most 1e-12",
			math.Abs(avg.A.StdSeeds-math.Sqrt(200.0/3)))
	case avg.Done != 9:
		t.Errorf("AvgGrad: avg.Done is %d; want 9", avg.Done)
	}
	switch a, f := Numbers(avg); {
	case a.Mean != 43.823:
		t.Errorf("the paper's AvgGrad: a.Mean is %g; want 43.823", a.Mean)
	case f.Mean != -44.484:
		t.Errorf("the paper's AvgGrad: f.Mean is %g; want -44.484", f.Mean)
	}
	switch {
	case mgda.Complete():
		t.Error("MGDA: mgda.Complete() is true")
	case mgda.Failed != 1:
		t.Errorf("MGDA: mgda.Failed is %d; want 1", mgda.Failed)
	case mgda.Diverged != 1:
		t.Errorf("MGDA: mgda.Diverged is %d; want 1", mgda.Diverged)
	case mgda.Remark != "8 of 9, 1 failed, 1 diverged":
		t.Errorf("MGDA: mgda.Remark is %q; want %q", mgda.Remark, "8 of 9, 1 failed, 1 diverged")
	case !math.IsNaN(mgda.A.StdSeeds):
		t.Error("MGDA: math.IsNaN(mgda.A.StdSeeds) is false")
	case mgda.Rank != 0:
		t.Errorf("MGDA: mgda.Rank is %g; want 0", mgda.Rank)
	}
	p := f.Grids[0].Provenance()
	switch {
	case p.Cells != 18:
		t.Errorf("provenance: p.Cells is %d; want 18", p.Cells)
	case p.Done != 17:
		t.Errorf("provenance: p.Done is %d; want 17", p.Done)
	case math.Abs(p.Hours-17*3.0/3600) > 1e-12:
		t.Errorf("provenance: math.Abs(p.Hours-17*3.0/3600) is %g; want at most 1e-12", math.Abs(p.Hours-17*3.0/3600))
	case len(p.Failures) != 1:
		t.Errorf("provenance: len(p.Failures) is %d; want 1", len(p.Failures))
	case !strings.HasSuffix(p.Failures[0], "no room"):
		t.Errorf("provenance: p.Failures[0] is %q; want %q at its end", p.Failures[0], "no room")
	}
	if c := Command(f.Grids[0]); c != "pcl grid run table2 --size test-split --backend xla-cpu" {
		t.Error(c)
	}
	missing := f.Missing()
	switch m := missing[0]; {
	case m.Name != "Table 1":
		t.Errorf("missing of Table 1: m.Name is %q; want %q", m.Name, "Table 1")
	case !strings.HasPrefix(m.Value, "There are no results on PS-EMNIST, task-incremental; "):
		t.Errorf("missing of Table 1: m.Value is %q; want %q at its beginning", m.Value,
			"There are no results on PS-EMNIST, task-incremental; ")
	}
	switch m := missing[1]; {
	case m.Name != "Table 2":
		t.Errorf("missing of Table 2: m.Name is %q; want %q", m.Name, "Table 2")
	case !strings.HasSuffix(m.Value, ". Runs are missing on PS-EMNIST, class-incremental (1 of 18)."):
		t.Errorf("missing of Table 2: m.Value is %q; want %q at its end", m.Value,
			". Runs are missing on PS-EMNIST, class-incremental (1 of 18).")
	}
}

// TestTuned has published and tuned values side by side, and claims tested with both.
func TestTuned(t *testing.T) {
	g := table(invented.Methods([]string{"EMGD(GMC)", "AvgGrad"}, 53, 3), 3)
	tuned := g
	tuned.Name += "-tuned"
	tuned.Methods = invented.Methods([]string{"EMGD(GMC)", "AvgGrad"}, 53, 0)
	f := found(t, append(g.Rows(), tuned.Rows()...))
	if g := f.Grids[1]; !g.Tuned || base(g) != "table2" || !strings.Contains(Command(g), "--tuned") {
		t.Errorf("%+v", g)
	}
	for i := range 2 {
		e := f.Grids[i].Columns[0].Entries[1]
		if e.Other != f.Grids[1-i].Columns[0].Entries[1] {
			t.Errorf("the other one of %s in %s is %+v", e.Name, f.Grids[i].Name, e.Other)
		}
	}
	i := slices.IndexFunc(f.Claims, func(v *Verdict) bool { return v.ID == "emgd-avggrad" })
	var outcomes []string
	for _, p := range f.Claims[i].Parts {
		if p.Tested != nil {
			outcomes = append(outcomes, p.Place+": "+string(p.Outcome))
		}
	}
	want := []string{"PS-EMNIST (test split), class-incremental: holds",
		"PS-EMNIST (test split), class-incremental, tuned values: not shown"}
	if !slices.Equal(outcomes, want) {
		t.Errorf("%q", outcomes)
	}
}
