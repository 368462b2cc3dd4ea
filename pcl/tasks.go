package pcl

import (
	"slices"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// tasks owns which tasks a learner has: the registry of all that have arrived, the list of those
// that run, and how many ended tasks have each output.
type tasks struct {
	registry registry
	running  runningTasks
	ended    map[int]int // by output
}

func newTasks(increment string) *tasks {
	return &tasks{registry: registry{increment: increment}, ended: map[int]int{}}
}

// start adds an opened task to the running ones.
func (t *tasks) start(a *attached) { t.running = t.running.with(a) }

// end removes a task from the running ones.
func (t *tasks) end(a *attached) {
	t.running = t.running.without(a)
	t.countEnded(a.id, 1)
}

// countEnded adds to the number of ended tasks that have the outputs of a task.
func (t *tasks) countEnded(id, change int) {
	for _, o := range t.registry.outputs(id) {
		t.ended[o] += change
	}
}

// endedOutputs returns the outputs of the tasks that have ended, in no particular order.
func (t *tasks) endedOutputs() (outputs []int) {
	for o, n := range t.ended {
		if n > 0 {
			outputs = append(outputs, o)
		}
	}
	return outputs
}

// endedNow stands for the tasks that have ended.
func (t *tasks) endedNow() endedTasks { return endedTasks{t.registry.last(), t.running.ids()} }

func (t *tasks) endedIDs() []int { return t.endedNow().ids(t.registry) }

// firstSeen returns, for each running task, the samples that it sees for the first time in this
// step.
func (t *tasks) firstSeen() (batches [][]memory.Item) {
	for _, a := range t.running.present() {
		if a.ready && !a.leftOut && !a.current.Repeat {
			batches = append(batches, a.trainedOn())
		}
	}
	return batches
}

// free releases the batches of all running tasks.
func (t *tasks) free() {
	for _, a := range t.running {
		a.free()
	}
}

// runningTasks are the tasks that run, in order of their ids. A list never changes, since the
// learner's status shares it.
type runningTasks []*attached

// get returns the task with an id; nil if it does not run.
func (r runningTasks) get(id int) *attached {
	if at, runs := r.place(id); runs {
		return r[at]
	}
	return nil
}

// place returns where a task is among the running ones, or would be.
func (r runningTasks) place(id int) (at int, runs bool) {
	return slices.BinarySearchFunc(r, id, func(t *attached, id int) int { return t.id - id })
}

func (r runningTasks) with(t *attached) runningTasks {
	at, _ := r.place(t.id)
	return slices.Insert(slices.Clone(r), at, t)
}

func (r runningTasks) without(t *attached) runningTasks {
	return slices.DeleteFunc(slices.Clone(r), func(other *attached) bool { return other == t })
}

func (r runningTasks) ids() (ids []int) {
	for _, t := range r {
		ids = append(ids, t.id)
	}
	return ids
}

// present lists the tasks that take part in the step being made, or took part in the last one.
func (r runningTasks) present() (tasks runningTasks) {
	for _, t := range r {
		if !t.absent {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// polled reports whether a task has a stream that cannot say when it is ready, and has to be asked.
func (r runningTasks) polled() bool {
	return slices.ContainsFunc(r, func(t *attached) bool { _, notifies := t.Stream.(data.Notifier); return !notifies })
}
