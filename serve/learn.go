package serve

import (
	"context"
	"errors"
	"fmt"

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
	if stream, ok := s.streams.Load(id); ok {
		return stream.(*data.Push), nil
	}
	switch {
	case id == 0:
		return nil, errNoTask
	case id < 0 || id > s.learner.Arrived():
		return nil, fmt.Errorf("there is no task %d", id)
	}
	return nil, fmt.Errorf("task %d has ended", id)
}
