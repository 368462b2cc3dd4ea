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
	tasks     []head      // by id minus 1; it only grows, so that copies share it
	shared    map[int]int // class → output, in class-incremental mode
	used      int
}

type head struct {
	lo, hi   int         // its new outputs
	from, to int         // the smallest range that holds all of its outputs
	output   map[int]int // class → output
}

// New returns a Heads without tasks.
func New(increment scenario.Increment) *Heads {
	return &Heads{increment: increment, shared: map[int]int{}}
}

// Add assigns outputs to the classes of the next task.
func (s *Heads) Add(classes []int) error {
	t, err := s.place(classes)
	if err != nil {
		return err
	}
	for c, o := range t.output {
		s.shared[c] = o
	}
	s.used = t.hi
	s.tasks = append(s.tasks, t)
	return nil
}

// of returns the outputs of a task; none if it has not arrived.
func (s *Heads) of(task int) (t head) {
	if 0 < task && task <= len(s.tasks) {
		t = s.tasks[task-1]
	}
	return t
}

// place returns the outputs that a new task with these classes would get.
func (s *Heads) place(classes []int) (head, error) {
	t := head{lo: s.used, hi: s.used, output: map[int]int{}}
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

// Competing returns the range of outputs that at present compete for a sample of the task.
func (s *Heads) Competing(task int) (lo, hi int32) {
	if s.increment == scenario.ClassIncremental {
		return 0, int32(s.used)
	}
	t := s.of(task)
	return int32(t.lo), int32(t.hi)
}

// Output returns the output that belongs to a class of a task.
func (s *Heads) Output(task, class int) (int32, error) {
	o, ok := s.of(task).output[class]
	if !ok {
		return 0, fmt.Errorf("a sample of class %d for task %d, which has the classes %v", class, task, s.classes(task))
	}
	return int32(o), nil
}

func (s *Heads) classes(task int) []int {
	var out []int
	for c := range s.of(task).output {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// Span returns the smallest range that holds all of a task's own outputs.
func (s *Heads) Span(task int) (lo, hi int32) {
	t := s.of(task)
	return int32(t.from), int32(t.to)
}

// Contiguous reports whether every output in a task's span belongs to the task. Margins between tasks need this.
func (s *Heads) Contiguous(task int) bool { return s.of(task).contiguous() }

// Together reports whether a new task with these classes would be contiguous.
func (s *Heads) Together(classes []int) bool {
	t, err := s.place(classes)
	return err == nil && t.contiguous()
}

func (t head) contiguous() bool { return t.to-t.from == len(t.output) }

// Among lists the classes of the outputs that compete for a sample of the task, in the order of the outputs.
func (s *Heads) Among(task int) []int {
	lo, hi := s.Competing(task)
	classes := make([]int, hi-lo)
	outputs := s.shared
	if s.increment != scenario.ClassIncremental {
		outputs = s.of(task).output
	}
	for class, o := range outputs {
		classes[o-int(lo)] = class
	}
	return classes
}

// Needed returns how many outputs there must be with a new task of these classes.
func (s *Heads) Needed(classes []int) (int, error) {
	t, err := s.place(classes)
	return t.hi, err
}

// Adjacent reports whether the outputs of a new task with these classes would be next to each other, in their order.
func (s *Heads) Adjacent(classes []int) bool {
	t, err := s.place(classes)
	for i, c := range classes {
		if err != nil || t.output[c] != t.output[classes[0]]+i {
			return false
		}
	}
	return true
}

// Skip leaves out the tasks up to the given one.
func (s *Heads) Skip(to int) {
	for len(s.tasks) < to {
		s.tasks = append(s.tasks, head{})
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

// Of returns the outputs of a task's classes, in no particular order.
func (s *Heads) Of(task int) (outputs []int) {
	for _, o := range s.of(task).output {
		outputs = append(outputs, o)
	}
	return outputs
}
