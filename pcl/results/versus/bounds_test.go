package versus_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
)

// TestGuess: among the classes of each task, or among all, of which two tasks may share some.
func TestGuess(t *testing.T) {
	for name, c := range map[string]struct {
		increment string
		classes   [][]int
		want      float64
	}{
		"task":   {"task", [][]int{{0, 1}, {2, 3, 4, 5}}, 37.5},
		"class":  {"class", [][]int{{0, 1}, {2, 3, 4, 5, 6, 7, 8, 9}}, 10},
		"shared": {"class", [][]int{{0, 1, 2}, {2, 3}}, 25},
	} {
		t.Run(name, func(t *testing.T) {
			all := runs(9)
			for _, r := range all {
				r.Run.Increment = c.increment
				for _, classes := range c.classes {
					r.Run.Tasks = append(r.Run.Tasks, results.Task{Classes: classes})
				}
			}
			if got := versus.Guess(all[0].Run); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%g, want %g", got, c.want)
			}
			if text := textOf(t, of(all, "")[0]); !strings.Contains(text, "\n(guessing) ") {
				t.Errorf("no row for guessing in\n%s", text)
			}
		})
	}
}

func textOf(t *testing.T, table *versus.Table) string {
	t.Helper()
	var text bytes.Buffer
	if err := versus.Text(&text, []*versus.Table{table}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// besides is a row that no test is about, so many points above emgd's of the same situation.
func besides(method, variant string, situation int, above float64) *rows.Row {
	level := 60 + 2*float64(situation%3) // emgd's with the same seed
	r := done(method+" "+variant, method, uint64(situation), 0, level+above, 1)
	r.Run.Variant, r.Run.Config = variant, []byte(`{"epochs":4,"kind":"joint"}`)
	r.Seconds = 90
	return r
}

// TestBeside: rows beside the methods change no number, test or verdict of these, and the advice
// names the step that gains most of those that were measured.
func TestBeside(t *testing.T) {
	const joint, lite = "joint beside", "beside features efficientnet-lite0"
	features := versus.Features{Possible: true, Untried: "there are no weights", Command: "pcl compare x --features y"}
	for name, c := range map[string]struct {
		beside []*rows.Row
		known  versus.Features
		pixels bool
		want   string // in the text
		next   string
	}{
		"nothing": {nil, versus.Features{}, true, "", ""},
		"features ahead": {[]*rows.Row{besides("avggrad", joint, 0, 9), besides("lda", lite, 0, 20),
			besides("lda", lite, 1, 22)}, versus.Features{Command: "pcl compare x --features y", Seconds: 60}, true,
			"\n(lda on efficientnet-lite0, 2 situations) ",
			"Next: features of a pretrained network, about 21.0 points above emgd (lda on efficientnet-lite0: 82.0 %, " +
				"made in 4 minutes): pcl compare x --features y"},
		"features behind": {[]*rows.Row{besides("avggrad", joint, 0, 9), besides("lda", lite, 0, -3)}, versus.Features{},
			true, "\n(all tasks at once, 4 passes, 1 situation) ", "Next: a method or a memory that forgets less (--memory), " +
				"for up to about 9.0 points: the same network on all tasks at once is so far ahead of emgd."},
		"features gain less": {[]*rows.Row{besides("avggrad", joint, 0, 9), besides("lda", lite, 0, 3)}, versus.Features{},
			true, "", "Next: a method or a memory"},
		"not measured": {[]*rows.Row{besides("avggrad", joint, 0, 9)}, features, true, "", "Next: features of a pretrained " +
			"network, on photos often the largest gain (not measured here, since there are no weights): pcl compare x"},
		"a low ceiling": {[]*rows.Row{besides("avggrad", joint, 0, -9)}, versus.Features{}, true, "", "Next: more data or " +
			"another network: on all tasks at once the same one is not ahead of emgd (−9.0 points), so that"},
		"only features behind": {[]*rows.Row{besides("lda", lite, 0, -3)}, versus.Features{}, true, "(lda on ", ""},
		"on features": {[]*rows.Row{besides("lda", lite, 0, 4)}, versus.Features{}, false, "",
			"Next: the method lda on these features, about 4.0 points above emgd (made in 2 minutes)."},
		"elsewhere": {[]*rows.Row{besides("avggrad", joint, 77, 9)}, versus.Features{}, true, "(all tasks at once", ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := runs(9)
			for _, r := range all {
				if r.Method == "er" {
					r.Run.A -= 1.5
				}
			}
			plain := of(all, "")[0]
			for i := 0; !c.pixels && i < len(all); i++ {
				all[i].Run.Variant = "features efficientnet-lite0"
			}
			table := of(append(c.beside, all...), "")[0]
			table.Advise(c.known)
			text := textOf(t, table)
			if !strings.Contains(text, c.want) || !strings.HasPrefix(table.Next, c.next) || c.next == "" && table.Next != "" {
				t.Errorf("want %q and %q in\n%s", c.want, c.next, text)
			}
			if table.Verdict != plain.Verdict || table.More != plain.More || len(table.Lines) != 3 ||
				*table.Lines[1].Against.Holm != *plain.Lines[1].Against.Holm {
				t.Errorf("%q and %q became %q and %q", plain.Verdict, plain.More, table.Verdict, table.More)
			}
			for _, c := range rows.Columns(append(c.beside, all...)) {
				if c.Entry("emgd").Rank == 0 || len(c.Entries) != 3 {
					t.Errorf("%d entries, rank %g", len(c.Entries), c.Entry("emgd").Rank)
				}
			}
			if _, err := json.Marshal(table); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSameFeatures: the features that all methods had stand in the head of the table, once.
func TestSameFeatures(t *testing.T) {
	all := runs(9)
	for _, r := range all {
		r.Method += " features efficientnet-lite0"
	}
	text := textOf(t, of(all, "")[0])
	if strings.Count(text, "features") != 1 || !strings.Contains(text, "9 situations, features efficientnet-lite0\n") ||
		!strings.Contains(text, "emgd is better than avggrad (by") {
		t.Error(text)
	}
	all[0].Method = "mgda"
	if text := textOf(t, of(all, "")[0]); !strings.Contains(text, "\nemgd features efficientnet-lite0 ") {
		t.Error(text)
	}
}

// TestOneMethod: one method is compared with nothing but what stands beside it, and what stands
// alone is a method itself.
func TestOneMethod(t *testing.T) {
	var one []*rows.Row
	for _, r := range runs(2) {
		if r.Method == "er" {
			one = append(one, r)
		}
	}
	one = append(one, besides("avggrad", "joint beside", 0, 9))
	c := rows.Columns(one)[0]
	got := versus.Alone(c)
	if got == nil || !strings.HasPrefix(got.Next, "Next: a method or a memory") || got.Verdict != "" {
		t.Errorf("%+v", got)
	}
	if got := rows.Columns(one[len(one)-1:])[0]; len(got.Entries) != 1 || len(got.Beside) != 0 {
		t.Errorf("alone: %d entries and %d beside", len(got.Entries), len(got.Beside))
	}
	if got := versus.Alone(rows.Columns(runs(2))[0]); got != nil {
		t.Errorf("three methods: %+v", got)
	}
}

// TestBytes: sizes are means over the runs that say so.
func TestBytes(t *testing.T) {
	all := runs(9)
	for _, r := range all {
		if r.Method == "er" && r.Seed == 1 {
			r.Run.Measured.StoredBytes, r.Run.Measured.StatisticsBytes = 1_000_000, 3_000_000
		}
	}
	text := textOf(t, of(all, "")[0])
	if !strings.Contains(text, "1.0 MB   3.0 MB\n") || !strings.Contains(text, "–        –\n") {
		t.Error(text)
	}
}
