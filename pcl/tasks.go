package pcl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// ErrNoTask is what is wrong with a call for a task that has not arrived: ids count from 1, in order of arrival. Test for it
// with errors.Is.
var ErrNoTask = errors.New("there is no task")

// noTask is ErrNoTask for a call, which names what it would have done.
func noTask(what string, id, arrived int) error {
	return fmt.Errorf("pcl: %s: %w %d; %d have arrived", what, ErrNoTask, id, arrived)
}

// TaskInfo says what a learner knows of a task.
type TaskInfo struct {
	ID      int
	Name    string
	Classes []int
	// ClassNames name the classes; nil if they have no names.
	ClassNames []string

	Ended  bool // whether it has ended, and takes part in no further step
	Paused bool // whether it was paused by [Learner.Pause]
	// Samples is how many samples its streams have delivered; 0 in files of before they were counted.
	Samples int
}

// number is the id of the task in the i-th place, also where a network that was put together by hand leaves ids out.
func (t TaskInfo) number(i int) int { return cmp.Or(t.ID, i+1) }

// place returns where a task is among those that the learner keeps.
func (l *Learner) place(what string, id int) (int, error) {
	at, found := slices.BinarySearchFunc(l.tasks, id, func(t *task, id int) int { return t.id - id })
	if !found {
		return 0, noTask(what, id, l.last)
	}
	return at, nil
}

// Tasks describes all tasks that have arrived, but for forgotten ones, in order of arrival. It may be called from any goroutine.
func (l *Learner) Tasks() []TaskInfo {
	s := l.status.Load()
	out := make([]TaskInfo, len(s.tasks))
	for i, t := range s.tasks {
		out[i] = TaskInfo{ID: t.id, Name: t.name, Classes: slices.Clone(t.classes), ClassNames: slices.Clone(t.names), Ended: t.ended, Paused: t.paused(), Samples: t.samples}
	}
	return out
}

// Classes returns the classes of all tasks that have arrived, each once, in order of arrival. In class-incremental
// mode this is the order of the classifier's outputs. It may be called from any goroutine.
func (l *Learner) Classes() []int { return classesOf(l.Tasks()) }

// classesOf lists the classes of tasks, each once.
func classesOf(tasks []TaskInfo) (classes []int) {
	met := map[int]bool{}
	for _, t := range tasks {
		for _, c := range t.Classes {
			if !met[c] {
				met[c], classes = true, append(classes, c)
			}
		}
	}
	return classes
}

// namesOf returns the names of the tasks' classes, as far as they have any.
func namesOf(tasks []TaskInfo) map[int]string {
	names := map[int]string{}
	for _, t := range tasks {
		for i, name := range t.ClassNames {
			if name != "" {
				names[t.Classes[i]] = name
			}
		}
	}
	return names
}

// Running returns the ids of the tasks that have neither ended nor been paused. It may be called from any goroutine.
func (l *Learner) Running() (ids []int) {
	for _, t := range l.status.Load().tasks {
		if !t.ended && !t.paused() {
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
	at, found := slices.BinarySearchFunc(s.tasks, id, func(t taskStatus, id int) int { return t.id - id })
	if !found {
		return noTask(what, id, s.last)
	}
	t := s.tasks[at]
	if t.ended {
		return fmt.Errorf("pcl: %s: %s has ended", what, label(id, t.name))
	}
	t.task.paused.Store(paused)
	l.bell.ring()
	return nil
}

// taskStatus is what can be read of a task while a call to its learner is in progress.
type taskStatus struct {
	*task   // of which only the pause may be read
	id      int
	name    string
	classes []int
	names   []string // of the classes
	ended   bool
	samples int
}

func (s taskStatus) paused() bool { return s.task.paused.Load() && !s.ended }

// taskStatuses are those of all tasks. asks says whether one of them has a stream that has to be asked whether it is
// ready.
func (l *Learner) taskStatuses() (all []taskStatus, asks bool) {
	all = make([]taskStatus, len(l.tasks))
	for i, t := range l.tasks {
		all[i] = taskStatus{t, t.id, t.Name, t.Classes, t.ClassNames, t.ended, t.samples}
		if _, says := t.Stream.(data.Notifier); !says && !t.ended {
			asks = true
		}
	}
	return all, asks
}

// present lists the running tasks that take part in the step being made, or took part in the last one.
func (l *Learner) present() (tasks []*task) {
	for _, t := range l.running() {
		if !t.absent {
			tasks = append(tasks, t)
		}
	}
	return tasks
}
