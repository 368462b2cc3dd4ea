package pcl

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Tasks describes all tasks that have arrived, in order of arrival. It may be called from any
// goroutine.
func (l *Learner) Tasks() []TaskInfo {
	s := l.status.Load()
	return s.registry.infos(s.running)
}

// infos describes the tasks, of which some are running.
func (r *registry) infos(running runningTasks) []TaskInfo {
	out := make([]TaskInfo, 0, len(r.tasks))
	for i, t := range r.tasks {
		if t == nil {
			continue
		}
		info := TaskInfo{
			ID: i + 1, Name: t.Name, Classes: slices.Clone(t.Classes), ClassNames: slices.Clone(t.ClassNames),
			Ended: true, Samples: int(t.samples.Load()),
		}
		if a := running.get(i + 1); a != nil {
			info.Ended, info.Paused = false, a.paused.Load()
			if h, ok := a.Stream.(holder); ok {
				info.Waiting = h.Len()
			}
		}
		out = append(out, info)
	}
	return out
}

// String says in a line where the learner stands: its method and steps, and the tasks that run, are
// paused or have ended. It may be called from any goroutine.
func (l *Learner) String() string {
	s := fmt.Sprintf("%s, step %d", l.method.Info.Title, l.Steps())
	names := map[string][]string{}
	for _, t := range l.Tasks() {
		kind := "running"
		if t.Ended {
			kind = "ended"
		} else if t.Paused {
			kind = "paused"
		}
		names[kind] = append(names[kind], label(t.ID, t.Name))
	}
	for _, kind := range []string{"running", "paused", "ended"} {
		if names[kind] != nil {
			s += fmt.Sprintf("; %s: %s", kind, strings.Join(names[kind], ", "))
		}
	}
	return s
}

// Task returns a task as it was attached; the stream is nil if the task has ended. It may be called
// from any goroutine.
func (l *Learner) Task(id int) (Task, error) {
	s := l.status.Load()
	known, err := s.registry.get(id)
	if err != nil {
		return Task{}, fmt.Errorf("pcl: %w", err)
	}
	t := known.Task
	if running := s.running.get(id); running != nil {
		t.Stream = running.Stream
	}
	return t, nil
}

// holder is a stream that holds samples, as a [data.PushStream] does: Len of them now, and Saved
// when its state was saved.
type holder interface {
	Len() int
	Saved() int
}

// Classes returns the classes of all tasks that have arrived, each once, in order of arrival. In
// class-incremental mode this is the order of the classifier's outputs. It may be called from any
// goroutine.
func (l *Learner) Classes() []int { return slices.Clone(l.status.Load().registry.classes) }

// Running returns the ids of the tasks that have neither ended nor been paused. It may be called
// from any goroutine.
func (l *Learner) Running() (ids []int) {
	for _, t := range l.status.Load().running {
		if !t.paused.Load() {
			ids = append(ids, t.id)
		}
	}
	return ids
}

// Pause leaves a task out of the steps that begin from now on, until [Learner.Resume]. Its stream
// is not read, and keeps what has been fetched from it. A paused task has not ended, so that none
// of its samples are in the memory, unless the method fills the memory while tasks run. Pause and
// Resume may be called from any goroutine.
func (l *Learner) Pause(id int) error { return l.setPaused("pause", id, true) }

// Resume lets a paused task take part again. It does nothing if the task is not paused.
func (l *Learner) Resume(id int) error { return l.setPaused("resume", id, false) }

func (l *Learner) setPaused(what string, id int, paused bool) error {
	if l.turns.closed.Load() {
		return ErrClosed
	}
	s := l.status.Load()
	known, err := s.registry.get(id)
	t := s.running.get(id)
	if err == nil && t == nil {
		err = fmt.Errorf("%s has ended", label(id, known.Name))
	}
	if err != nil {
		return fmt.Errorf("pcl: %s: %w", what, err)
	}
	t.paused.Store(paused)
	l.ready.notify()
	return nil
}

// SkipIDs reserves ids up to and including to: tasks that are attached from now on get larger ones.
// A program that was killed calls it so that ids which it gave since its last save are not given
// again.
func (l *Learner) SkipIDs(to int) error {
	return l.call(context.Background(), "skip", func() error {
		if to < 0 || to > maxID {
			return fmt.Errorf("id %d; want 0 to %d", to, maxID)
		}
		l.tasks.registry.skip(to)
		return nil
	})
}
