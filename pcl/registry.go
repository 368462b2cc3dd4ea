package pcl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// maxID is the highest id that may be skipped to, or read from a file: a learner has eight bytes
// for each id below its last.
const maxID = 1 << 24

// TaskInfo says what a learner knows of a task.
type TaskInfo struct {
	ID      int    `json:"id,omitempty"`
	Name    string `json:"name,omitempty"`
	Classes []int  `json:"classes"`
	// ClassNames name the classes; nil if they have no names.
	ClassNames []string `json:"class_names,omitempty"`

	Ended  bool `json:"ended,omitempty"`  // whether it has ended, and takes part in no further step
	Paused bool `json:"paused,omitempty"` // whether it was paused by [Learner.Pause]
	// Samples is how many samples the learner has taken from its streams, and Waiting how many more
	// wait in one that holds samples, as a [data.PushStream] does. A checkpoint has both kinds:
	// from the file of a program that was killed, a producer goes on after Samples + Waiting
	// samples. Both are 0 in checkpoints from versions that did not record them.
	Samples int `json:"samples,omitempty"`
	Waiting int `json:"waiting,omitempty"`
}

// number is the id of the task in the i-th place, also where a network that was put together by
// hand leaves ids out.
func (t TaskInfo) number(i int) int { return cmp.Or(t.ID, i+1) }

// registry owns the tasks that have arrived, whether they run or have ended. Nothing that a copy
// shares with it ever changes, so a copy stays as it is, and costs the same after any number of
// tasks.
type registry struct {
	increment string
	tasks     []*arrival     // without their streams, by id minus 1; nil if the id was skipped
	classes   []int          // of all tasks, each once
	names     map[int]string // of the classes that have one
	used      int            // how many outputs the tasks have
}

// arrival is a task, its outputs, and how many samples its streams have delivered.
type arrival struct {
	Task
	head
	samples *atomic.Int64
}

// head is the outputs of a task. The zero value is that of a task that has not arrived.
type head struct {
	lo, hi   int         // its new outputs
	from, to int         // the smallest range that holds all of its outputs
	output   map[int]int // class → output
}

// last is the highest id that was given or skipped.
func (r *registry) last() int { return len(r.tasks) }

func (r *registry) empty() bool { return len(r.classes) == 0 }

// get returns a task, or an error if there is none with this id.
func (r *registry) get(id int) (*arrival, error) {
	if id < 1 || id > len(r.tasks) || r.tasks[id-1] == nil {
		return nil, fmt.Errorf("there is no task %d; ids count from 1, and the last is %d", id, len(r.tasks))
	}
	return r.tasks[id-1], nil
}

// skip leaves ids out.
func (r *registry) skip(to int) {
	for len(r.tasks) < to {
		r.tasks = append(r.tasks, nil)
	}
}

// add appends a task, with the outputs that next returned for it.
func (r *registry) add(t Task, h head, samples *atomic.Int64) {
	t.Stream = nil
	r.tasks, r.used = append(r.tasks, &arrival{t, h, samples}), h.hi
	for _, c := range t.Classes {
		if !slices.Contains(r.classes, c) {
			r.classes = append(r.classes, c)
		}
	}
	if t.ClassNames != nil {
		r.name(t.Classes, t.ClassNames)
	}
}

// name gives classes their names.
func (r *registry) name(classes []int, names []string) {
	all := map[int]string{}
	maps.Copy(all, r.names)
	for i, name := range names {
		if name != "" {
			all[classes[i]] = name
		}
	}
	r.names = all
}

// test gives a task other test samples.
func (r *registry) test(id int, s data.Samples) {
	t := *r.tasks[id-1]
	t.Test, r.tasks = s, slices.Clone(r.tasks)
	r.tasks[id-1] = &t
}

// endedTasks stands for the tasks that had ended at a moment.
type endedTasks struct {
	arrived int
	running []int
}

// ids lists the tasks; ids that were skipped are left out.
func (e endedTasks) ids(of registry) (ids []int) {
	for id := 1; id <= e.arrived; id++ {
		if of.tasks[id-1] != nil && !slices.Contains(e.running, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// allBut is endedTasks of the tasks that it stands for, in order.
func allBut(ids []int) (e endedTasks) {
	for _, id := range ids {
		for e.arrived++; e.arrived < id; e.arrived++ {
			e.running = append(e.running, e.arrived)
		}
	}
	return e
}
