package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/parallelcl/parallelcl/internal/terminal"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// follow shows the progress of a schedule. Each run's name is printed on a line of its own. Below
// it a line is kept up to date: with one job it shows the step of the run, with several jobs how
// many runs are done, and with a pace the time that is left. end removes that line.
func follow(
	rc *runContext, s *experiment.Schedule, all *pace, label func(int, experiment.Config) string,
) (end func()) {
	line := terminal.NewLine(nil)
	s.OnBegin = func(i int, config experiment.Config) {
		all.begin(i)
		line.Close()
		line = terminal.NewLine(rc.progress())
		rc.note("%s%s", label(i, config), all.text(", "))
	}
	s.OnProgress = func(i int, at experiment.Progress) {
		all.reach(i, float64(at.Step)/float64(max(1, at.Steps)))
		switch {
		case s.Jobs < 2:
			line.Show("  step %d of %d, %s%s", at.Step, at.Steps, figures(at), all.text("; all runs: "))
		case all != nil:
			line.Show("  %d of %d runs are done%s", all.done, len(all.work), all.text(", "))
		}
	}
	var begun time.Time // the evaluation
	s.OnPrepare = func(_, done, total int) {
		if done == 0 {
			begun = time.Now()
		}
		if took := time.Since(begun); s.Jobs < 2 {
			line.Show("  evaluation: step %d of %d of a network of its own, %.0f steps/s%s", done, total,
				float64(done)/took.Seconds(), terminal.Left(took, float64(done), float64(total-done)))
		}
	}
	return func() { line.Close() }
}

// pace estimates when all runs of a schedule will be done. Runs that were finished before take no
// time. A nil pace estimates nothing.
type pace struct {
	work  []float64       // of each run, in epochs
	made  map[int]float64 // the share that is done of each run that this process has begun
	total float64         // the work of the runs that were not finished before
	done  int             // how many runs are finished
	began time.Time       // when the first run began
	now   func() time.Time
}

func newPace(configs []experiment.Checked) *pace {
	p := &pace{made: map[int]float64{}, now: time.Now}
	for _, c := range configs {
		work := float64(c.Config().Epochs)
		p.work, p.total = append(p.work, work), p.total+work
	}
	return p
}

func (p *pace) begin(i int) {
	if p == nil {
		return
	}
	if p.began.IsZero() {
		p.began = p.now()
	}
	p.made[i] = 0
}

func (p *pace) reach(i int, share float64) {
	if p != nil {
		p.made[i] = share
	}
}

func (p *pace) end(i int) {
	p.done++
	if _, own := p.made[i]; own {
		p.made[i] = 1
	} else {
		p.total -= p.work[i]
	}
}

// left estimates the time that is left, from the time that an epoch has taken so far. known is
// false before a hundredth of a run is done.
func (p *pace) left() (left time.Duration, known bool) {
	done, least := 0.0, 0.01*slices.Min(p.work)
	for i, share := range p.made {
		done += share * p.work[i]
	}
	if done < least {
		return 0, false
	}
	return time.Duration(float64(p.now().Sub(p.began)) * (p.total - done) / done), true
}

// text says how much time is left, with joint in front of it. It is empty for a single run, and
// while the time is not known or below a second.
func (p *pace) text(joint string) string {
	if p == nil || len(p.work) < 2 {
		return ""
	}
	left, known := p.left()
	if !known || left < time.Second {
		return ""
	}
	return fmt.Sprintf("%s%s left", joint, roughly(left))
}

// roughly writes a duration as exactly as an estimate is.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
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
