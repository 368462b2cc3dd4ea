package paper

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// table is a grid that stands for Table 2 on one data set, over so many label sets and three
// timelines and seeds.
func table(methods []invented.Method, labelSets int) invented.Grid {
	return invented.Grid{
		Name: "table2-test-split", Title: "Class-incremental", Paper: "Table 2", Size: "test-split",
		Datasets:   [][2]string{{"PS-EMNIST (test split)", "PS-EMNIST"}},
		Increments: []string{"class"}, Methods: methods, LabelSets: labelSets, Timelines: 3, Seeds: 3,
	}
}

// judged returns the verdict on a claim about two methods.
func judged(t *testing.T, claim string, all []*rows.Row) *Verdict {
	t.Helper()
	claims, err := parse("[[claim]]\nid = \"x\"\ntext = \"X.\"\ntables = [\"Table 2\"]\ndatasets = [\"PS-EMNIST\"]\n" +
		claim)
	if err != nil {
		t.Fatal(err)
	}
	return found(t, all).judge(claims)[0]
}

const gmcAboveAvgGrad = "methods = [\"EMGD(GMC)\"]\nthan = [\"AvgGrad\"]\n"

// TestVerdicts has one case for each verdict. The runs differ by half a point or less at random.
func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		claim     string
		gmc, avg  float64
		labelSets int
		want      Outcome
		why       string
	}{
		"holds":           {gmcAboveAvgGrad, 53, 50, 3, Holds, "as claimed"},
		"opposite":        {gmcAboveAvgGrad, 50, 53, 3, DoesNotHold, "the other way round"},
		"no difference":   {gmcAboveAvgGrad, 50, 50, 3, NotShown, "is not significant"},
		"too few":         {gmcAboveAvgGrad, 60, 50, 1, NotTestable, "With 3 situations no exact test"},
		"lower holds":     {gmcAboveAvgGrad + "relation = \"lower\"\n", 50, 53, 3, Holds, "as claimed"},
		"lower opposite":  {gmcAboveAvgGrad + "relation = \"lower\"\n", 53, 50, 3, DoesNotHold, "the other way round"},
		"alike":           {gmcAboveAvgGrad + "relation = \"alike\"\nmargin = 1.0\n", 50, 50, 3, Holds, "within ± 1"},
		"not alike":       {gmcAboveAvgGrad + "relation = \"alike\"\nmargin = 1.0\n", 53, 50, 3, DoesNotHold, "outside ± 1"},
		"alike not shown": {gmcAboveAvgGrad + "relation = \"alike\"\nmargin = 1.0\n", 51, 50, 3, NotShown, "reaches beyond"},
	} {
		t.Run(name, func(t *testing.T) {
			methods := []invented.Method{{Name: "EMGD(GMC)", Paper: "EMGD(GMC)", Run: "emgd-gmc", A: c.gmc},
				{Name: "AvgGrad", Paper: "AvgGrad", Run: "avggrad", A: c.avg}}
			v := judged(t, c.claim, table(methods, c.labelSets).Rows())
			p := v.Parts[0]
			switch {
			case v.Outcome != c.want:
				t.Errorf("%s (%s): v.Outcome is %q; want %q", v.Outcome, v.Summary, v.Outcome, c.want)
			case p.Outcome != c.want:
				t.Errorf("%s (%s): p.Outcome is %q; want %q", v.Outcome, v.Summary, p.Outcome, c.want)
			case !strings.Contains(p.Why, c.why):
				t.Errorf("%s (%s): p.Why is %q; want %q in it", v.Outcome, v.Summary, p.Why, c.why)
			}
			if math.Abs(p.Tested.Difference-(c.gmc-c.avg)) > 0.5 || p.Tested.Pairs != 3*c.labelSets {
				t.Errorf("difference %v over %d situations", p.Tested.Difference, p.Tested.Pairs)
			}
			if p.Paper == nil || math.Abs(*p.Paper-(53.441-43.823)) > 1e-9 {
				t.Errorf("the paper's difference is %v", p.Paper)
			}
		})
	}
}

