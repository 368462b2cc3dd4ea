package serve

import (
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/data"
)

var errNoTask = errors.New("\"task\" is missing: the id that POST /tasks has answered")

// stream returns that of a task that runs.
func (s *Service) stream(id int) (*data.Push, error) {
	if id == 0 {
		return nil, errNoTask
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
