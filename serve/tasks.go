package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// described is a task as the answer to GET /tasks has it.
type described struct {
	ID      int      `json:"id"`
	Name    string   `json:"name"`
	Classes []int    `json:"classes"`
	Names   []string `json:"names,omitempty"`
	Ended   bool     `json:"ended"`
	Paused  bool     `json:"paused,omitempty"`
	Skipped int64    `json:"skipped_batches,omitempty"` // since the service began
}

func (s *Service) described(tasks []pcl.TaskInfo) []described {
	out := []described{}
	for _, t := range tasks {
		out = append(out, described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended, t.Paused, s.skippedOf(t.ID)})
	}
	return out
}

// admit returns an error if no task of these classes may begin. Call it with s.mu held until the task has begun.
func (s *Service) admit(classes []int) error {
	if len(classes) == 0 {
		return errors.New("\"classes\" are missing: those of the task, as whole numbers")
	}
	all, n := map[int]bool{}, len(classes)
	for _, c := range append(s.learner.Classes(), classes...) {
		all[c] = true
	}
	for _, t := range s.learner.Tasks() {
		n += len(t.Classes)
	}
	if s.learner.Options().Increment != scenario.TaskIncremental {
		n = len(all)
	}
	if n > s.options.MaxClasses {
		return fmt.Errorf("there would be %d classes; the service takes up to %d", n, s.options.MaxClasses)
	}
	return s.another()
}

// another returns an error if as many tasks run as may. Call it with s.mu held until the task has begun.
func (s *Service) another() error {
	running := 0
	for _, t := range s.learner.Tasks() {
		if !t.Ended {
			running++
		}
	}
	if running >= s.options.MaxTasks {
		return fmt.Errorf("%d tasks run, and the service takes no more at once: end one", running)
	}
	return nil
}

func (s *Service) begin(ctx context.Context, read reading) (any, error) {
	var name string
	var classes []int
	var names []string
	if err := read(fields{"name": &name, "classes": &classes, "names": &names}); err != nil {
		return nil, err
	}
	var id int
	err := s.changing(ctx, func() (err error) {
		id, err = s.attach(name, classes, names)
		return err
	})
	return map[string]int{"id": id}, err
}

// attach begins a task. Predictions know its classes from then on.
func (s *Service) attach(name string, classes []int, names []string) (id int, err error) {
	if id, err = s.admitted(name, classes, names); err != nil {
		return 0, err
	}
	if err := s.renew(); err != nil {
		return id, internalError{fmt.Errorf("task %d has begun, but predictions do not know it yet: %w", id, err)}
	}
	return id, nil
}

// admitted attaches a task to the learner.
func (s *Service) admitted(name string, classes []int, names []string) (id int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admit(classes); err != nil {
		return 0, err
	}
	task, err := s.newTask(name, classes, names)
	if err != nil {
		return 0, err
	}
	if id, err = s.learner.Attach(task); err == nil {
		s.streams.Store(id, task.Stream)
	}
	return id, err
}

// onTask reads a request that names a task and perhaps more, and calls f, which changes the task.
func (s *Service) onTask(ctx context.Context, read reading, more fields, f func(id int) error) (any, error) {
	var id int
	all := fields{"task": &id}
	maps.Copy(all, more)
	if err := read(all); err != nil {
		return nil, err
	}
	if id == 0 {
		return nil, errNoTask
	}
	return struct{}{}, s.changing(ctx, func() error { return f(id) })
}

func (s *Service) end(ctx context.Context, read reading) (any, error) {
	return s.onTask(ctx, read, nil, func(id int) error {
		stream, err := s.stream(id)
		if err == nil {
			stream.End()
		}
		return err
	})
}

func (s *Service) pause(ctx context.Context, read reading) (any, error) {
	return s.onTask(ctx, read, nil, s.learner.Pause)
}

func (s *Service) resume(ctx context.Context, read reading) (any, error) {
	return s.onTask(ctx, read, nil, s.learner.Resume)
}

// detach ends a task at once. Who waits for room in its stream is told that it was ended.
func (s *Service) detach(ctx context.Context, read reading) (any, error) {
	keep := true
	return s.onTask(ctx, read, fields{"keep": &keep}, func(id int) error {
		stream, err := s.stream(id)
		if err != nil {
			return err
		}
		s.mu.Lock()
		err = s.learner.Detach(id, keep)
		s.mu.Unlock()
		if err == nil {
			stream.End()
		}
		return err
	})
}

// reattach begins a task again that has ended, with a new stream.
func (s *Service) reattach(ctx context.Context, read reading) (any, error) {
	return s.onTask(ctx, read, nil, func(id int) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		all := s.learner.Tasks()
		if id < 1 || id > len(all) {
			return fmt.Errorf("there is no task %d", id)
		}
		if err := s.another(); err != nil {
			return err
		}
		task, err := s.newTask("", all[id-1].Classes, nil)
		if err != nil {
			return err
		}
		if err := s.learner.Reattach(id, task); err != nil {
			return err
		}
		s.streams.Store(id, task.Stream)
		return nil
	})
}
