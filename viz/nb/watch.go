package nb

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// Watch shows the test accuracy and the weight of each task, in figures that follow the training
// until it stops.
func (t *Training) Watch() error {
	live := NewLive()
	if err := showHTML("<div></div>", "", live.id); err != nil { // the figures' place, in this cell, before there are any
		return report(err)
	}
	t.mu.Lock()
	t.lives = append(t.lives, live)
	t.mu.Unlock()
	return t.draw(live)
}

// Run returns the training so far as an unfinished run, for figures such as [viz.TaskCurves].
func (t *Training) Run() *results.Run {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.history.run
	r.Tasks, r.Curve = slices.Clone(r.Tasks), slices.Clip(r.Curve)
	return &r
}

// Records returns the records of the last steps, at least 10,000 of them if so many were made, for
// figures such as [viz.StreamWeights].
func (t *Training) Records() []results.Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.history.records)
}

// show keeps what is seen of the training up to date until a call of Run has ended.
func (t *Training) show(over <-chan struct{}) {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	for ended := false; !ended; t.refresh() {
		select {
		case <-tick.C:
		case <-over:
			ended = true
		}
	}
}

func (t *Training) refresh() {
	t.mu.Lock()
	text, lives, done := t.text(time.Now()), t.lives, t.state == stopped
	changed := text != t.shown
	if t.shown = text; done {
		t.lives = nil
	}
	t.mu.Unlock()
	if changed {
		report(showHTML("<div>"+html.EscapeString(text)+"</div>", text, t.line))
	}
	for _, live := range lives {
		if changed {
			t.draw(live)
		}
		if done {
			live.Close()
		}
	}
}

// draw draws what there is to draw yet.
func (t *Training) draw(live *Live) error {
	run, records := t.Run(), t.Records()
	var figures []*viz.Figure
	add := func(f *viz.Figure, err error) {
		if report(err) == nil {
			figures = append(figures, f)
		}
	}
	if len(run.Curve) > 0 {
		add(viz.TaskCurves(run))
	}
	if len(records) > 1 {
		add(viz.StreamWeights(records, byID(run)...))
	}
	return live.put(figures...)
}

// String returns the line that shows the progress.
func (t *Training) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text(time.Now())
}

func (t *Training) text(now time.Time) string {
	s := fmt.Sprintf("%s: %s, step %d", t.history.run.MethodTitle, t.state, t.learner.Steps())
	switch {
	case t.state == failed:
		return s + ": " + t.err.Error()
	case t.state == trains && len(t.learner.Running()) == 0:
		return s + ", waits for a task"
	case t.state == trains:
		s += fmt.Sprintf(", %.3g/s", t.history.rate(now))
	}
	if n := len(t.history.records); n > 0 {
		s += t.history.weights(&t.history.records[n-1])
	}
	return s
}

// weights names the loss and the weight of each stream in a step.
func (d *history) weights(r *results.Record) string {
	symbol, weights := "λ", r.Lambda
	if weights == nil {
		symbol, weights = "w", r.Weights
	}
	loss, parts, names := 0.0, []string{}, byID(&d.run)
	for i, id := range r.IDs {
		name := "memory"
		if id > 0 && id <= len(names) {
			name = names[id-1]
		}
		loss += r.Losses[i] / float64(len(r.IDs))
		parts = append(parts, fmt.Sprintf("%s %.3g", name, weights[i]))
	}
	return fmt.Sprintf(", loss %.3g; %s: %s", loss, symbol, strings.Join(parts, ", "))
}

// byID returns the names of tasks by their numbers, from task 1 on; a task that has not begun has
// none.
func byID(run *results.Run) (names []string) {
	for i, name := range run.TaskNames() {
		id := run.Tasks[i].ID
		names = append(names, make([]string, max(0, id-len(names)))...)
		names[id-1] = name
	}
	return names
}
