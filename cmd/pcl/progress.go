package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/parallelcl/parallelcl/pcl"
)

// progress shows where a run stands: a bar on a terminal, else a line every few seconds.
type progress struct {
	out   io.Writer
	label string
	bar   *progressbar.ProgressBar
	last  time.Time
}

// lineEvery is how often a run that is not watched on a terminal says where it stands.
const lineEvery = 5 * time.Second

func newProgress(rc *runContext, label string) *progress {
	p := &progress{out: rc.stderr, label: label, last: time.Now()}
	if rc.quiet {
		p.out = io.Discard
		return p
	}
	if f, ok := rc.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(rc.stderr),
			progressbar.OptionSetWidth(24), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
		return p
	}
	fmt.Fprintln(p.out, label)
	return p
}

// show is a [pcl.RunOptions].Progress.
func (p *progress) show(s pcl.Progress) {
	if p.bar != nil {
		p.bar.ChangeMax(s.Steps)
		p.bar.Describe(p.label + ": " + figures(s))
		p.bar.Set(s.Step)
		return
	}
	if now := time.Now(); now.Sub(p.last) >= lineEvery {
		p.last = now
		fmt.Fprintf(p.out, "  step %d of %d, %s\n", s.Step, s.Steps, figures(s))
	}
}

func figures(s pcl.Progress) string {
	return fmt.Sprintf("%.0f steps/s, K=%d, loss %.3f, ETA %s", s.PerSecond, s.K, s.Loss, s.ETA.Round(time.Second))
}

func (p *progress) close() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
