package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz/report"
)

// brief is a run of some tasks, one after the other.
func brief(method, title string, tasks int, seed uint64) results.File {
	r := &results.Run{ID: title + string(rune('a'+seed)), Method: method, MethodTitle: title, Dataset: "d",
		Increment: "task", Seed: seed, A: 50, Config: []byte(`{}`)}
	for i := range tasks {
		r.Tasks = append(r.Tasks, results.Task{ID: i + 1, Start: 10 * i, End: 10*i + 9, AccEnd: .5, AccFinal: .5})
	}
	return results.File{Run: r}
}

func pageOf(t *testing.T, files ...results.File) string {
	t.Helper()
	var page bytes.Buffer
	must.Do(t, report.Runs(t.Context(), &page, report.RunsInput{Files: files}))
	return page.String()
}

// lacks reports what a page has not.
func lacks(t *testing.T, page string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestRunsThatAreThereTwice: a run with the settings, seed and network of another counts once, one
// with another network is an error, and a scenario that was written by hand is a situation of its
// own.
func TestRunsThatAreThereTwice(t *testing.T) {
	run := func(seed uint64, network, config string) results.File {
		f := brief("er", "ER", 2, seed)
		f.Run.ID, f.Run.ModelSHA256, f.Run.Config = network+config, network, []byte(config)
		return f
	}
	files := []results.File{run(1, "a", `{"eval_every":0}`), run(2, "b", `{"eval_every":0}`),
		run(1, "a", `{"eval_every":3}`)}
	lacks(t, pageOf(t, files...), "2 runs of 1 method in 1 situation with 2 seeds.")
	lacks(t, pageOf(t, append(files, run(1, "d", `{"scenario":{"tasks":[{"start":3}]}}`))...),
		"3 runs of 1 method in 2 situations")
	if err := report.Runs(t.Context(), new(bytes.Buffer),
		report.RunsInput{Files: append(files, run(2, "c", `{"eval_every":0}`))}); err == nil {
		t.Error("one experiment with two networks is no error")
	}
}

// withRecords saves a run with records of its steps, and returns its folder.
func withRecords(t *testing.T, r *results.Run, records []results.Record) string {
	t.Helper()
	dir := runsFolder(t, []*results.Run{r})
	var lines bytes.Buffer
	for _, step := range records {
		must.Do(t, json.NewEncoder(&lines).Encode(step))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "00-"+r.ID, "records.jsonl"), lines.Bytes(), 0o644))
	return dir
}

// TestStepsOfAllKinds: steps before a run diverged are drawn, and a broken proof shows, also one
// that no gradient could have.
func TestStepsOfAllKinds(t *testing.T) {
	diverged := invented.Records()
	last := &diverged[len(diverged)-1]
	last.Weights, last.Gram = nil, nil
	broken := invented.Records()
	broken[200].Slacks[0] = -0.5
	tiny := results.Record{
		IDs: []int{1, 2}, Gram: []float64{1e-320, 0, 0, 1e-320}, Weights: []float64{.5, .5}, Lambda: []float64{.5, .5},
		Sigma: []float64{.5, .5}, Slacks: []float64{-1e300, 0},
	}
	for name, c := range map[string]struct {
		records []results.Record
		want    []string
	}{
		"good":     {invented.Records(), []string{`<td class="good">410 of 410</td>`, "What each stream gains"}},
		"diverged": {diverged, []string{"What each stream weighs", "Which streams conflict"}},
		"broken":   {broken, []string{`<td class="bad">409 of 410</td>`}},
		"tiny":     {[]results.Record{tiny}, []string{`<td class="bad">0 of 1</td>`, "-Inf", "Left out"}},
	} {
		t.Run(name, func(t *testing.T) { lacks(t, runsPage(t, withRecords(t, sampleRuns()[9], c.records)), c.want...) })
	}
}

// TestRunsWithToy: the demonstration's page ends with the descents. Text that comes from elsewhere
// is no markup.
func TestRunsWithToy(t *testing.T) {
	files := must.Get(results.Find(runsFolder(t, sampleRuns())))(t)
	files[0].Run.MethodTitle = `"><b>x`
	in := report.RunsInput{Title: "<script>alert(1)</script>", Files: files, Toy: invented.Descents(),
		Origin: report.Origin{Command: "pcl run > a && b"}}
	var page bytes.Buffer
	must.Do(t, report.Runs(t.Context(), &page, in))
	lacks(t, page.String(), "two functions of two variables", "pcl run &gt; a &amp;&amp; b")
	if strings.Contains(page.String(), in.Title) || strings.Contains(page.String(), files[0].Run.MethodTitle) {
		t.Error("text reached the page as markup")
	}
}