// TestIntervalCounts: where the interval contains 0, a significant test alone shows nothing, in
// either direction.
func TestIntervalCounts(t *testing.T) {
	v := &Verdict{claim: &claim{}}
	for _, c := range []struct {
		difference, low, high float64
		grouped               bool
		want                  Outcome
	}{
		{2, 1, 3, true, Holds}, {-2, -3, -1, true, DoesNotHold}, {2, -0.1, 3, true, NotShown}, {-2, -3, 0.1, true, NotShown},
		{2, math.NaN(), math.NaN(), true, NotShown}, // one label set
		{2, -0.1, 3, false, Holds},                  // independent situations
	} {
		got, why := v.verdict(&comparison{Contrast: stats.Contrast{Difference: c.difference, Low: c.low, High: c.high,
			Grouped: c.grouped, Adjusted: 0.01}})
		if got != c.want {
			t.Errorf("%g [%g, %g]: %s, want %s (%s)", c.difference, c.low, c.high, got, c.want, why)
		}
	}
}

func TestMissingRunsAreNotTestable(t *testing.T) {
	avg := []invented.Method{{Name: "AvgGrad", Paper: "AvgGrad", Run: "avggrad", A: 50}}
	v := judged(t, gmcAboveAvgGrad, table(avg, 3).Rows())
	if v.Outcome != NotTestable || v.Parts[0].Why != "There are no runs of EMGD(GMC) here." {
		t.Errorf("%s: %s", v.Outcome, v.Parts[0].Why)
	}
	v = judged(t, gmcAboveAvgGrad, nil)
	if v.Outcome != NotTestable || v.Parts[0].Why != "There are no results on this data set." {
		t.Errorf("%s: %s", v.Outcome, v.Parts[0].Why)
	}
}

const above = "methods = [\"EMGD(GMC)\"]\nevery_other = true\nexcept = [\"EMGD(GMC)+ME\", \"EMGD(GS)+ME\", \"EMGD(GS)\"]\n"

var baselines = []string{"AvgGrad", "MGDA", "GradNorm", "DWA", "PCGrad", "RLW", "AGEM", "GMED", "ER", "MEGA", "MDMTR",
	"DER++", "MaxDO"}

// TestEveryOther compares one method with all others of a table. Thirteen comparisons of nine
// situations could not be corrected, but need not be: all of them must be significant.
func TestEveryOther(t *testing.T) {
	others := invented.Methods(baselines, 50, 1)
	gmc := invented.Method{Name: "EMGD(GMC)", Paper: "EMGD(GMC)", Run: "emgd-gmc", A: 53}
	v := judged(t, above, table(append(others, gmc), 3).Rows())
	p := v.Parts[0]
	switch {
	case v.Outcome != Holds:
		t.Errorf("%s: v.Outcome is %q; want %q", v.Outcome, v.Outcome, Holds)
	case p.Rivals != 13:
		t.Errorf("%s: p.Rivals is %d; want 13", v.Outcome, p.Rivals)
	case p.Than != "AvgGrad":
		t.Errorf("%s: p.Than is %q; want %q", v.Outcome, p.Than, "AvgGrad")
	case math.Abs(p.Tested.Difference-3) > 0.5:
		t.Errorf("%s: math.Abs(p.Tested.Difference-3) is %g; want at most 0.5", v.Outcome, math.Abs(p.Tested.Difference-3))
	}
	gmc.A = 47.5 // below three of them
	v = judged(t, above, table(append(others, gmc), 3).Rows())
	switch p := v.Parts[0]; {
	case v.Outcome != DoesNotHold:
		t.Errorf("%s against %s: v.Outcome is %q; want %q", v.Outcome, p.Than, v.Outcome, DoesNotHold)
	case p.Than != "AvgGrad":
		t.Errorf("%s against %s: p.Than is %q; want %q", v.Outcome, p.Than, p.Than, "AvgGrad")
	case p.Tested.Difference > 0:
		t.Errorf("%s against %s: p.Tested.Difference is %g; want at most 0", v.Outcome, p.Than, p.Tested.Difference)
	}
	v = judged(t, above, table(append(others[1:], gmc), 3).Rows())
	if p := v.Parts[0]; v.Outcome != NotTestable || p.Why != "There are no runs of AvgGrad here." {
		t.Errorf("%s: %s", v.Outcome, p.Why)
	}
}

