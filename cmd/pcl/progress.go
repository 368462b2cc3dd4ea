package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/parallelcl/parallelcl/internal/terminal"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// progress shows where a run stands: a bar on a terminal, else a line every few seconds. What the
// run is stands on a line of its own above either, so that the bar fits a narrow terminal.
type progress struct {
	out      io.Writer
	terminal bool
	bar      *progressbar.ProgressBar // from the first step on
	last     time.Time
}

// lineEvery is how often a run that is not watched on a terminal says where it stands.
const lineEvery = 5 * time.Second

func newProgress(rc *runContext, label string) *progress {
	if rc.quiet {
		return &progress{out: io.Discard}
	}
	fmt.Fprintln(rc.stderr, label)
	return &progress{out: rc.stderr, terminal: terminal.Is(rc.stderr), last: time.Now()}
}

// show is a [experiment.RunOptions].Progress.
func (p *progress) show(s experiment.Progress) {
	if p.terminal {
		p.draw(s)
		return
	}
	if now := time.Now(); now.Sub(p.last) >= lineEvery {
		p.last = now
		fmt.Fprintf(p.out, "  step %d of %d, %s\n", s.Step, s.Steps, figures(s))
	}
}

func (p *progress) draw(s experiment.Progress) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(s.Steps, progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetWidth(20), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
	}
	p.bar.Describe(figures(s))
	p.bar.Set(s.Step)
}

func figures(s experiment.Progress) string {
	text := fmt.Sprintf("K=%d, loss %.3f", s.K, s.Loss)
	if s.K == 0 {
		text = "K=0" // no loss, because of what was skipped, or because the method sits the step out
	}
	if s.Skipped > 0 { // what is worth more than the speed, where there is room for one of them
		text += fmt.Sprintf(", skipped %d", s.Skipped)
	} else if s.PerSecond > 0 {
		text += fmt.Sprintf(", %.0f steps/s", s.PerSecond)
	}
	if s.PerSecond > 0 { // known from the second step on
		text += fmt.Sprintf(", ETA %s", s.ETA.Round(time.Second))
	}
	return text
}

// close wipes the bar away.
func (p *progress) close() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
