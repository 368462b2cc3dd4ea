package pcl

import (
	"maps"
	"slices"
)

// roll is what is known of the tasks that have arrived, whether they run or have ended. Nothing that a copy of it shares with
// it ever changes, so that a copy costs the same however many tasks there were, and stays as it is.
type roll struct {
	tasks   []*Task        // in order of arrival, without their streams; the index is the id minus 1
	classes []int          // of all tasks, each once
	names   map[int]string // of the classes that have one
	met     map[int]bool   // the classes as a set, which only the learner reads
}

// add appends a task.
func (r *roll) add(t Task) {
	t.Stream = nil
	r.tasks = append(r.tasks, &t)
	if r.met == nil {
		r.met = map[int]bool{}
	}
	for _, c := range t.Classes {
		if !r.met[c] {
			r.met[c], r.classes = true, append(r.classes, c)
		}
	}
	r.names = withNames(r.names, &t)
}

// replace puts a task in the place of one that had the same classes.
func (r *roll) replace(id int, t Task) {
	t.Stream = nil
	r.tasks, r.names = slices.Clone(r.tasks), withNames(r.namesBut(id), &t)
	r.tasks[id-1] = &t
}

// namesBut returns the names that the classes have by all tasks but one.
func (r *roll) namesBut(id int) (names map[int]string) {
	for i, t := range r.tasks {
		if i != id-1 {
			names = withNames(names, t)
		}
	}
	return names
}

// withNames returns names, and those that a task gives its classes. It copies the names if there are new ones.
func withNames(names map[int]string, t *Task) map[int]string {
	copied := false
	for i, name := range t.ClassNames {
		if name == "" || names[t.Classes[i]] == name {
			continue
		}
		if !copied {
			names, copied = maps.Clone(names), true
		}
		if names == nil {
			names = map[int]string{}
		}
		names[t.Classes[i]] = name
	}
	return names
}

// infos describes the tasks, of which some are running: paused says of each of these whether it is paused.
func (r *roll) infos(paused map[int]bool) []TaskInfo {
	out := make([]TaskInfo, len(r.tasks))
	for i, t := range r.tasks {
		p, running := paused[i+1]
		out[i] = TaskInfo{ID: i + 1, Name: t.Name, Classes: slices.Clone(t.Classes), ClassNames: slices.Clone(t.ClassNames), Ended: !running, Paused: p}
	}
	return out
}

// pauses says of each of the running tasks whether it is paused.
func pauses(running []*task) map[int]bool {
	out := make(map[int]bool, len(running))
	for _, t := range running {
		out[t.id] = t.paused.Load()
	}
	return out
}

// ended stands for the tasks that had ended at a moment.
type ended struct {
	arrived int
	running []int
}

// ids lists the tasks.
func (e ended) ids() (ids []int) {
	for id := 1; id <= e.arrived; id++ {
		if !slices.Contains(e.running, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// allBut is ended of the tasks that it stands for, in order.
func allBut(ids []int) (e ended) {
	for _, id := range ids {
		for e.arrived++; e.arrived < id; e.arrived++ {
			e.running = append(e.running, e.arrived)
		}
	}
	return e
}
