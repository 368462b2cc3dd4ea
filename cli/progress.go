package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/parallelcl/parallelcl/internal/terminal"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// progress shows how far a run has come: a bar on a terminal, otherwise a line every few seconds. The run's name is
// printed on a line of its own above it, so that the bar fits a narrow terminal.
type progress struct {
	out      io.Writer
	terminal bool
	bar      *progressbar.ProgressBar // nil before the first step
	last     time.Time
}

// lineEvery is the time between two lines of progress if the output is not a terminal.
const lineEvery = 5 * time.Second

// follow shows which runs are made, and how far each is unless several are made side by side. end removes the latest bar.
func follow(rc *runContext, w *experiment.Where, label func(int, experiment.Config) string) (end func()) {
	bar := new(progress)
	w.Begin = func(i int, config experiment.Config) {
		bar.close()
		bar = newProgress(rc, label(i, config))
	}
	if w.Jobs < 2 {
		w.Progress = func(_ int, p experiment.Progress) { bar.show(p) }
	}
	return func() { bar.close() }
}

func newProgress(rc *runContext, label string) *progress {
	if rc.quiet {
		return &progress{out: io.Discard}
	}
	fmt.Fprintln(rc.stderr, label)
	return &progress{out: rc.stderr, terminal: terminal.Is(rc.stderr), last: time.Now()}
}

// show prints the progress of a run. It is what [experiment.RunOptions].Progress calls.
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
		text = "K=0" // there is no loss: all rows were left out, or the method skips the step
	}
	if s.Skipped > 0 { // there is room for only one of the two, and this one is more important
		text += fmt.Sprintf(", skipped %d", s.Skipped)
	} else if s.PerSecond > 0 {
		text += fmt.Sprintf(", %.0f steps/s", s.PerSecond)
	}
	if s.PerSecond > 0 { // known from the second step on
		text += fmt.Sprintf(", ETA %s", s.ETA.Round(time.Second))
	}
	return text
}

// close removes the bar from the terminal.
func (p *progress) close() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
