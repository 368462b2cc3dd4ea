package pcl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// slots assigns the classifier's outputs to classes as tasks arrive, so that the outputs that may
// compete are always one range [lo,hi): a task's own in task-incremental mode, all that arrived so
// far in class-incremental mode (docs/protocol.md §2.1).
type slots struct {
	increment scenario.Increment
	limit     int
	tasks     map[int]taskSlots
	shared    map[int]int // class → output, in class-incremental mode
	used      int
}

type taskSlots struct {
	lo, hi int
	output map[int]int // class → output
}

func newSlots(increment scenario.Increment, limit int) *slots {
	return &slots{increment: increment, limit: limit, tasks: map[int]taskSlots{}, shared: map[int]int{}}
}

// fits says whether a new task of these classes can have outputs.
func (s *slots) fits(classes []int) error {
	_, err := s.outputs(classes)
	return err
}

// add gives a new task its outputs.
func (s *slots) add(task int, classes []int) error {
	t, err := s.outputs(classes)
	if err != nil {
		return err
	}
	for c, o := range t.output {
		s.shared[c] = o
	}
	s.used = t.hi
	s.tasks[task] = t
	return nil
}

// outputs are those that a new task of these classes would have.
func (s *slots) outputs(classes []int) (taskSlots, error) {
	t := taskSlots{lo: s.used, hi: s.used, output: map[int]int{}}
	if len(classes) == 0 {
		return t, errors.New("it has no classes")
	}
	for _, c := range classes {
		if _, twice := t.output[c]; twice {
			return t, fmt.Errorf("it lists class %d twice", c)
		}
		if known, ok := s.shared[c]; ok && s.increment == scenario.ClassIncremental {
			t.output[c] = known
			continue
		}
		t.output[c] = t.hi
		t.hi++
	}
	if t.hi > s.limit {
		return t, fmt.Errorf("it needs outputs up to %d, the model has %d: build a model with more outputs", t.hi, s.limit)
	}
	return t, nil
}

// competing returns the range of outputs that a sample of the task chooses from now.
func (s *slots) competing(task int) (lo, hi int32) {
	if s.increment == scenario.ClassIncremental {
		return 0, int32(s.used)
	}
	t := s.tasks[task]
	return int32(t.lo), int32(t.hi)
}

// output returns the output of a task's class.
func (s *slots) output(task, class int) (int32, error) {
	o, ok := s.tasks[task].output[class]
	if !ok {
		return 0, fmt.Errorf("task %d delivered a sample of class %d, which is not among its classes %v", task, class, s.classes(task))
	}
	return int32(o), nil
}

func (s *slots) classes(task int) []int {
	var out []int
	for c := range s.tasks[task].output {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// span returns the range of a task's own outputs.
func (s *slots) span(task int) (lo, hi int32) {
	if s.increment != scenario.ClassIncremental {
		return s.competing(task)
	}
	lo = int32(s.used)
	for _, o := range s.tasks[task].output {
		lo, hi = min(lo, int32(o)), max(hi, int32(o)+1)
	}
	return lo, hi
}

// contiguous says whether a task's outputs are all of its span, which margins between tasks need.
func (s *slots) contiguous(task int) bool {
	lo, hi := s.span(task)
	return int(hi-lo) == len(s.tasks[task].output)
}

// among lists the classes that a sample of the task is told apart from, by output.
func (s *slots) among(task int) []int {
	lo, hi := s.competing(task)
	classes := make([]int, hi-lo)
	outputs := s.shared
	if s.increment != scenario.ClassIncremental {
		outputs = s.tasks[task].output
	}
	for class, o := range outputs {
		classes[o-int(lo)] = class
	}
	return classes
}
