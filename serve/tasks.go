package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	Paused  bool     `json:"paused,omitempty"`
	Saved   *int     `json:"saved"`                     // how many of its samples the last save has; null if it has not even the task
	Skipped int      `json:"skipped_batches,omitempty"` // since the service began
	// Spoilt is how often one of its samples, new or stored, was left out of a batch that it would
	// have spoilt.
	Spoilt int `json:"skipped_samples,omitempty"`
}

func (s *Service) list(ctx context.Context) (any, error) {
	if err := s.await(ctx, s.ready); err != nil {
		return nil, err
	}
	out, saved := []described{}, *s.saved.Load()
	for _, t := range s.learner.Tasks() {
		d := described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended, t.Paused, nil, s.skipped.of(t.ID), s.spoilt.of(t.ID)}
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

// begin begins a task. Predictions know its classes from then on.
func (s *Service) begin(ctx context.Context, q toBegin) (any, error) {
	for _, name := range append(q.Names, q.Name) {
		if len(name) > maxName {
			return nil, fmt.Errorf("the name %.20q… has %d bytes; want up to %d", name, len(name), maxName)
		}
	}
	done, err := s.changing(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admit(q.Classes); err != nil {
		return nil, err
	}
	task, err := s.newTask(q.Name, q.Classes, q.Names)
	if err != nil {
		return nil, err
	}
	if err := s.reserve(s.learner.LastID() + 1); err != nil {
		return nil, err
	}
	id, err := s.learner.AttachContext(ctx, task)
	if err != nil {
		return nil, err
	}
	if err := s.reserve(id); err != nil { // the program may have attached tasks meanwhile
		return nil, err
	}
	s.streams.Store(id, task.Stream)
	if err := s.renew(); err != nil {
		return nil, ours(fmt.Errorf("task %d has begun, but predictions do not know it yet: %w", id, err))
	}
	return map[string]int{"id": id}, nil
}

// admit fails if no task of these classes may begin. Call it with s.mu held until the task has
// begun.
func (s *Service) admit(classes []int) error {
	if len(classes) == 0 {
		return errors.New(`"classes" are missing: those of the task, as whole numbers`)
	}
	all, tasks := slices.Clone(classes), s.learner.Tasks()
	for _, t := range tasks {
		all = append(all, t.Classes...)
	}
	if s.learner.Options().Increment != "task" { // a class counts once
		slices.Sort(all)
		all = slices.Compact(all)
	}
	if len(all) > s.options.MaxClasses {
		return fmt.Errorf("there would be %d classes; the service takes up to %d", len(all), s.options.MaxClasses)
	}
	if len(tasks) >= s.options.MaxKept {
		return fmt.Errorf("the service keeps up to %d tasks (Options.MaxKept)", s.options.MaxKept)
	}
	return s.checkRunning(tasks)
}

// checkRunning fails if as many tasks run as may. Call it with s.mu held until the task has begun.
func (s *Service) checkRunning(tasks []pcl.TaskInfo) error {
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

// change does what a request asks for of a task that runs.
func (s *Service) change(do func(id int, stream *data.PushStream) error) func(context.Context, onTask) (any, error) {
	return func(ctx context.Context, q onTask) (any, error) {
		done, err := s.changing(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		stream, err := s.stream(q)
		if err == nil {
			err = do(q.Task, stream)
		}
		return struct{}{}, err
	}
}

// toDetach is a request to end a task at once.
type toDetach struct {
	onTask
	Keep *bool `json:"keep"` // nil stands for true
}

// detach ends a task at once. A request that waits for room in its stream is told so.
func (s *Service) detach(ctx context.Context, q toDetach) (any, error) {
	return s.change(func(id int, stream *data.PushStream) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := s.learner.DetachContext(ctx, id, q.Keep == nil || *q.Keep); err != nil {
			return err
		}
		s.streams.Delete(id)
		stream.End()
		return nil
	})(ctx, q.onTask)
}

// reattach begins a task again that has ended, with a new stream.
func (s *Service) reattach(ctx context.Context, q onTask) (any, error) {
	done, err := s.changing(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.task(q.Task)
	if err != nil {
		return nil, err
	}
	if err := s.checkRunning(s.learner.Tasks()); err != nil {
		return nil, err
	}
	task, err := s.newTask("", old.Classes, nil)
	if err != nil {
		return nil, err
	}
	if err := s.learner.Reattach(q.Task, task); err != nil {
		return nil, err
	}
	s.streams.Store(q.Task, task.Stream)
	return struct{}{}, nil
}
