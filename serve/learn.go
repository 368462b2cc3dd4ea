package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

func (s *Service) learn(ctx context.Context, q *arrived) (any, error) {
	var task int
	var classes []int
	var done taken
	x := s.samples()
	if err := q.read(ctx, fields{"task": &task, "x": x, "classes": &classes}); err != nil {
		return done, err
	}
	stream, err := s.stream(task)
	if err != nil {
		return done, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	err = s.changing(ctx, func() (err error) {
		done.Taken, err = stream.Push(ctx, x.values, classes...)
		return err
	})
	if errors.Is(err, data.ErrEnded) {
		err = fmt.Errorf("task %d was ended, and takes no more samples", task)
	}
	return done, err
}

var errNoTask = errors.New("\"task\" is missing: the id that POST /tasks has answered")

// stream returns that of a task that runs.
func (s *Service) stream(id int) (*data.Push, error) {
	if id == 0 {
		return nil, errNoTask
	}
	if stream, ok := s.streams.Load(id); ok {
		return stream.(*data.Push), nil
	}
	if _, err := taskOf(s.learner.Tasks(), id); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("task %d has ended", id)
}

func taskOf(all []pcl.TaskInfo, id int) (pcl.TaskInfo, error) {
	at := slices.IndexFunc(all, func(t pcl.TaskInfo) bool { return t.ID == id })
	if at < 0 {
		return pcl.TaskInfo{}, fmt.Errorf("there is no task %d", id)
	}
	return all[at], nil
}

// forget drops the streams of tasks that have ended, which are as large as the samples that may wait in them.
func (s *Service) forget() {
	for _, t := range s.learner.Tasks() {
		if t.Ended {
			s.streams.Delete(t.ID)
		}
	}
}
