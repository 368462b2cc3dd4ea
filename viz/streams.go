package viz

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// streams are the rows of some records. Ids from 1 on are tasks. The memory has the id 0 or, where
// the rule sees several rows of it, also negative ids, which mean different things: beside a row 0,
// the row −1 is the one with the stored logits (part der-pp); without a row 0, −k is the row of
// task k (part per-task).
type streams struct {
	records []results.Record
	ids     []int    // the memory's rows first, then the tasks, by arrival
	several bool     // whether the memory has several rows
	tasks   int      // the highest number of a task
	named   []string // what tasks are called, from 1; those that it does not have are called by their number
}

// streamsOf refuses records that would make an empty or false figure. [results.ReadRecords] has
// checked them one by one.
func streamsOf(records []results.Record, named ...string) (*streams, error) {
	if len(records) == 0 {
		return nil, errors.New("viz: no records to draw")
	}
	s, seen := &streams{records: records, named: named}, map[int]bool{}
	for i, r := range records {
		if i > 0 && r.Step <= records[i-1].Step {
			return nil, fmt.Errorf("viz: the record of step %d follows that of step %d", r.Step, records[i-1].Step)
		}
		for _, id := range r.IDs {
			seen[id] = true
		}
	}
	s.ids = sortedKeys(seen)
	first, _ := slices.BinarySearch(s.ids, 1)
	slices.Reverse(s.ids[:first])
	s.several = first > 2 || first == 2 && !seen[results.PenaltyID]
	for _, id := range s.ids {
		s.tasks = max(s.tasks, id, s.taskOf(id))
	}
	return s, nil
}

// taskOf is the task whose samples a row of the memory replays; 0 for rows that replay all.
func (s *streams) taskOf(id int) int {
	if id >= 0 || id == results.PenaltyID || slices.Contains(s.ids, 0) || !s.several {
		return 0
	}
	return -id
}

func (s *streams) name(id int) string {
	switch task := s.taskOf(id); {
	case id > 0 && id <= len(s.named) && s.named[id-1] != "":
		return s.named[id-1]
	case id > 0:
		return fmt.Sprintf("task %d", id)
	case id == results.PenaltyID:
		return "penalty"
	case task > 0:
		return "memory of " + s.name(task)
	case id == 0 || !s.several:
		return "memory"
	case id == -1:
		return "stored logits"
	}
	return fmt.Sprintf("memory, row %d", 1-id)
}

func (s *streams) names() (out []string) {
	for _, id := range s.ids {
		out = append(out, s.name(id))
	}
	return out
}

// table has a row for each stream of each step; a method without certificates leaves its columns
// empty.
func (s *streams) table() Table {
	data := Table{Head: []string{"step", "stream", "weight", "sigma", "lambda", "slack_relative", "gap_relative"}}
	for i := range s.records {
		r := &s.records[i]
		var slacks []float64
		var gap any
		if certified(r) {
			slacks, gap = relativeSlacks(r), r.Gap
		}
		for j, id := range r.IDs {
			data.Add(r.Step, s.name(id), entry(r.Weights, j), entry(r.Sigma, j), entry(r.Lambda, j), entry(slacks, j), gap)
		}
	}
	return data
}

// color is the colour of a task's arrival, also for the memory of this task.
func (s *streams) color(id int) Color {
	switch task := max(id, s.taskOf(id)); {
	case task > 0:
		return TaskColor(task-1, s.tasks)
	case id == results.PenaltyID:
		return Ink
	}
	return Muted
}

// style is a solid line for tasks and dashes for what holds on to finished ones.
func (s *streams) style(id int) Style {
	dash := []vg.Length{4, 2}
	switch {
	case id > 0:
		return Style{Color: s.color(id), Width: 1.4}
	case id == results.PenaltyID:
		dash = []vg.Length{6, 2, 1.5, 2}
	case id < 0 && s.taskOf(id) == 0 && s.several:
		dash = []vg.Length{1.5, 2}
	}
	return Style{Color: s.color(id), Width: 1.2, Dashes: dash}
}

// key names the streams, the memory last; of many tasks only the first, the middle one and the
// last, since the colours between them follow the order.
func (s *streams) key() []KeyEntry {
	var tasks, memory []KeyEntry
	for _, id := range s.ids {
		entry := KeyEntry{Label: s.name(id), Line: s.style(id).LineStyle()}
		switch task := max(id, s.taskOf(id)); {
		case task > 0 && s.tasks > 8 && task != 1 && task != s.tasks-s.tasks/2 && task != s.tasks:
		case id > 0:
			tasks = append(tasks, entry)
		default:
			memory = append(memory, entry)
		}
	}
	return append(tasks, memory...)
}
