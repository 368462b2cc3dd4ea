package serve

import (
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
)

// watch remembers what steps have shown of the tasks.
type watch struct {
	mu      sync.Mutex
	byTask  map[int]*seen
	savedAt time.Time // zero if the learner was not saved since the start
	next    time.Time // when losses enter the curves again, and the memory is counted
}

// seen is what is known of a task, or under the id 0 of the memory.
type seen struct {
	losses   []float64 // one of each second, the last so many
	kept     int       // samples in the memory
	accuracy float64
	scored   bool // whether it has an accuracy
}

// curve is how many losses of a task are remembered.
const curve = 240

func (w *watch) of(id int) seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.byTask[id]; t != nil {
		return *t
	}
	return seen{}
}

// at returns the entry of a task. Call it with w.mu held.
func (w *watch) at(id int) *seen {
	if w.byTask == nil {
		w.byTask = map[int]*seen{}
	}
	if w.byTask[id] == nil {
		w.byTask[id] = new(seen)
	}
	return w.byTask[id]
}

// step notes the losses of a step, at most once a second, and how many samples the memory has.
func (w *watch) step(report *pcl.StepReport, stored func() (map[int]int, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if now.Before(w.next) && len(report.Ended) == 0 {
		return
	}
	w.next = now.Add(time.Second)
	for i, id := range report.IDs {
		if id >= 0 && report.N[i] > 0 {
			t := w.at(id)
			if t.losses = append(t.losses, report.Losses[i]); len(t.losses) > curve {
				t.losses = append([]float64(nil), t.losses[1:]...)
			}
		}
	}
	byTask, err := stored()
	if err != nil { // the learner is closed
		return
	}
	for id, t := range w.byTask {
		t.kept = byTask[id]
	}
	for id, n := range byTask {
		w.at(id).kept = n
	}
}

// score notes accuracies, by the tasks' ids.
func (w *watch) score(accuracy map[int]float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, a := range accuracy {
		t := w.at(id)
		t.accuracy, t.scored = a, true
	}
}

// saved notes that the learner was saved.
func (w *watch) saved() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.savedAt = time.Now()
}
