package results

import (
	"bytes"
	"strings"
	"testing"
)

// TestRemarks has nothing to say of a good run.
func TestRemarks(t *testing.T) {
	r := worked()
	if got := r.Remarks(); len(got) != 0 {
		t.Errorf("a good run: %q", got)
	}
	goCPU, xla := Maker{Backend: "go", Device: "CPU", Threads: 2}, Maker{Backend: "xla-cpu", Device: "CPU", Threads: 1}
	r.Measured.Maker = xla
	r.Measured.Parts = []Part{{Maker: goCPU}, {From: 3, Maker: goCPU}, {From: 5, Maker: xla}}
	got := strings.Join(r.Remarks(), "\n")
	switch {
	case !strings.Contains(got, "from step 0 on with go (CPU, 2 threads)"):
		t.Errorf("parts made with different backends: got is %q; want %q in it", got,
			"from step 0 on with go (CPU, 2 threads)")
	case !strings.Contains(got, ", then from step 5 on with xla-cpu (CPU, 1 thread)"):
		t.Errorf("parts made with different backends: got is %q; want %q in it", got,
			", then from step 5 on with xla-cpu (CPU, 1 thread)")
	case strings.Contains(got, "step 3"):
		t.Errorf("parts made with different backends: got is %q; want no %q in it", got, "step 3")
	}
	at := 4
	r.Skipped, r.DivergedAt = 1, &at
	if got := strings.Join(r.Remarks(), "\n"); !strings.Contains(got, "diverged: from step 4 of 9") ||
		!strings.Contains(got, "1 row left out") {
		t.Errorf("a run that diverged: %q", got)
	}
	r.SkippedSamples = 3
	if got := strings.Join(r.Remarks(), "\n"); !strings.Contains(got, "3 samples left out of its steps") {
		t.Errorf("samples that were left out: %q", got)
	}
	at, r.Tasks[1].Start, r.Tasks[1].End = 25, 20, 28 // no stream ran in between, and no step was made there
	if got := strings.Join(r.Remarks(), "\n"); !strings.Contains(got, "diverged: from step 25 of 29") {
		t.Errorf("a run whose timeline has a gap: %q", got)
	}
}

// TestRepeatedRunsCountOnce groups a run that is named three times with another seed's.
func TestRepeatedRunsCountOnce(t *testing.T) {
	other := worked()
	other.ID, other.Seed, other.A = "ba9876543210", 1235, 65
	other.Config = bytes.Replace(other.Config, []byte("1234"), []byte("1235"), 1)
	groups := Group([]*Run{worked(), worked(), other, worked()})
	switch {
	case len(groups) != 1:
		t.Fatalf("len(groups) is %d; want 1", len(groups))
	case len(groups[0].Runs) != 2:
		t.Fatalf("len(groups[0].Runs) is %d; want 2", len(groups[0].Runs))
	}
	if a := groups[0].Moment(func(r *Run) float64 { return r.A }); a.Mean != 70 || a.Std() != 5 {
		t.Errorf("A is %g ± %g, want 70 ± 5", a.Mean, a.Std())
	}
}
