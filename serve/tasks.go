package serve

import (
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// described is a task as the answer to GET /tasks has it.
type described struct {
	ID      int      `json:"id"`
	Name    string   `json:"name"`
	Classes []int    `json:"classes"`
	Names   []string `json:"names,omitempty"`
	Ended   bool     `json:"ended"`
	Skipped int64    `json:"skipped_batches,omitempty"` // since the service began
}

func (s *Service) described(tasks []pcl.TaskInfo) []described {
	out := []described{}
	for _, t := range tasks {
		out = append(out, described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended, s.skippedOf(t.ID)})
	}
	return out
}

// admit returns an error if no task of these classes may begin.
func (s *Service) admit(classes []int) error {
	if len(classes) == 0 {
		return errors.New("\"classes\" are missing: those of the task, as whole numbers")
	}
	all := map[int]bool{}
	for _, c := range append(s.learner.Classes(), classes...) {
		all[c] = true
	}
	if len(all) > s.options.MaxClasses {
		return fmt.Errorf("there would be %d classes; the service takes up to %d", len(all), s.options.MaxClasses)
	}
	return nil
}

// stream returns that of a task that runs.
func (s *Service) stream(id int) (*data.Push, error) {
	if id == 0 {
		return nil, errors.New("\"task\" is missing: the id that POST /tasks has answered")
	}
	if stream, ok := s.streams.Load(id); ok {
		return stream.(*data.Push), nil
	}
	for _, t := range s.learner.Tasks() {
		if t.ID == id && t.Ended {
			return nil, fmt.Errorf("task %d has ended", id)
		}
	}
	return nil, fmt.Errorf("there is no task %d", id)
}

// forget drops the streams of tasks that have ended, which are as large as the samples that may wait in them.
func (s *Service) forget() {
	for _, t := range s.learner.Tasks() {
		if t.Ended {
			s.streams.Delete(t.ID)
		}
	}
}
