package pcl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The classifier's outputs are assigned to classes as tasks arrive. The outputs that compete for a
// sample are always one range [lo,hi): in task-incremental mode the outputs of the sample's task,
// in class-incremental mode all outputs assigned so far (docs/protocol.md §2.1), which are those of
// registry.classes, in their order.

// next returns the outputs that the next task would get, if it has these classes.
func (r *registry) next(classes []int) (head, error) {
	h := head{lo: r.used, hi: r.used, output: map[int]int{}}
	if len(classes) == 0 {
		return h, errors.New("it has no classes")
	}
	for _, c := range classes {
		if _, twice := h.output[c]; twice {
			return h, fmt.Errorf("it lists class %d twice", c)
		}
		o := -1
		if r.increment == "class" {
			o = slices.Index(r.classes, c)
		}
		if o < 0 {
			o = h.hi
			h.hi++
		}
		if len(h.output) == 0 {
			h.from, h.to = o, o+1
		}
		h.output[c], h.from, h.to = o, min(h.from, o), max(h.to, o+1)
	}
	return h, nil
}

// head returns the outputs of a task.
func (r *registry) head(task int) head {
	if t, err := r.get(task); err == nil {
		return t.head
	}
	return head{}
}

// contiguous reports whether every output from the first to the last belongs to the task. Margins
// between tasks need this.
func (h head) contiguous() bool { return h.to-h.from == len(h.output) }

// inOrder reports whether the outputs of classes are next to each other, in their order.
func (h head) inOrder(classes []int) bool {
	for i, c := range classes {
		if h.output[c] != h.output[classes[0]]+i {
			return false
		}
	}
	return true
}

// outputs returns the outputs of a task's classes, in no particular order.
func (r *registry) outputs(task int) []int { return slices.Collect(maps.Values(r.head(task).output)) }

// competing returns the range of outputs that at present compete for a sample of the task.
func (r *registry) competing(task int) (lo, hi int) {
	if r.increment == "class" {
		return 0, r.used
	}
	h := r.head(task)
	return h.lo, h.hi
}

// output returns the output that belongs to a class of a task.
func (r *registry) output(task, class int) (int, error) {
	h := r.head(task)
	o, ok := h.output[class]
	if !ok {
		return 0, fmt.Errorf("a sample of class %d for task %d, which has the classes %v",
			class, task, slices.Sorted(maps.Keys(h.output)))
	}
	return o, nil
}

// among lists the classes of the outputs that compete for a sample of the task, in the order of the
// outputs.
func (r *registry) among(task int) []int {
	if r.increment == "class" {
		return slices.Clone(r.classes)
	}
	h := r.head(task)
	classes := make([]int, h.hi-h.lo)
	for class, o := range h.output {
		classes[o-h.lo] = class
	}
	return classes
}

// checkOutputs returns an error if the tasks need more outputs than the model has.
func checkOutputs(has, needed int) error {
	if needed > has {
		return fmt.Errorf(
			"the tasks need %d outputs, the model has %d: build a model with more, or let it grow (Options.Grow)",
			needed, has)
	}
	return nil
}
