package pcl

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Tasks describes all tasks that have arrived, in order of arrival. It may be called from any goroutine.
func (l *Learner) Tasks() []TaskInfo {
	s := l.status.Load()
	out := s.roll.infos(s.tasks.pauses())
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
	s, tasks := fmt.Sprintf("%s, step %d", l.Options().Method.Info().Title, l.Steps()), l.Tasks()
	for _, kind := range []struct {
		name string
		is   func(TaskInfo) bool
	}{
		{"running", func(t TaskInfo) bool { return !t.Ended && !t.Paused }},
		{"paused", func(t TaskInfo) bool { return t.Paused }},
		{"ended", func(t TaskInfo) bool { return t.Ended }},
	} {
		var names []string
		for _, t := range tasks {
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

// Task returns a task as it was attached; the stream is nil if the task has ended. It may be called from any goroutine.
func (l *Learner) Task(id int) (Task, error) {
	s := l.status.Load()
	known, running, err := find(id, s.roll, s.tasks)
	if err != nil {
		return Task{}, fmt.Errorf("pcl: %w", err)
	}
	t := known.Task
	if running != nil {
		t.Stream = running.Stream
	}
	return t, nil
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
func find(id int, arrived roll, tasks runningTasks) (*arrival, *attached, error) {
	known, err := arrived.get(id)
	if err != nil {
		return nil, nil, err
	}
	if at, runs := tasks.place(id); runs {
		return known, tasks[at], nil
	}
	return known, nil, nil
}

// endedTasks stands for the tasks that have ended.
func (l *Learner) ended() endedTasks { return endedTasks{l.roll.last(), l.tasks.ids()} }

// Skip leaves ids out: tasks that are attached from now on get ids above to. A program that was killed, and gave ids since its
// last save, does not give them again.
func (l *Learner) Skip(to int) error {
	return l.call(context.Background(), "skip", func() error {
		if to < 0 || to > maxID {
			return fmt.Errorf("id %d; want 0 to %d", to, maxID)
		}
		l.skip(to)
		return nil
	})
}

func (l *Learner) skip(to int) {
	l.roll.skip(to)
	l.heads.Skip(to)
}
