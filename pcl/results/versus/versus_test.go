package versus_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/pcl/stats"
)

// runs returns runs of three methods in n situations with two seeds: avggrad is 4 points behind
// emgd, er up to 1 before or behind.
func runs(n int) (out []*rows.Row) {
	for i := range n {
		for seed := range 2 {
			level, noise := 60+2*float64(i%3)+float64(seed), 1-2*float64(i%2)
			for _, m := range []struct {
				name      string
				a, millis float64
			}{{"emgd", level, 2}, {"avggrad", level - 4 + noise/4, 1}, {"er", level + noise, 3}} {
				out = append(out, done(m.name, m.name, uint64(i), uint64(seed), m.a, m.millis))
			}
		}
	}
	return out
}

// done is a row with a result on photos, in a situation of its own.
func done(name, method string, situation, seed uint64, a, millis float64) *rows.Row {
	return &rows.Row{
		Dataset: "photos", Increment: "class", Method: name, State: rows.Done,
		Trial: stats.Trial{Situation: stats.Situation{LabelSet: situation, Timeline: situation}, Seed: seed},
		Run:   &results.Run{Method: method, A: a, Measured: results.Measured{StepMillis: millis}},
	}
}

func of(all []*rows.Row, reference string) []*versus.Table {
	return versus.Of(rows.Columns(all), reference)
}

func TestTable(t *testing.T) {
	all := of(runs(9), "")
	if len(all) != 1 {
		t.Fatal(all)
	}
	emgd, avggrad, er := all[0].Lines[0], all[0].Lines[1], all[0].Lines[2]
	switch a := avggrad.Against; {
	case all[0].Reference != "emgd" || emgd.Against != nil || emgd.Situations != 9 || emgd.Runs != 18 || emgd.Cost != 1 ||
		er.Cost != 1.5:
		t.Errorf("emgd %+v, er %+v", emgd, er)
	case !a.Differs || math.Abs(a.Difference-(-4+0.25/9)) > 1e-9 || *a.P != 2.0/512 || *a.Holm != 4.0/512 ||
		a.Interval[1] >= -3:
		t.Errorf("avggrad: %+v", a)
	case er.Against.Differs || er.Against.Interval[0] >= 0 || er.Against.Interval[1] <= 0:
		t.Errorf("er: %+v", er.Against)
	}
	var text bytes.Buffer
	if err := versus.Text(&text, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"emgd is better than avggrad (by 4.0 points); it is not shown to differ from er.",
		"\n18 situations would show, four times in five, a difference of "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if back, err := json.Marshal(all); err != nil || !json.Valid(back) {
		t.Errorf("%s, %v", back, expect.Text(err))
	}
}

// TestPreferred: the recommended method is the reference, by its shortest name, else one of its
// kin.
func TestPreferred(t *testing.T) {
	for want, methods := range map[string]map[string]string{
		"emgd tau=3": {"er": "er", "emgd-gmc": "emgd-gmc", "emgd tau=3": "emgd", "emgd tau=3 lr=1": "emgd"},
		"EMGD (GMC)": {"EMGD (GS) tau=1": "emgd-gs", "ER": "er", "EMGD (GMC)": "emgd-gmc"},
		"":           {"er": "er", "avggrad": "avggrad"},
	} {
		t.Run(want, func(t *testing.T) {
			var all []*rows.Row
			for name, method := range methods {
				all = append(all, done(name, method, 0, 0, 50, 1))
			}
			if got := versus.Preferred(rows.Columns(all)); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestReferences: another reference, and one that is not there.
func TestReferences(t *testing.T) {
	for reference, want := range map[string]string{"er": "er", "mgda": "emgd", "": "emgd"} {
		t.Run(reference, func(t *testing.T) {
			all := of(runs(9), reference)
			switch {
			case all[0].Reference != want:
				t.Errorf("all[0].Reference is %q; want %q", all[0].Reference, want)
			case all[0].Lines[0].Method != want:
				t.Errorf("all[0].Lines[0].Method is %q; want %q", all[0].Lines[0].Method, want)
			case len(all[0].Lines) != 3:
				t.Errorf("len(all[0].Lines) is %d; want 3", len(all[0].Lines))
			}
		})
	}
}

// TestWhatIsNotShown: too few situations, one label set, missing and repeated runs, nothing in
// common.
func TestWhatIsNotShown(t *testing.T) {
	nine := runs(9)
	one := runs(9)
	for i := range one {
		one[i].LabelSet = 0
	}
	apart := append(runs(1), done("mgda", "mgda", 9, 0, 50, 0))
	for name, c := range map[string]struct {
		runs    []*rows.Row
		differs int
		verdict string
		notes   int
	}{
		"all":         {nine, 1, "At the 5 %", 0},
		"twice":       {append(runs(9), nine...), 1, "At the 5 %", 0},
		"one missing": {nine[:len(nine)-1], 1, "At the 5 %", 1},
		"six":         {runs(6), 0, "Nothing can be decided: with 6 situations, 2 comparisons", 0},
		"one":         {runs(1), 0, "Nothing can be decided", 1},
		"label set":   {one, 0, "At the 5 %", 1},
		"apart":       {apart, 0, "Nothing can be decided", 3},
	} {
		t.Run(name, func(t *testing.T) {
			all := of(c.runs, "")
			n := 0
			for _, l := range all[0].Lines {
				if l.Against != nil && l.Against.Differs {
					n++
				}
			}
			switch {
			case n != c.differs:
				t.Errorf("n is %d; want %d", n, c.differs)
			case !strings.HasPrefix(all[0].Verdict, c.verdict):
				t.Errorf("all[0].Verdict is %q; want %q at its beginning", all[0].Verdict, c.verdict)
			case len(all[0].Notes) != c.notes:
				t.Errorf("len(all[0].Notes) is %d; want %d", len(all[0].Notes), c.notes)
			}
			if err := versus.Text(new(bytes.Buffer), all); err != nil {
				t.Error(name, err)
			}
			if _, err := json.Marshal(all); err != nil {
				t.Error(name, err)
			}
		})
	}
	if all := of(runs(9)[:1], ""); len(all) != 0 {
		t.Errorf("one method: %v", all)
	}
}
