package versus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
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

// TestSameWhateverTheTimeline: what two methods that learn from sums reach in three timelines of a
// label set counts once, and a test of three situations there is none; against others all count.
func TestSameWhateverTheTimeline(t *testing.T) {
	grid := func(labelSets uint64, lda, ranpac string) (out []*rows.Row) {
		for i := range 3 * labelSets {
			labelSet := i / 3
			for method, at := range map[string]struct {
				a    float64
				hash string
			}{
				"lda":    {61 + float64(labelSet)/8, fmt.Sprint("lda", labelSet, lda)},
				"ranpac": {60 + float64(labelSet)/4, fmt.Sprint("ranpac", labelSet, ranpac)},
				"er":     {50 + float64(i)/8, fmt.Sprint("er", i)},
			} {
				r := done(method, method, labelSet, 0, at.a, 1)
				if r.Timeline = i % 3; at.hash == "" || strings.HasSuffix(at.hash, "-") {
					at.hash = ""
				}
				r.Run.ModelSHA256 = at.hash
				out = append(out, r)
			}
		}
		slices.SortStableFunc(out, func(a, b *rows.Row) int { return strings.Compare(b.Method, a.Method) }) // ranpac, lda, er
		return out
	}
	for name, c := range map[string]struct {
		rows               []*rows.Row
		situations, others int // of ranpac against lda, and of er against lda
		verdict            string
		note               string
	}{
		"three label sets": {grid(3, "", ""), 3, 9, "At the 5 % level, lda is better than er (by 10.",
			"lda and ranpac each end with the same model whatever the timeline: their 9 situations are 3, one for each label set, " +
				"and a test takes at least 6."},
		"six label sets": {grid(6, "", ""), 6, 18, "At the 5 % level, lda is better than ",
			"their 18 situations are 6, one for each label set."},
		"models that are not known": {grid(3, "-", ""), 9, 9, "At the 5 % level, lda is ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			table := of(c.rows, "lda")[0]
			by := map[string]*versus.Against{}
			for _, l := range table.Lines {
				by[l.Method] = l.Against
			}
			ranpac, er := by["ranpac"], by["er"]
			if ranpac.Situations != c.situations || ranpac.Situations+ranpac.Repeated != c.others ||
				er.Situations != c.others || er.Repeated != 0 {
				t.Errorf("ranpac %+v, er %+v", ranpac, er)
			}
			if (c.situations < 6) != (ranpac.P == nil) || er.P == nil || *er.P > 0.01 {
				t.Errorf("p of ranpac %v, of er %v", ranpac.P, er.P)
			}
			text := textOf(t, table)
			if !strings.HasPrefix(table.Verdict, c.verdict) || !strings.Contains(text, c.note) ||
				(c.note == "") != !strings.Contains(text, "whatever the timeline") {
				t.Errorf("want %q and %q in\n%s", c.verdict, c.note, text)
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
		"apart":       {apart, 0, "Nothing can be decided", 2},
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
