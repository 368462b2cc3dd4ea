package nb

import (
	"slices"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// history is what has happened in a training, in the form that figures read. A reader's copy of its
// lists stays as it is. It forgets details of what was long ago, so that a training may go on for
// days.
type history struct {
	run     results.Run
	records []results.Record // of the last steps
	ended   []int            // by the last one

	since time.Time // when the rate was measured last,
	steps int       // how many steps had been made then,
	speed float64   // and what it was
}

// From twice as many on, old steps, and every second evaluation, are forgotten.
const (
	keptRecords = 10_000
	keptPoints  = 2_000
)

func newHistory(l *pcl.Learner) history {
	o := l.Options()
	info := l.MethodInfo()
	return history{steps: l.Steps(), since: time.Now(), run: results.Run{
		ID: "live", Method: info.Name, MethodTitle: info.Title,
		Increment: o.Increment, Config: []byte("{}"), Steps: l.Steps(),
	}}
}

// step notes a step. A task is known from the first step that it takes part in.
func (d *history) step(l *pcl.Learner, r *pcl.StepReport) {
	if d.records = append(d.records, experiment.Record(r)); len(d.records) >= 2*keptRecords {
		d.records = slices.Clone(d.records[keptRecords:])
	}
	d.run.Steps, d.ended = r.Step+1, slices.Clone(r.Ended)
	for _, id := range r.IDs {
		i := slices.IndexFunc(d.run.Tasks, func(t results.Task) bool { return t.ID == id })
		if i >= 0 {
			d.run.Tasks[i].End = r.Step
			continue
		}
		for _, t := range l.Tasks() {
			if t.ID == id {
				d.run.Tasks = append(d.run.Tasks, results.Task{ID: id, Name: t.Name, Classes: t.Classes, Names: t.ClassNames,
					Start: r.Step, End: r.Step})
			}
		}
	}
}

// evaluated notes accuracies by the ids of the tasks; a task without test samples has none.
func (d *history) evaluated(step int, score map[int]float64) {
	p := results.Point{Step: step, Ended: d.ended, Acc: make([]*float64, len(d.run.Tasks))}
	for i, t := range d.run.Tasks {
		if a, ok := score[t.ID]; ok {
			p.Acc[i] = &a
			p.Mean += a / float64(len(score))
		}
	}
	if d.run.Curve = append(d.run.Curve, p); len(d.run.Curve) >= 2*keptPoints {
		n := 0
		d.run.Curve = slices.DeleteFunc(slices.Clone(d.run.Curve), func(p results.Point) bool {
			n++
			return n%2 == 0 && len(p.Ended) == 0
		})
	}
}

// rate is how many steps are made in a second, measured over a second or more.
func (d *history) rate(now time.Time) float64 {
	if t := now.Sub(d.since).Seconds(); t >= 1 || d.speed == 0 && t > 0 {
		d.speed, d.since, d.steps = float64(d.run.Steps-d.steps)/t, now, d.run.Steps
	}
	return d.speed
}
