package serve

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fail"
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
	Skipped int      `json:"skipped_batches,omitempty"` // since the service began
	// Spoilt is how often one of its samples, new or stored, was left out of a batch that it would have spoilt.
	Spoilt int `json:"skipped_samples,omitempty"`
}

func (s *Service) list() any {
	out, saved := []described{}, *s.saved.Load()
	for _, t := range s.learner.Tasks() {
		d := described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended, t.Paused, nil, s.skipped.of(t.ID), s.spoilt.of(t.ID)}
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
	s.reserve(s.learner.Arrived() + 1)
	id := fail.Or(s.learner.AttachContext(ctx, task))
	s.streams.Store(id, task.Stream)
	p, err := s.learner.Snapshot()
	if err != nil {
		ours(fmt.Errorf("task %d has begun, but predictions do not know it yet: %w", id, err))
	}
	s.offer(p)
	return map[string]int{"id": id}
}

// admit fails if no task of these classes may begin. Call it with s.mu held until the task has begun.
func (s *Service) admit(classes []int) {
	fail.When(len(classes) == 0, "\"classes\" are missing: those of the task, as whole numbers")
	all, tasks := slices.Clone(classes), s.learner.Tasks()
	for _, t := range tasks {
		all = append(all, t.Classes...)
	}
	if s.learner.Options().Increment != "task" { // a class counts once
		slices.Sort(all)
		all = slices.Compact(all)
	}
	fail.When(len(all) > s.options.MaxClasses, "there would be %d classes; the service takes up to %d", len(all), s.options.MaxClasses)
	fail.When(len(tasks) >= s.options.MaxKept, "the service keeps up to %d tasks (Options.MaxKept)", s.options.MaxKept)
	s.checkRunning(tasks)
}

// checkRunning fails if as many tasks run as may. Call it with s.mu held until the task has begun.
func (s *Service) checkRunning(tasks []pcl.TaskInfo) {
	running := 0
	for _, t := range tasks {
		if !t.Ended {
			running++
		}
	}
	fail.When(running >= s.options.MaxTasks, "%d tasks run, and the service takes no more at once: end one", running)
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
	stream := s.stream(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	fail.If(s.learner.DetachContext(ctx, id, q.Keep == nil || *q.Keep))
	s.streams.Delete(id)
	stream.End()
	return struct{}{}
}

// reattach begins a task again that has ended, with a new stream.
func (s *Service) reattach(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.learner.Tasks()
	at := slices.IndexFunc(all, func(t pcl.TaskInfo) bool { return t.ID == id })
	fail.When(at < 0, "there is no task %d", id)
	s.checkRunning(all)
	task := fail.Or(s.newTask("", all[at].Classes, nil))
	fail.If(s.learner.Reattach(id, task))
	s.streams.Store(id, task.Stream)
}
