package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// toLearn is a request with samples of a task.
type toLearn struct {
	onTask
	X       samples `json:"x"`
	Classes []int   `json:"classes"`
}

// learnt is the answer to toLearn.
type learnt struct {
	Taken int `json:"taken"`
	Saved int `json:"saved"` // how many samples of the task are on the disk, as in described
}

// partly is an error after which some samples were taken.
type partly struct {
	error
	taken int
}

func (p partly) Unwrap() error { return p.error }

func (s *Service) learn(ctx context.Context, q toLearn) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	taken, err := s.push(ctx, q)
	s.metrics.noteSamples(taken, len(q.Classes))
	if err != nil {
		return nil, partly{err, taken}
	}
	saved, _ := s.saved.of(q.Task)
	return learnt{taken, saved}, nil
}

// push hands the samples of a request to the stream of their task, and says how many it took.
func (s *Service) push(ctx context.Context, q toLearn) (taken int, err error) {
	done, err := s.changing(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	stream, err := s.stream(q.onTask)
	if err != nil {
		return 0, err
	}
	if err := q.X.of(s.width()); err != nil {
		return 0, err
	}
	if err := cmp.Or(stream.Check(q.X.values, q.Classes...), s.adopt(q.Task)); err != nil {
		return 0, err
	}
	for width := s.width(); taken < len(q.Classes) && err == nil; {
		n, failed := stream.Reserve(ctx, len(q.Classes)-taken)
		if err = failed; err == nil {
			err = s.take(q.Task, stream, q.X.values[taken*width:(taken+n)*width], q.Classes[taken:taken+n])
		}
		if err == nil {
			taken += n
		}
	}
	if errors.Is(err, data.ErrEnded) {
		err = fmt.Errorf("task %d was ended, and takes no more samples", q.Task)
	}
	return taken, err
}

// stream returns that of a task that runs.
func (s *Service) stream(q onTask) (*data.PushStream, error) {
	stream, ok := s.streams.Load(q.Task)
	if ok {
		return stream.(*data.PushStream), nil
	}
	info, err := s.task(q.Task)
	if err != nil {
		return nil, err
	}
	task, err := s.learner.Task(q.Task) // perhaps the program has attached it
	pushed, ok := task.Stream.(*data.PushStream)
	switch {
	case ok && err == nil:
		return pushed, nil
	case info.Ended:
		return nil, fmt.Errorf("task %d has ended", q.Task)
	}
	return nil, fmt.Errorf("task %d has a stream of the program's own, which takes no samples by requests", q.Task)
}

// task returns what is known of a task. An id that was given may be lost: the service was killed
// before it was saved.
func (s *Service) task(id int) (pcl.TaskInfo, error) {
	all := s.learner.Tasks()
	switch at := slices.IndexFunc(all, func(t pcl.TaskInfo) bool { return t.ID == id }); {
	case at >= 0:
		return all[at], nil
	case id == 0:
		return pcl.TaskInfo{}, errors.New(`"task" is missing: the id that POST /tasks has answered`)
	case id > 0 && id <= s.learner.LastID():
		return pcl.TaskInfo{}, fmt.Errorf("task %d is not here: if it was begun, the service was stopped before it was "+
			"saved; begin another one, and send all of its samples", id)
	}
	return pcl.TaskInfo{}, fmt.Errorf("there is no task %d", id)
}

// network answers with a file of the network as it is now, in the form in which write writes it.
func (s *Service) network(write func(*pcl.Network, io.Writer) error) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		if err := s.await(ctx, s.ready); err != nil {
			return nil, err
		}
		s.sending.Lock()
		defer s.sending.Unlock()
		trained, err := s.learner.Network() // holds up training only while the parameters are copied
		if err != nil {
			return nil, ours(err)
		}
		var file bytes.Buffer
		err = write(trained, &file)
		return file.Bytes(), ours(err)
	}
}
