package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/pcl"
)

// described is a task as the answer to GET /tasks has it.
type described struct {
	ID      int      `json:"id"`
	Name    string   `json:"name"`
	Classes []int    `json:"classes"`
	Names   []string `json:"names,omitempty"`
	Ended   bool     `json:"ended"`
	Paused  bool     `json:"paused,omitempty"`
	Saved   *int     `json:"saved"`                     // how many of its samples the last save has; null if it has not even the task
	Skipped int64    `json:"skipped_batches,omitempty"` // since the service began
}

func (s *Service) list(ctx context.Context, _ *arrived) (any, error) {
	out, saved := []described{}, *s.saved.Load()
	err := s.working.do(ctx, func() error {
		for _, t := range s.learner.Tasks() {
			d := described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended, t.Paused, nil, s.skippedOf(t.ID)}
			if n, ok := saved[t.ID]; ok {
				d.Saved = &n
			}
			out = append(out, d)
		}
		return nil
	})
	return out, err
}

func (s *Service) begin(ctx context.Context, q *arrived) (any, error) {
	var name string
	var classes []int
	var names []string
	if err := q.read(ctx, fields{"name": &name, "classes": &classes, "names": &names}); err != nil {
		return nil, err
	}
	if err := checkNames(append(names, name)...); err != nil {
		return nil, err
	}
	var id int
	err := s.changing(ctx, func() (err error) {
		id, err = s.attach(ctx, name, classes, names)
		return err
	})
	return map[string]int{"id": id}, err
}

// attach begins a task. Predictions know its classes from then on.
func (s *Service) attach(ctx context.Context, name string, classes []int, names []string) (id int, err error) {
	if id, err = s.admitted(ctx, name, classes, names); err != nil {
		return 0, err
	}
	if err := s.renew(); err != nil {
		return id, internalError{fmt.Errorf("task %d has begun, but predictions do not know it yet: %w", id, err)}
	}
	return id, nil
}

// admitted attaches a task to the learner.
func (s *Service) admitted(ctx context.Context, name string, classes []int, names []string) (id int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admit(classes); err != nil {
		return 0, err
	}
	task, err := s.newTask(name, classes, names)
	if err != nil {
		return 0, err
	}
	if err := s.reserve(s.learner.Arrived() + 1); err != nil {
		return 0, internalError{err}
	}
	if id, err = s.learner.AttachContext(ctx, task); err == nil {
		s.streams.Store(id, task.Stream)
	}
	return id, err
}

// change reads a request that names a task and perhaps more, and calls f, which changes the task.
func (s *Service) change(ctx context.Context, q *arrived, more fields, f func(id int) error) (any, error) {
	var id int
	all := fields{"task": &id}
	maps.Copy(all, more)
	if err := q.read(ctx, all); err != nil {
		return nil, err
	}
	if id == 0 {
		return nil, errNoTask
	}
	return struct{}{}, s.changing(ctx, func() error { return f(id) })
}

// onTask answers requests that name nothing but a task, which f changes.
func (s *Service) onTask(f func(id int) error) func(context.Context, *arrived) (any, error) {
	return func(ctx context.Context, q *arrived) (any, error) { return s.change(ctx, q, nil, f) }
}

func (s *Service) end(id int) error {
	stream, err := s.stream(id)
	if err == nil {
		stream.End()
	}
	return err
}

// detach ends a task at once. A request that waits for room in its stream is told so.
func (s *Service) detach(ctx context.Context, q *arrived) (any, error) {
	keep := true
	return s.change(ctx, q, fields{"keep": &keep}, func(id int) error {
		stream, err := s.stream(id)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if err = s.learner.DetachContext(ctx, id, keep); err == nil {
			s.streams.Delete(id)
			stream.End()
		}
		return err
	})
}

// reattach begins a task again that has ended, with a new stream.
func (s *Service) reattach(id int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.learner.Tasks()
	at := slices.IndexFunc(all, func(t pcl.TaskInfo) bool { return t.ID == id })
	if at < 0 {
		return fmt.Errorf("there is no task %d", id)
	}
	if err := s.another(all); err != nil {
		return err
	}
	task, err := s.newTask("", all[at].Classes, nil)
	if err != nil {
		return err
	}
	if err = s.learner.Reattach(id, task); err == nil {
		s.streams.Store(id, task.Stream)
	}
	return err
}
