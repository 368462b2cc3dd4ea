package report_test

import (
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TestRemarks shows on the page what is wrong with a run, and all that it was made with.
func TestRemarks(t *testing.T) {
	runs := sampleRuns()
	if page := runsPage(t, runsFolder(t, runs)); strings.Contains(page, "Note on") || strings.Contains(page, "diverged") {
		t.Error("the page has remarks on good runs")
	}
	at := 3
	runs[0].DivergedAt, runs[0].Skipped = &at, 51
	runs[1].Skipped, runs[1].Rejected = 1, 2
	m := &runs[2].Measured
	other := results.Maker{Backend: "xla-cuda", Device: "GPU", GoVersion: "go1.27"}
	m.Parts = []results.Part{{Maker: other}, {From: 40, Maker: m.Maker}}
	page := runsPage(t, runsFolder(t, runs))
	for _, want := range []string{
		"1 diverged</span>", "from step 3 of", "51 rows left out in all", "1 row left out", "2 steps made no update",
		"from step 0 on with xla-cuda", "then from step 40 on with xla-cpu",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
