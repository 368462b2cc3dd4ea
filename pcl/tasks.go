package pcl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// Tasks describes all tasks that have arrived, but for forgotten ones, in order of arrival. It may be called from any goroutine.
func (l *Learner) Tasks() []TaskInfo {
	s := l.status.Load()
	out := s.roll.infos(pauses(s.tasks))
	for _, t := range s.tasks {
		if h, ok := t.Stream.(holder); ok {
			at, _ := slices.BinarySearchFunc(out, t.id, func(i TaskInfo, id int) int { return i.ID - id })
			out[at].Waiting = h.Len()
		}
	}
	return out
}

// String says in a line where the learner stands: its method and steps, and the tasks that run, are paused or have ended. It may
// be called from any goroutine.
func (l *Learner) String() string {
	s := fmt.Sprintf("%s, step %d", l.Options().Method.Info().Title, l.Steps())
	for _, kind := range []struct {
		name string
		is   func(TaskInfo) bool
	}{
		{"running", func(t TaskInfo) bool { return !t.Ended && !t.Paused }},
		{"paused", func(t TaskInfo) bool { return t.Paused }},
		{"ended", func(t TaskInfo) bool { return t.Ended }},
	} {
		var names []string
		for _, t := range l.Tasks() {
			if kind.is(t) {
				names = append(names, label(t.ID, t.Name))
			}
		}
		if names != nil {
			s += fmt.Sprintf("; %s: %s", kind.name, strings.Join(names, ", "))
		}
	}
	return s
}

// holder is a stream that holds samples, as a [data.Push] does: Len of them now, and Saved when its state was saved.
type holder interface {
	Len() int
	Saved() int
}

// Classes returns the classes of all tasks that have arrived, each once, in order of arrival. In class-incremental
// mode this is the order of the classifier's outputs. It may be called from any goroutine.
func (l *Learner) Classes() []int { return slices.Clone(l.status.Load().roll.classes) }

// Running returns the ids of the tasks that have neither ended nor been paused. It may be called from any goroutine.
func (l *Learner) Running() (ids []int) {
	for _, t := range l.status.Load().tasks {
		if !t.paused.Load() {
			ids = append(ids, t.id)
		}
	}
	return ids
}

// Pause leaves a task out of the steps that begin from now on, until [Learner.Resume]. Its stream is not read, and
// keeps what has been fetched from it. A paused task has not ended, so that none of its samples are in the memory,
// unless the method fills the memory while tasks run. Pause and Resume may be called from any goroutine.
func (l *Learner) Pause(id int) error { return l.setPaused("pause", id, true) }

// Resume lets a paused task take part again. It does nothing if the task is not paused.
func (l *Learner) Resume(id int) error { return l.setPaused("resume", id, false) }

func (l *Learner) setPaused(what string, id int, paused bool) error {
	if l.closed.Load() {
		return ErrClosed
	}
	s := l.status.Load()
	known, t, err := find(id, s.roll, s.tasks)
	if err == nil && t == nil {
		err = fmt.Errorf("%s has ended", label(id, known.Name))
	}
	if err != nil {
		return fmt.Errorf("pcl: %s: %w", what, err)
	}
	t.paused.Store(paused)
	l.bell.ring()
	return nil
}

// find returns a task that has arrived and, if it has not ended, as a running one, or an error if there is no such task.
func find(id int, arrived roll, running []*task) (*arrival, *task, error) {
	known, err := arrived.get(id)
	if err != nil {
		return nil, nil, err
	}
	if at, runs := place(running, id); runs {
		return known, running[at], nil
	}
	return known, nil, nil
}

// place returns where a task is among the running ones, or would be.
func place(running []*task, id int) (at int, runs bool) {
	return slices.BinarySearchFunc(running, id, func(t *task, id int) int { return t.id - id })
}

// run makes a task one of those that run. The list is copied, since the status shares it.
func (l *Learner) run(t *task) {
	at, _ := place(l.tasks, t.id)
	l.tasks = slices.Insert(slices.Clone(l.tasks), at, t)
}

// asks says whether a running task has a stream that has to be asked whether it is ready.
func (l *Learner) asks() bool {
	return slices.ContainsFunc(l.tasks, func(t *task) bool { _, says := t.Stream.(data.Notifier); return !says })
}

// ids lists the running tasks.
func (l *Learner) ids() (ids []int) {
	for _, t := range l.tasks {
		ids = append(ids, t.id)
	}
	return ids
}

// ended stands for the tasks that have ended.
func (l *Learner) ended() ended { return ended{l.roll.last(), l.ids()} }

// present lists the running tasks that take part in the step being made, or took part in the last one.
func (l *Learner) present() (tasks []*task) {
	for _, t := range l.tasks {
		if !t.absent {
			tasks = append(tasks, t)
		}
	}
	return tasks
}
