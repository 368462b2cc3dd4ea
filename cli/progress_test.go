package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

var halfway = experiment.Progress{Step: 50, Steps: 100, K: 12, Loss: 12.3456, PerSecond: 12345.6, ETA: 99*time.Hour + 59*time.Minute + 59*time.Second}

func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&runContext{stderr: &out}, "label")
	p.show(halfway) // too early for a line
	p.last = p.last.Add(-lineEvery)
	p.show(halfway)
	p.show(halfway)
	p.close()
	if want := "label\n  step 50 of 100, K=12, loss 12.346, 12346 steps/s, ETA 99h59m59s\n"; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
	ill := halfway
	ill.K, ill.Skipped, ill.PerSecond = 0, 51, 0
	if got, want := figures(ill), "K=0, skipped 51"; got != want {
		t.Errorf("where no row takes part: %q, want %q", got, want)
	}
	quiet := newProgress(&runContext{stderr: &out, quiet: true}, "label")
	out.Reset()
	quiet.last = time.Time{}
	quiet.show(halfway)
	quiet.close()
	if out.Len() != 0 {
		t.Errorf("--quiet wrote %q", out.String())
	}
}

// TestProgressBar draws one line that fits a terminal, and wipes it away, also after a run that
// stops halfway or before its first step.
func TestProgressBar(t *testing.T) {
	const wipe = "\033[2K\r"
	var out bytes.Buffer
	p := &progress{out: &out, terminal: true}
	p.close()
	if out.Len() != 0 {
		t.Errorf("a bar without a step: %q", out.String())
	}
	p.show(experiment.Progress{Step: 1, Steps: 100, K: 1, Loss: 3})
	p.show(halfway)
	ill := halfway
	ill.Skipped = 12345
	(&progress{out: &out, terminal: true}).show(ill)
	drawn := out.String()
	if !strings.Contains(drawn, "K=1, loss 3.000 ") || !strings.Contains(drawn, ", skipped 12345, ") || strings.Contains(drawn, "\n") {
		t.Errorf("drew %q", drawn)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(drawn, "\033[0K", ""), "\r") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	p.close()
	if !strings.HasSuffix(out.String(), wipe) {
		t.Errorf("the bar stays: %q", out.String())
	}
}
