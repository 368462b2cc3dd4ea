package pcl

import (
	"context"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/scenario"
)

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

// Forget drops tasks that have ended and that nothing needs any more, among those for which drop returns true; it is asked about
// one after another, the oldest first. Nothing needs a task if none of its samples is in the memory, the method's old network
// does not know it, and all of its classes came, by the same names, with tasks before it. Predictions stay what they were. In
// task-incremental mode each task is needed. Forgotten tasks cannot begin again, and their ids are not given again.
func (l *Learner) Forget(drop func(TaskInfo) bool) error {
	return l.call(context.Background(), "forget", func() error {
		if l.options.Increment == scenario.ClassIncremental {
			l.forget(drop)
		}
		return nil
	})
}

func (l *Learner) forget(drop func(TaskInfo) bool) {
	needed := map[int]bool{}
	for i := range l.memory.Len() {
		needed[l.memory.Item(i).Task] = true
	}
	for _, id := range l.others.over.ids(l.roll) {
		needed[id] = true
	}
	var forgotten []int
	names := map[int]string{} // of the classes that have come
	for _, info := range l.Tasks() {
		if info.Ended && !needed[info.ID] && bringsNothing(info, names) && drop(info) {
			l.count(info.ID, -1)
			forgotten = append(forgotten, info.ID)
			continue
		}
		for i, c := range info.Classes {
			names[c] = max(names[c], info.nameOf(i)) // an empty one where there is none; others agree
		}
	}
	l.heads.Drop(forgotten)
	l.roll.forget(forgotten)
	l.version++
}

// bringsNothing says whether all of a task's classes have come already, by the same names.
func bringsNothing(t TaskInfo, names map[int]string) bool {
	for i, c := range t.Classes {
		known, has := names[c]
		if !has || t.nameOf(i) != "" && t.nameOf(i) != known {
			return false
		}
	}
	return true
}

// nameOf returns the name of the class at index i, "" if it has none.
func (t TaskInfo) nameOf(i int) string {
	if t.ClassNames == nil {
		return ""
	}
	return t.ClassNames[i]
}
