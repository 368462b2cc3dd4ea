package cli

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// TestFigures: what is said of a run's progress fits a narrow terminal.
func TestFigures(t *testing.T) {
	halfway := experiment.Progress{Step: 50, Steps: 100, K: 12, Loss: 12.3456, PerSecond: 12345.6, ETA: 99*time.Hour + 59*time.Minute + 59*time.Second}
	if got, want := figures(halfway), "K=12, loss 12.346, 12346 steps/s, ETA 99h59m59s"; got != want || utf8.RuneCountInString(got) > 55 {
		t.Errorf("%q, want %q", got, want)
	}
	halfway.K, halfway.Skipped, halfway.PerSecond = 0, 51, 0
	if got, want := figures(halfway), "K=0, skipped 51"; got != want {
		t.Errorf("where no row takes part: %q, want %q", got, want)
	}
}
