package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz/report"
)

// runsFolder saves runs as pcl run does.
func runsFolder(t *testing.T, runs []*results.Run) string {
	t.Helper()
	dir := t.TempDir()
	for i, r := range runs {
		agree(r)
		if !r.ByHand() {
			r.ID = results.IDOf(r.Config)
		}
		must.Do(t, r.Save(filepath.Join(dir, fmt.Sprintf("%02d-%s", i, r.ID), "result.json")))
	}
	return dir
}

// agree makes an invented run consistent: its last evaluation and its means get the values that
// follow from the accuracies of its tasks.
func agree(r *results.Run) {
	last, mean := &r.Curve[len(r.Curve)-1], 0.0
	for k := range r.Tasks {
		t := &r.Tasks[k]
		if t.End == last.Step {
			t.AccEnd = t.AccFinal
		}
		last.Acc[k] = &t.AccFinal
		mean += 100 * t.AccEnd / float64(len(r.Tasks))
	}
	last.Mean, r.AFirst, r.F = r.A/100, mean, r.A-mean
}

// sampleRuns are of five methods with three seeds; for each a configuration as pcl run has it.
func sampleRuns() []*results.Run {
	runs := invented.Runs(3)
	for seed := range uint64(3) {
		runs = append(runs, invented.Run("emgd-gs", "EMGD (GS)", 1234+seed))
	}
	for _, r := range runs {
		configure(r, 5)
	}
	return runs
}

func configure(r *results.Run, budget int) {
	r.ID = fmt.Sprintf("%s-%d-%d-%s", r.ID, r.Seed, budget, r.Increment)
	params := ""
	if r.Params != nil {
		text, _ := json.Marshal(r.Params) // of numbers
		params = fmt.Sprintf(`"params":%s,`, text)
	}
	r.Config = json.RawMessage(fmt.Sprintf(
		`{"method":%q,%s"increment":%q,"seed":%d,"memory":{"policy":"per_class","budget":%d},"optimizer":{"lr":0.003}}`,
		r.Method, params, r.Increment, r.Seed, budget))
}

func runsPage(t *testing.T, paths ...string) string {
	t.Helper()
	files := must.Get(results.Find(paths...))(t)
	var buf bytes.Buffer
	must.Do(t, report.Runs(t.Context(), &buf, report.RunsInput{Files: files, Origin: origin}))
	return buf.String()
}

func TestRuns(t *testing.T) {
	runs := sampleRuns()
	dir := runsFolder(t, runs)
	page := runsPage(t, dir)
	lacks(t, page, "15 runs of 5 methods in 1 situation with 3 seeds.",
		`<th aria-sort="none"><button type="button">A, %</button></th>`, `<td>EMGD (GS)`, " ± ", "leads with",
		"Whether that holds in general, 1 situation cannot show", "− EMGD (GMC)",
		"<dt>memory.budget</dt><dd>5</dd>", "<dt>optimizer.lr</dt><dd>0.003</dd>", "Accuracy over time",
		"<dt>hardware</dt><dd>xla-cpu", "@article",
		// The invented runs have no evaluations at task ends: the page says which figures cannot be
		// drawn.
		"was not evaluated at task ends.")
	data, err := os.ReadFile(filepath.Join(dir, "09-"+runs[9].ID, "result.json"))
	if sum := fmt.Sprintf("%x", sha256.Sum256(data)); err != nil || !strings.Contains(page, sum) {
		t.Errorf("the page lacks a file's checksum (%v)", expect.Text(err))
	}
	switch {
	case strings.Contains(page, "Note on"):
		t.Errorf("page is %q; want no %q in it", page, "Note on")
	case strings.Contains(page, "diverged"):
		t.Errorf("page is %q; want no %q in it", page, "diverged")
	case strings.Contains(page, "ZgotmplZ"):
		t.Errorf("page is %q; want no %q in it", page, "ZgotmplZ")
	case strings.Contains(page, "memory’s size"):
		t.Errorf("page is %q; want no %q in it", page, "memory’s size")
	case strings.Contains(page, "the configurations differ"):
		t.Errorf("page is %q; want no %q in it", page, "the configurations differ")
	}
}

// TestTablesHaveEachMetric: the table of methods has a column for a further metric.
func TestTablesHaveEachMetric(t *testing.T) {
	metrics := results.Metrics
	defer func() { results.Metrics = metrics }()
	twice := &results.Metric{Name: "Twice_A", Of: func(r *results.Run) float64 { return 2 * r.A }}
	results.Metrics = append(metrics[:3:3], twice)
	lacks(t, runsPage(t, runsFolder(t, sampleRuns())), ">A_first, %</button>", ">Twice_A, %</button>")
}

// TestRemarks shows on the page what is wrong with a run, and all that it was made with.
func TestRemarks(t *testing.T) {
	runs, at := sampleRuns(), 3
	runs[0].DivergedAt, runs[0].Skipped, runs[1].Rejected = &at, 51, 2
	m := &runs[2].Measured
	m.Parts = []results.Part{{Maker: results.Maker{Backend: "xla-cuda", Device: "GPU", GoVersion: "go1.27"}},
		{From: 40, Maker: m.Maker}}
	lacks(t, runsPage(t, runsFolder(t, runs)), "1 diverged</span>", "from step 3 of", "51 rows left out",
		"2 steps made no update", "from step 0 on with xla-cuda")
}

