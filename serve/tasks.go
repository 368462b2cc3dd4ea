package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	Saved   *int     `json:"saved"`                     // how many of its samples the last save has; null if it has not even the task
	Skipped int      `json:"skipped_batches,omitempty"` // since the service began
}

func (s *Service) list() (any, error) {
	out, saved := []described{}, *s.saved.Load()
	for _, t := range s.learner.Tasks() {
		d := described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended, t.Paused, nil, s.skippedOf(t.ID)}
		if n, ok := saved[t.ID]; ok {
			d.Saved = &n
		}
		out = append(out, d)
	}
	return out, nil
}

// toBegin is a request for a new task.
type toBegin struct {
	Name    string   `json:"name"`
	Classes []int    `json:"classes"`
	Names   []string `json:"names"`
}

// maxName is how many bytes a name of a task or a class may have.
const maxName = 200

func (s *Service) begin(ctx context.Context, q toBegin) (any, error) {
	for _, name := range append(q.Names, q.Name) {
		if len(name) > maxName {
			return nil, fmt.Errorf("the name %.20q… has %d bytes; want up to %d", name, len(name), maxName)
		}
	}
	var id int
	err := s.changing(ctx, func() (err error) {
		id, err = s.attach(ctx, q)
		return err
	})
	return map[string]int{"id": id}, err
}

// attach begins a task. Predictions know its classes from then on.
func (s *Service) attach(ctx context.Context, q toBegin) (id int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admit(q.Classes); err != nil {
		return 0, err
	}
	task, err := s.newTask(q.Name, q.Classes, q.Names)
	if err != nil {
		return 0, err
	}
	if err := s.reserve(s.learner.Arrived() + 1); err != nil {
		return 0, fault(err)
	}
	if id, err = s.learner.AttachContext(ctx, task); err != nil {
		return 0, err
	}
	s.streams.Store(id, task.Stream)
	if err := s.renew(); err != nil {
		return id, fault(fmt.Errorf("task %d has begun, but predictions do not know it yet: %w", id, err))
	}
	return id, nil
}

// admit returns an error if no task of these classes may begin. Call it with s.mu held until the task has begun.
func (s *Service) admit(classes []int) error {
	if len(classes) == 0 {
		return errors.New("\"classes\" are missing: those of the task, as whole numbers")
	}
	all, tasks := slices.Clone(classes), s.learner.Tasks()
	for _, t := range tasks {
		all = append(all, t.Classes...)
	}
	if s.learner.Options().Increment != scenario.TaskIncremental { // a class counts once
		slices.Sort(all)
		all = slices.Compact(all)
	}
	if n, most := len(all), s.options.MaxClasses; n > most {
		return fmt.Errorf("there would be %d classes; the service takes up to %d", n, most)
	}
	if most := s.options.MaxKept; len(tasks) >= most {
		return fmt.Errorf("the service keeps up to %d tasks (Options.MaxKept)", most)
	}
	return s.another(tasks)
}

// another returns an error if as many tasks run as may. Call it with s.mu held until the task has begun.
func (s *Service) another(tasks []pcl.TaskInfo) error {
	running := 0
	for _, t := range tasks {
		if !t.Ended {
			running++
		}
	}
	if running >= s.options.MaxTasks {
		return fmt.Errorf("%d tasks run, and the service takes no more at once: end one", running)
	}
	return nil
}

func (s *Service) end(id int) error {
	stream, err := s.stream(id)
	if err == nil {
		stream.End()
	}
	return err
}

// toDetach is a request to end a task at once.
type toDetach struct {
	onTask
	Keep *bool `json:"keep"` // nil stands for true
}

// detach ends a task at once. A request that waits for room in its stream is told so.
func (s *Service) detach(ctx context.Context, q toDetach) (any, error) {
	return struct{}{}, s.changingTask(ctx, q.onTask, func(id int) error {
		stream, err := s.stream(id)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if err = s.learner.DetachContext(ctx, id, q.Keep == nil || *q.Keep); err == nil {
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