// TestEveryOtherUnfinished: of one rival there are the runs of three situations only.
func TestEveryOtherUnfinished(t *testing.T) {
	gmc := invented.Method{Name: "EMGD(GMC)", Paper: "EMGD(GMC)", Run: "emgd-gmc", A: 53}
	all := table(append(invented.Methods(baselines, 50, 1), gmc), 3).Rows()
	for _, r := range all {
		if r.Method == "DWA" && r.LabelSet > 0 {
			r.State, r.Run = rows.Missing, nil
		}
	}
	v := judged(t, above, all)
	if p := v.Parts[0]; v.Outcome != NotTestable || !strings.Contains(p.Why, "3 situations") {
		t.Errorf("%s: %s", v.Outcome, p.Why)
	}
}

// TestEveryOtherUnfinishedApart: each of two rivals lacks three situations, and together they leave
// three.
func TestEveryOtherUnfinishedApart(t *testing.T) {
	gmc := invented.Method{Name: "EMGD(GMC)", Paper: "EMGD(GMC)", Run: "emgd-gmc", A: 40}
	all := table(append(invented.Methods(baselines, 50, 1), gmc), 3).Rows()
	for _, r := range all {
		if r.Method == "DWA" && r.LabelSet == 0 || r.Method == "MGDA" && r.LabelSet == 1 {
			r.State, r.Run = rows.Missing, nil
		}
	}
	v := judged(t, above, all)
	if p := v.Parts[0]; v.Outcome != NotTestable || !strings.Contains(p.Why, "3 situations") {
		t.Errorf("%s: %s", v.Outcome, p.Why)
	}
}

// TestSizesOfAGrid: a control that was made in two sizes on the same data counts once.
func TestSizesOfAGrid(t *testing.T) {
	methods := invented.Methods([]string{"EMGD(GMC), SGD", "EMGD(GMC), SGD, mean scale"}, 53, 2)
	large := table(methods, 3)
	large.Name, large.Paper = "controls-test-split", ""
	small := large
	small.Name, small.Size, small.Seeds = "controls-other", "other", 1
	claims, err := parse(
		"[[claim]]\nid = \"x\"\ntext = \"X.\"\ngrids = [\"controls\"]\nmethods = [\"EMGD(GMC), SGD\"]\nthan = [\"EMGD(GMC), SGD, mean scale\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	switch v := found(t, append(small.Rows(), large.Rows()...)).judge(claims)[0]; {
	case len(v.Parts) != 1:
		t.Errorf("len(v.Parts) is %d; want 1", len(v.Parts))
	case v.Parts[0].Column.Table.Name != large.Name:
		t.Errorf("v.Parts[0].Column.Table.Name is %q; want %q", v.Parts[0].Column.Table.Name, large.Name)
	case v.Outcome != Holds:
		t.Errorf("v.Outcome is %q; want %q", v.Outcome, Holds)
	}
}

// TestFullest: the size with more situations counts, in whatever order the grids are, and for as
// many the one with more runs.
func TestFullest(t *testing.T) {
	methods := invented.Methods([]string{"EMGD(GMC)", "AvgGrad"}, 53, 2)
	wide, deep := table(methods, 3), table(methods, 3)
	wide.Name, wide.Size, wide.Seeds = "table2-wide", "wide", 1
	deep.Name, deep.Size = "table2-deep", "deep"
	var few []*rows.Row // three of the nine situations of wide, and as many runs
	for _, r := range deep.Rows() {
		if r.Timeline == 0 {
			few = append(few, r)
		}
	}
	for want, all := range map[string][]*rows.Row{
		wide.Name: slices.Concat(few, wide.Rows()),
		deep.Name: slices.Concat(wide.Rows(), deep.Rows()),
	} {
		t.Run(want, func(t *testing.T) {
			v := judged(t, "methods = [\"EMGD(GMC)\"]\nthan = [\"AvgGrad\"]\n", all)
			switch {
			case len(v.Parts) != 1:
				t.Errorf("want %s: len(v.Parts) is %d; want 1", want, len(v.Parts))
			case v.Parts[0].Column.Table.Name != want:
				t.Errorf("want %s: v.Parts[0].Column.Table.Name is %q; want %q", want, v.Parts[0].Column.Table.Name, want)
			case v.Parts[0].Tested.Pairs != 9:
				t.Errorf("want %s: v.Parts[0].Tested.Pairs is %d; want 9", want, v.Parts[0].Tested.Pairs)
			}
		})
	}
}

