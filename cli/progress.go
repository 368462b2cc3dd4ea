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
	work   []float64      // of each run, in epochs
	made   map[int]*stint // the runs that this process has begun
	total  float64        // the work of the runs that were not finished before,
	before int            // and how many were
	done   int            // how many runs are finished
	began  time.Time      // when the first run began
	now    func() time.Time
}

// stint is what this process does of a run. Until the first step it reads data and compiles, which
// says nothing about the time of a step.
type stint struct {
	begun, stepped, ended time.Time // zero as long as it has not
	from, share           float64   // the share of the run that was done at the first step, and is now
}

func newPace(configs []experiment.Checked) *pace {
	p := &pace{made: map[int]*stint{}, now: time.Now}
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
	now := p.now()
	if p.began.IsZero() {
		p.began = now
	}
	p.made[i] = &stint{begun: now}
}

func (p *pace) reach(i int, share float64) {
	if p == nil {
		return
	}
	s := p.made[i]
	if s.stepped.IsZero() {
		s.stepped, s.from = p.now(), share
	}
	s.share = share
}

func (p *pace) end(i int) {
	p.done++
	if s := p.made[i]; s != nil {
		s.share, s.ended = 1, p.now()
	} else {
		p.total -= p.work[i]
		p.before++
	}
}

// left estimates the time that is left, from the time that an epoch has taken so far, and that runs
// after the first have taken before their first step: the first also prepares what all need. known
// is false before a hundredth of a run is done.
func (p *pace) left() (left time.Duration, known bool) {
	now := p.now()
	var worked, done, stepping, preparing, all, prepared float64 // epochs, then seconds of runs, then runs
	for i, s := range p.made {
		end := now
		if !s.ended.IsZero() {
			end = s.ended
		}
		all, done = all+end.Sub(s.begun).Seconds(), done+s.share*p.work[i]
		if s.stepped.IsZero() {
			continue
		}
		worked, stepping = worked+(s.share-s.from)*p.work[i], stepping+end.Sub(s.stepped).Seconds()
		if s.begun != p.began {
			preparing, prepared = preparing+s.stepped.Sub(s.begun).Seconds(), prepared+1
		}
	}
	if worked < 0.01*slices.Min(p.work) {
		return 0, false
	}
	rest := stepping / worked * (p.total - done)
	if prepared > 0 {
		rest += preparing / prepared * float64(len(p.work)-len(p.made)-p.before)
	}
	sideBySide := all / now.Sub(p.began).Seconds()
	return time.Duration(rest / sideBySide * float64(time.Second)), true
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
