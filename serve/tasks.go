package serve

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fail"
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

func (s *Service) list() any {
	out, saved := []described{}, *s.saved.Load()
	for _, t := range s.learner.Tasks() {
		d := described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended, t.Paused, nil, s.skippedOf(t.ID)}
		if n, ok := saved[t.ID]; ok {
			d.Saved = &n
		}
		out = append(out, d)
	}
	return out
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
func (s *Service) begin(ctx context.Context, q toBegin) any {
	for _, name := range append(q.Names, q.Name) {
		fail.When(len(name) > maxName, "the name %.20q… has %d bytes; want up to %d", name, len(name), maxName)
	}
	defer s.changing(ctx)()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admit(q.Classes)
	task := fail.Or(s.newTask(q.Name, q.Classes, q.Names))
	if err := s.reserve(s.learner.Arrived() + 1); err != nil {
		fail.If(fault(err))
	}
	id := fail.Or(s.learner.AttachContext(ctx, task))
	s.streams.Store(id, task.Stream)
	if err := s.renew(); err != nil {
		fail.If(fault(fmt.Errorf("task %d has begun, but predictions do not know it yet: %w", id, err)))
	}
	return map[string]int{"id": id}
}

// admit fails if no task of these classes may begin. Call it with s.mu held until the task has begun.
func (s *Service) admit(classes []int) {
	fail.When(len(classes) == 0, "\"classes\" are missing: those of the task, as whole numbers")
	all, tasks := slices.Clone(classes), s.learner.Tasks()
	for _, t := range tasks {
		all = append(all, t.Classes...)
	}
	if s.learner.Options().Increment != scenario.TaskIncremental { // a class counts once
		slices.Sort(all)
		all = slices.Compact(all)
	}
	fail.When(len(all) > s.options.MaxClasses, "there would be %d classes; the service takes up to %d", len(all), s.options.MaxClasses)
	fail.When(len(tasks) >= s.options.MaxKept, "the service keeps up to %d tasks (Options.MaxKept)", s.options.MaxKept)
	fail.If(s.another(tasks))
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
func (s *Service) detach(ctx context.Context, q toDetach) any {
	id := q.id()
	defer s.changing(ctx)()
	stream := fail.Or(s.stream(id))
	s.mu.Lock()
	defer s.mu.Unlock()
	fail.If(s.learner.DetachContext(ctx, id, q.Keep == nil || *q.Keep))
	s.streams.Delete(id)
	stream.End()
	return struct{}{}
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