// TestFamilies: results on another data set do not change what was found on the first.
func TestFamilies(t *testing.T) {
	methods := invented.Methods([]string{"EMGD(GMC)", "EMGD(GS)", "AvgGrad"}, 53, 2)
	first, second := table(methods, 3), table(methods, 3)
	second.Name, second.Size = "table2-subset", "subset"
	second.Datasets = [][2]string{{"PS-EMNIST (few images)", "PS-EMNIST"}}
	const claim = "methods = [\"EMGD(GMC)\", \"EMGD(GS)\"]\nthan = [\"AvgGrad\"]\n"
	alone, both := judged(t, claim, first.Rows()), judged(t, claim, append(first.Rows(), second.Rows()...))
	if len(alone.Parts) != 2 || len(both.Parts) != 4 {
		t.Fatalf("%d and %d parts", len(alone.Parts), len(both.Parts))
	}
	for _, p := range alone.Parts {
		i := slices.IndexFunc(both.Parts, func(q *Part) bool { return q.Method == p.Method && q.Place == p.Place })
		switch {
		case i < 0:
			t.Errorf("%s, %s: i is %d; want at least 0", p.Place, p.Method, i)
		case both.Parts[i].Tested.Adjusted != p.Tested.Adjusted:
			t.Errorf("%s, %s: both.Parts[i].Tested.Adjusted is %g; want %g", p.Place, p.Method, both.Parts[i].Tested.Adjusted,
				p.Tested.Adjusted)
		case p.Tested.Adjusted <= p.Tested.P:
			t.Errorf("%s, %s: p.Tested.Adjusted is %g; want more than %g", p.Place, p.Method, p.Tested.Adjusted, p.Tested.P)
		}
	}
}

func TestClaimsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range append(claims(), controls()...) {
		if seen[c.ID] {
			t.Errorf("two claims have the id %s", c.ID)
		}
		seen[c.ID] = true
	}
	for _, c := range append(claims(), controls()...) {
		switch {
		case c.Text == "":
			t.Errorf("claim %s: c.Text is empty", c.ID)
		case len(c.Methods) == 0:
			t.Errorf("claim %s: len(c.Methods) is 0", c.ID)
		case (len(c.Tables) > 0) == (len(c.Grids) > 0):
			t.Errorf("claim %s: (len(c.Tables) > 0) and (len(c.Grids) > 0) are both %t", c.ID, (len(c.Tables) > 0))
		case (c.Relation == alike) != (c.Margin > 0):
			t.Errorf("claim %s: (c.Relation == alike) is %t; want %t", c.ID, (c.Relation == alike), (c.Margin > 0))
		case (len(c.Than) > 0) == c.EveryOther && c.At == "":
			t.Errorf("claim %s: %+v", c.ID, c)
		}
		for _, table := range c.Tables {
			for _, m := range slices.Concat(c.Methods, c.Than, c.Except) {
				if !slices.ContainsFunc(inPaper(), func(p printed) bool { return p.table == table && p.method == m }) {
					t.Errorf("claim %s: %s has no method %q", c.ID, table, m)
				}
			}
		}
	}
}

// TestExtremes compares the ends of a sweep.
func TestExtremes(t *testing.T) {
	g := table(invented.Methods([]string{"EMGD(GMC)"}, 60, 1), 3)
	g.Name, g.Paper, g.Vary, g.Values = "memory-test-split", "Figure 5", "memory.budget", []string{"1000", "62", "310"}
	all := g.Rows()
	for _, r := range all {
		if r.Vary[0].Value == "1000" {
			r.Run.A += 5
		}
	}
	f, err := New(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range f.Claims {
		if v.ID != "memory-size" {
			continue
		}
		switch {
		case v.Outcome != Holds:
			t.Errorf("v.Outcome is %q; want %q", v.Outcome, Holds)
		case v.Parts[0].Method != "EMGD(GMC), memory.budget=1000":
			t.Errorf("v.Parts[0].Method is %q; want %q", v.Parts[0].Method, "EMGD(GMC), memory.budget=1000")
		case v.Parts[0].Than != "EMGD(GMC), memory.budget=62":
			t.Errorf("v.Parts[0].Than is %q; want %q", v.Parts[0].Than, "EMGD(GMC), memory.budget=62")
		}
		if len(v.Parts) != 4 || v.Parts[1].Outcome != NotTestable {
			t.Errorf("%d parts", len(v.Parts))
		}
	}
}
