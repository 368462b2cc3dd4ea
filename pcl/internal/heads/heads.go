// Package heads assigns the outputs of the classifier, which all tasks share, to the classes of the tasks. Begin
// with [Heads].
package heads

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Heads assigns outputs of the classifier to classes as tasks arrive. The outputs that compete for a sample are
// always one range [lo,hi): in task-incremental mode the outputs of the sample's task, in class-incremental mode
// all outputs assigned so far (docs/protocol.md §2.1).
type Heads struct {
	increment scenario.Increment
	tasks     []Head      // by id minus 1; it only grows, so that copies share it
	shared    map[int]int // class → output, in class-incremental mode
	used      int
}

// Head is the outputs of a task. The zero value is that of a task that has not arrived.
type Head struct {
	lo, hi   int         // its new outputs
	from, to int         // the smallest range that holds all of its outputs
	output   map[int]int // class → output
}

// New returns a Heads without tasks.
func New(increment scenario.Increment) *Heads {
	return &Heads{increment: increment, shared: map[int]int{}}
}

// Next returns the outputs that the next task would get, if it has these classes.
func (s *Heads) Next(classes []int) (Head, error) {
	t := Head{lo: s.used, hi: s.used, output: map[int]int{}}
	if len(classes) == 0 {
		return t, errors.New("it has no classes")
	}
	for _, c := range classes {
		if _, twice := t.output[c]; twice {
			return t, fmt.Errorf("it lists class %d twice", c)
		}
		o, known := s.shared[c]
		if !known || s.increment != scenario.ClassIncremental {
			o = t.hi
			t.hi++
		}
		if len(t.output) == 0 {
			t.from, t.to = o, o+1
		}
		t.output[c], t.from, t.to = o, min(t.from, o), max(t.to, o+1)
	}
	return t, nil
}

// Add gives the next task what [Heads.Next] returned for it.
func (s *Heads) Add(t Head) {
	maps.Copy(s.shared, t.output)
	s.used = t.hi
	s.tasks = append(s.tasks, t)
}

// Of returns the outputs of a task.
func (s *Heads) Of(task int) (t Head) {
	if 0 < task && task <= len(s.tasks) {
		t = s.tasks[task-1]
	}
	return t
}

// Needed returns how many outputs there must be with a new task.
func (t Head) Needed() int { return t.hi }

// Span returns the smallest range that holds all of the task's own outputs.
func (t Head) Span() (lo, hi int32) { return int32(t.from), int32(t.to) }

// Contiguous reports whether every output in the task's span belongs to the task. Margins between tasks need this.
func (t Head) Contiguous() bool { return t.to-t.from == len(t.output) }

// InOrder reports whether the outputs of classes are next to each other, in their order.
func (t Head) InOrder(classes []int) bool {
	for i, c := range classes {
		if t.output[c] != t.output[classes[0]]+i {
			return false
		}
	}
	return true
}

// Outputs returns the outputs of the task's classes, in no particular order.
func (t Head) Outputs() []int { return slices.Collect(maps.Values(t.output)) }

// Competing returns the range of outputs that at present compete for a sample of the task.
func (s *Heads) Competing(task int) (lo, hi int32) {
	if s.increment == scenario.ClassIncremental {
		return 0, int32(s.used)
	}
	t := s.Of(task)
	return int32(t.lo), int32(t.hi)
}

// Output returns the output that belongs to a class of a task.
func (s *Heads) Output(task, class int) (int32, error) {
	t := s.Of(task)
	o, ok := t.output[class]
	if !ok {
		return 0, fmt.Errorf("a sample of class %d for task %d, which has the classes %v", class, task, slices.Sorted(maps.Keys(t.output)))
	}
	return int32(o), nil
}

// Among lists the classes of the outputs that compete for a sample of the task, in the order of the outputs.
func (s *Heads) Among(task int) []int {
	lo, hi := s.Competing(task)
	classes := make([]int, hi-lo)
	outputs := s.shared
	if s.increment != scenario.ClassIncremental {
		outputs = s.Of(task).output
	}
	for class, o := range outputs {
		classes[o-int(lo)] = class
	}
	return classes
}

// Skip leaves out the tasks up to the given one.
func (s *Heads) Skip(to int) {
	for len(s.tasks) < to {
		s.tasks = append(s.tasks, Head{})
	}
}

// Clone returns a copy.
func (s *Heads) Clone() *Heads {
	out := *s
	out.shared = maps.Clone(s.shared)
	return &out
}

// Used returns how many outputs have been assigned.
func (s *Heads) Used() int { return s.used }
