package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz/report"
)

// TestBrief: a brief page begins with a sentence, one picture and the command that would make it
// general. All else is folded, and no picture stands twice.
func TestBrief(t *testing.T) {
	files := must.Get(results.Find(runsFolder(t, sampleRuns())))(t)
	pages := map[bool]string{}
	for _, brief := range []bool{false, true} {
		var buf bytes.Buffer
		in := report.RunsInput{Files: files, Origin: origin, Brief: brief, Next: "pcl run --labelset 0,1"}
		must.Do(t, report.Runs(t.Context(), &buf, in))
		pages[brief] = buf.String()
	}
	open, _, _ := strings.Cut(pages[true], "<details")
	for text, n := range map[string]int{
		"forgets least": 1, "That is one situation": 1, `<figure class="pcl-figure"`: 1, "Figure 1</a>": 1,
		"<pre>pcl run --labelset 0,1</pre>": 1, "<table": 0,
	} {
		t.Run(text, func(t *testing.T) {
			if got := strings.Count(open, text); got != n {
				t.Errorf("before what is folded %q stands %d times, want %d", text, got, n)
			}
		})
	}
	const figure = `<figure class="pcl-figure"`
	if a, b := strings.Count(pages[false], figure), strings.Count(pages[true], figure); a != b {
		t.Errorf("the whole page has %d figures and the brief one %d", a, b)
	}
	for brief, page := range pages { // also where what shows the figure is folded
		for n := range strings.Count(page, figure) {
			if number := fmt.Sprintf(">Figure %d<", n+1); strings.Count(page, number) != 1 {
				t.Errorf("brief %t: %s stands %d times", brief, number, strings.Count(page, number))
			}
		}
	}
	if strings.Contains(pages[false], "pcl run --labelset 0,1<") {
		t.Error("a page that is not brief has the command")
	}
}

// TestLeader: the page always says who leads, by how much and where; with too few situations it
// says what would decide.
func TestLeader(t *testing.T) {
	for name, c := range map[string]struct {
		situations int
		want, not  string
	}{
		"one situation":   {1, "in one situation.", "it is ahead in"},
		"two situations":  {2, "it is ahead in 2 of 2 situations.", "At the 5 % level"},
		"nine situations": {9, "it is ahead in 9 of 9 situations.", "cannot show"},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []*results.Run
			for labelSet := range uint64(c.situations) {
				for _, r := range sampleRuns() {
					if r.Seed != 1234 || r.Method != "emgd-gs" && r.Method != "mgda" {
						continue
					}
					r.LabelSet, r.ID = labelSet, fmt.Sprint(r.ID, "-", labelSet)
					r.Config = []byte(fmt.Sprintf(`{"labelset":%d,`, labelSet) + string(r.Config)[1:])
					runs = append(runs, r)
				}
			}
			page := runsPage(t, runsFolder(t, runs))
			if !strings.Contains(page, " leads with ") || !strings.Contains(page, c.want) {
				t.Errorf("the page lacks %q", c.want)
			}
			if strings.Contains(page, c.not) {
				t.Errorf("the page has %q", c.not)
			}
		})
	}
}

// TestLeaderElsewhere: the lead is over the situations that both methods have, not over those that
// only one of them has.
func TestLeaderElsewhere(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, more float64 // A of emgd-gs where mgda has 50, and where mgda has no run
		want        string
	}{
		{"above", 60, 90, "leads with 75.0 %, 10.0 points above MGDA"},
		{"below", 45, 95, "leads with 70.0 %, 5.0 points below MGDA"},
		{"the same", 60, 60, "leads with 60.0 %, 10.0 points above MGDA"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var runs []*results.Run
			for labelSet, a := range []float64{c.first, c.more} {
				for _, r := range sampleRuns() {
					if r.Seed != 1234 || r.Method != "emgd-gs" && (r.Method != "mgda" || labelSet > 0) {
						continue
					}
					r.LabelSet, r.ID, r.A = uint64(labelSet), fmt.Sprint(r.ID, "-", labelSet), 50
					if r.Method == "emgd-gs" {
						r.A = a
					}
					r.F = r.A - r.AFirst
					for i := range r.Tasks {
						r.Tasks[i].AccFinal, r.Tasks[i].ByClass = r.A/100, nil
					}
					r.Config = []byte(fmt.Sprintf(`{"labelset":%d,`, labelSet) + string(r.Config)[1:])
					runs = append(runs, r)
				}
			}
			if page := runsPage(t, runsFolder(t, runs)); !strings.Contains(page, c.want) {
				t.Errorf("the page lacks %q", c.want)
			}
		})
	}
}

// TestVersionsThatNobodyKnows: a build that knows neither its version nor its commit says nothing
// of them.
func TestVersionsThatNobodyKnows(t *testing.T) {
	runs := sampleRuns()
	for _, r := range runs {
		r.Measured.Version, r.Measured.Commit = "(devel)", "unknown"
	}
	if page := runsPage(t, runsFolder(t, runs)); strings.Contains(page, "devel") ||
		strings.Contains(page, "<dt>program</dt>") {
		t.Error("the page names an unknown program")
	}
}

// TestNothingInCommon: methods of which no situation is in common, as while a grid is made, are not
// said to lead.
func TestNothingInCommon(t *testing.T) {
	var runs []*results.Run
	for labelSet, method := range []string{"emgd-gs", "mgda"} {
		for _, r := range sampleRuns() {
			if r.Seed == 1234 && r.Method == method {
				r.LabelSet, r.ID = uint64(labelSet), fmt.Sprint(r.ID, "-", labelSet)
				r.Config = []byte(fmt.Sprintf(`{"labelset":%d,`, labelSet) + string(r.Config)[1:])
				runs = append(runs, r)
			}
		}
	}
	page := runsPage(t, runsFolder(t, runs))
	lacks(t, page, "none is in common, so that nothing says which is better.")
	if strings.Contains(page, " leads with ") || strings.Contains(page, "over what they share") {
		t.Error("the page says that a method leads, or what is shared")
	}
}

// TestRanksOfSameModels: where two methods end with the same models in several timelines, no figure
// tells their ranks apart by a test of all situations.
func TestRanksOfSameModels(t *testing.T) {
	for name, same := range map[string]bool{"same models": true, "models of their own": false} {
		t.Run(name, func(t *testing.T) {
			var runs []*results.Run
			for i := range uint64(9) {
				for _, r := range sampleRuns() {
					if r.Seed != 1234 || r.Method != "emgd-gs" && r.Method != "mgda" {
						continue
					}
					r.LabelSet, r.Timeline, r.ID = i/3, i%3, fmt.Sprint(r.ID, "-", i)
					r.Config = []byte(fmt.Sprintf(`{"labelset":%d,"timeline":%d,`, i/3, i%3) + string(r.Config)[1:])
					if r.ModelSHA256 = fmt.Sprintf("%064x", i); same {
						r.ModelSHA256 = fmt.Sprintf("%064x", i/3)
					}
					runs = append(runs, r)
				}
			}
			page := runsPage(t, runsFolder(t, runs))
			if ranked := strings.Contains(page, "Average ranks by A"); ranked == same {
				t.Errorf("ranks are tested: %t", ranked)
			}
			if strings.Contains(page, "their 9 situations are 3") != same {
				t.Error("the page does not say how many situations count, or does so without need")
			}
		})
	}
}