func TestRunsOfSeveralSettings(t *testing.T) {
	var runs []*results.Run
	for _, budget := range []int{5, 20} {
		for _, increment := range []string{"task", "class"} {
			for _, tau := range []float64{1, 5} {
				r := invented.Run("emgd-gmc", "EMGD (GMC)", 1234)
				r.Increment, r.Params = increment, map[string]any{"tau": tau}
				configure(r, budget)
				r.ID += fmt.Sprint(tau)
				runs = append(runs, r)
			}
		}
	}
	page := runsPage(t, runsFolder(t, runs))
	lacks(t, page, "4 methods", "<dt>memory.budget</dt><dd>20 (4), 5 (4)</dd>", "Accuracy and the memory’s size",
		"Accuracy and the temperature", "EMGD (GMC) tau=5 memory.budget=20",
		"One increment against the other")
}

// Label sets and timelines of their own: averaged, but not over steps.
func TestRunsOfSeveralTimelines(t *testing.T) {
	runs := sampleRuns()
	for _, r := range runs {
		r.Timeline = r.Seed
		for i := range r.Tasks {
			r.Tasks[i].End -= int(r.Seed - 1234)
		}
	}
	page := runsPage(t, runsFolder(t, runs))
	if !strings.Contains(page, "Accuracy as tasks end") || strings.Contains(page, "Accuracy over time") {
		t.Error("runs of several timelines are not averaged over task ends")
	}
	// A situation has a seed of its own, and the methods have one temperature at most.
	if !strings.Contains(page, "Means over 3 situations (label sets with timelines), with 3 seeds.") ||
		strings.Contains(page, "Accuracy and the temperature") {
		t.Error("the page does not say what it averages, or has a figure of one temperature")
	}
}

// TestNoRuns: there is no page about nothing.
func TestNoRuns(t *testing.T) {
	var buf bytes.Buffer
	if err := report.Runs(t.Context(), &buf, report.RunsInput{}); err == nil || buf.Len() > 0 {
		t.Errorf("%d bytes, %v", buf.Len(), expect.Text(err))
	}
}

func TestFindRuns(t *testing.T) {
	runs := sampleRuns()[:2]
	dir := runsFolder(t, runs)
	one := filepath.Join(dir, "00-"+runs[0].ID, "result.json")
	switch files, err := results.Find(one, dir, filepath.Dir(one)); {
	case err != nil:
		t.Error(err)
	case len(files) != 2:
		t.Errorf("len(files) is %d; want 2", len(files))
	case files[0].Path != one:
		t.Errorf("files[0].Path is %q; want %q", files[0].Path, one)
	case files[0].Run.A != runs[0].A:
		t.Errorf("files[0].Run.A is %g; want %g", files[0].Run.A, runs[0].A)
	}
	bad := filepath.Join(t.TempDir(), "result.json")
	must.Do(t, os.WriteFile(bad, []byte(`{"schema":2,"tasks":[{"id":1}]}`), 0o644))
	empty := t.TempDir()
	for want, paths := range map[string][]string{
		"no results in " + empty:           {dir, empty},
		"has schema 2; this program reads": {dir, filepath.Dir(bad)},
		"no such file":                     {"nowhere"},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := results.Find(paths...)
			expect.Refusal(t, fmt.Sprintf("%v", paths), err, want)
		})
	}
}

// TestFindRunsBehindLinks: folders of runs may be links, also to a folder above them, and links to
// nothing are passed over.
func TestFindRunsBehindLinks(t *testing.T) {
	runs := sampleRuns()[:2]
	there, here := runsFolder(t, runs[:1]), runsFolder(t, runs[1:])
	for name, to := range map[string]string{"elsewhere": there, "circle": here, "nothing": filepath.Join(here, "gone"),
		"itself": filepath.Join(here, "itself")} {
		if err := os.Symlink(to, filepath.Join(here, name)); err != nil {
			t.Skip(err)
		}
	}
	link := filepath.Join(t.TempDir(), "runs")
	must.Do(t, os.Symlink(here, link))
	if files, err := results.Find(link); err != nil || len(files) != 2 {
		t.Errorf("%d runs (%v), want two", len(files), expect.Text(err))
	}
}

// TestUnreadableRecords: records that are there and cannot be read are not taken for a run without
// records.
func TestUnreadableRecords(t *testing.T) {
	dir := runsFolder(t, sampleRuns()[:1])
	found := must.Get(results.Find(dir))(t)
	// which root cannot read either
	if err := os.Mkdir(filepath.Join(filepath.Dir(found[0].Path), "records.jsonl"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := report.Runs(t.Context(), new(bytes.Buffer), report.RunsInput{Files: found}); err == nil {
		t.Error("no error")
	}
}

// TestParametersOfVariants: the page tells the parameters of runs whose label has a variant
// instead.
func TestParametersOfVariants(t *testing.T) {
	r := invented.Run("emgd-gmc", "EMGD (GMC)", 1234)
	r.Params, r.Variant = map[string]any{"tau": 20.0}, "edit 0.003"
	configure(r, 5)
	if page := runsPage(t, runsFolder(t, []*results.Run{r})); !strings.Contains(page, "tau=20") {
		t.Error("the page lacks the parameter")
	}
}

// TestPageNamesNoFolders: a page can be shared; where its maker keeps data and results is not on
// it.
func TestPageNamesNoFolders(t *testing.T) {
	r := invented.Run("er", "ER", 1234)
	r.Dataset = "folder:/home/me/photos?size=8x8"
	r.Config = json.RawMessage(`{"method":"er","seed":1234,"dataset":"folder:/home/me/photos?size=8x8"}`)
	dir := runsFolder(t, []*results.Run{r})
	page := runsPage(t, dir)
	switch {
	case strings.Contains(page, "/home/me"):
		t.Errorf("page is %q; want no %q in it", page, "/home/me")
	case strings.Contains(page, filepath.ToSlash(dir)):
		t.Errorf("page is %q; want no %q in it", page, filepath.ToSlash(dir))
	case !strings.Contains(page, "folder:photos?size=8x8"):
		t.Errorf("page is %q; want %q in it", page, "folder:photos?size=8x8")
	}
}
