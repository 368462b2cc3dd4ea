package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/data"
)

func (s *Service) learn(ctx context.Context, read reading) (any, error) {
	var task int
	var classes []int
	var done taken
	room := s.room()
	defer room.leave()
	x := s.samples(room)
	if err := read(fields{"task": &task, "x": x, "classes": &classes}); err != nil {
		return done, err
	}
	stream, err := s.stream(task)
	if err != nil {
		return done, err
	}
	err = s.changing(ctx, func() (err error) {
		done.Taken, err = stream.Push(ctx, x.values, classes...)
		return err
	})
	if errors.Is(err, data.ErrEnded) {
		err = fmt.Errorf("task %d was ended, and takes no more samples", task)
	}
	return done, err
}
