package cli

import (
	"fmt"
	"time"

	"github.com/parallelcl/parallelcl/internal/terminal"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// follow shows which runs are made, and how far each is unless several are made side by side. The
// run's name is printed on a line of its own. end removes what shows the latest progress.
func follow(rc *runContext, s *experiment.Schedule, label func(int, experiment.Config) string) (end func()) {
	line := terminal.NewLine(nil)
	s.OnBegin = func(i int, config experiment.Config) {
		line.Close()
		line = terminal.NewLine(rc.progress())
		rc.note("%s", label(i, config))
	}
	if s.Jobs < 2 {
		s.OnProgress = func(_ int, p experiment.Progress) {
			line.Show("  step %d of %d, %s", p.Step, p.Steps, figures(p))
		}
	}
	return func() { line.Close() }
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
