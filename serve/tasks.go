package serve

import (
	"context"
	"encoding/json"
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
	if err := s.awaitWhole(ctx); err != nil {
		return nil, err
	}
	return s.describe(s.learner.Tasks()), nil
}

func (s *Service) describe(tasks []pcl.TaskInfo) []described {
	out := []described{}
	for _, t := range tasks {
		d := described{t.ID, t.Name, t.Classes, t.ClassNames, t.Ended, t.Paused, nil, s.skipped.of(t.ID), s.spoilt.of(t.ID)}
		if n, ok := s.saved.of(t.ID); ok {
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
	if err := s.admit(q); err != nil {
		return nil, err
	}
	task, err := s.newTask(q.Name, q.Classes, q.Names)
	if err != nil {
		return nil, err
	}
	if err := s.reserve(s.learner.LastID() + 1); err != nil {
		return nil, err
	}
	id, err := s.attach(ctx, task)
	if err != nil {
		return nil, err
	}
	if err := s.renew(); err != nil {
		return nil, ours(fmt.Errorf("task %d has begun, but predictions do not know it yet: %w", id, err))
	}
	return map[string]int{"id": id}, nil
}

// attach attaches a task, which nobody knows before the journal has it.
func (s *Service) attach(ctx context.Context, task pcl.Task) (id int, err error) {
	s.still.RLock()
	defer s.still.RUnlock()
	if err := s.keep(record{Verb: "begins"}, nil, func() {}); err != nil { // before there is a task to take back
		return 0, err
	}
	if id, err = s.learner.AttachContext(ctx, task); err != nil {
		return 0, err
	}
	if err := s.reserve(id); err != nil { // the program may have attached tasks meanwhile
		return 0, err
	}
	err = s.introduce(id, task)
	if err != nil {
		task.Stream.(*data.PushStream).End() // and so does the task
	}
	return id, err
}

// introduce lets requests reach the stream of a task when the journal has the task.
func (s *Service) introduce(id int, task pcl.Task) error {
	r := record{Verb: "tasks", Task: id, Name: task.Name, Classes: task.Classes, Names: task.ClassNames}
	return s.keep(r, nil, func() {
		if _, known := s.saved.of(id); !known && s.journal != nil {
			s.saved.set(id, 0)
		}
		s.streams.Store(id, task.Stream)
	})
}

// adopt introduces a task that the program has attached, so that its samples are not without it in
// the journal.
func (s *Service) adopt(id int) error {
	if _, known := s.streams.Load(id); known || s.journal == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.still.RLock()
	defer s.still.RUnlock()
	if _, known := s.streams.Load(id); known {
		return nil
	}
	task, err := s.learner.Task(id)
	if err != nil || task.Stream == nil {
		return err
	}
	return s.introduce(id, task)
}

// admit fails if a task may not begin. Call it with s.mu held until the task has begun.
func (s *Service) admit(q toBegin) error {
	if len(q.Classes) == 0 {
		return errors.New(`"classes" are missing: those of the task, as whole numbers`)
	}
	all, tasks := slices.Clone(q.Classes), s.learner.Tasks()
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
	if err := s.checkList(tasks, q); err != nil {
		return err
	}
	return s.checkRunning(tasks)
}

// checkList fails if the list of tasks would be too long with another one: nobody could read it.
func (s *Service) checkList(tasks []pcl.TaskInfo, q toBegin) error {
	list, err := json.Marshal(append(s.describe(tasks), described{Name: q.Name, Classes: q.Classes, Names: q.Names}))
	if most := s.options.MaxBuffered / 8; err == nil && len(list) > most { // twice as much finds room
		err = fmt.Errorf("the list of tasks, with classes and names, would have %d bytes; the service takes up to %d, "+
			"an eighth of Options.MaxBuffered", len(list), most)
	}
	return err
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

// change does what a request asks for of a task that runs: first, which may refuse it, and, when it
// is kept, then.
func (s *Service) change(
	verb string, first func(id int) error, then func(*data.PushStream),
) func(context.Context, onTask) (any, error) {
	return func(ctx context.Context, q onTask) (any, error) {
		done, err := s.changing(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		stream, err := s.stream(q)
		if err != nil {
			return nil, err
		}
		s.still.RLock()
		defer s.still.RUnlock()
		check := func() error {
			if s.current(q.Task, stream) != nil {
				return fmt.Errorf("task %d has ended", q.Task)
			}
			return first(q.Task)
		}
		return struct{}{}, s.keep(record{Verb: verb, Task: q.Task}, check, func() { then(stream) })
	}
}

// end, pause and resume are the requests of these names. Their learner may be there later than they
// are.
func (s *Service) end() func(context.Context, onTask) (any, error) {
	return s.change("end", func(int) error { return nil }, (*data.PushStream).End)
}

func (s *Service) pause() func(context.Context, onTask) (any, error) {
	return s.change("pause", func(id int) error { return s.learner.Pause(id) }, func(*data.PushStream) {})
}

func (s *Service) resume() func(context.Context, onTask) (any, error) {
	return s.change("resume", func(id int) error { return s.learner.Resume(id) }, func(*data.PushStream) {})
}

// toDetach is a request to end a task at once.
type toDetach struct {
	onTask
	Keep *bool `json:"keep"` // nil stands for true
}

// detach ends a task at once. A request that waits for room in its stream is told so.
func (s *Service) detach(ctx context.Context, q toDetach) (any, error) {
	done, err := s.changing(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, err := s.stream(q.onTask)
	if err != nil {
		return nil, err
	}
	s.still.RLock()
	defer s.still.RUnlock()
	r := record{Verb: "detach", Task: q.Task, Keep: q.Keep == nil || *q.Keep}
	if err := s.learner.DetachContext(ctx, q.Task, r.Keep); err != nil {
		return nil, err
	}
	defer stream.End() // behind what comes before it in the journal
	s.streams.Delete(q.Task)
	r.Fetched = s.countFetched(q.Task)
	return struct{}{}, s.keep(r, nil, func() {})
}

// countFetched counts the samples of a task that was detached: those which training had fetched.
func (s *Service) countFetched(id int) int {
	t, _ := s.task(id)
	if s.journal != nil {
		s.saved.set(id, t.Samples)
	}
	return t.Samples
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
	if _, err := s.task(q.Task); err != nil {
		return nil, err
	}
	if err := s.checkRunning(s.learner.Tasks()); err != nil {
		return nil, err
	}
	s.still.RLock()
	defer s.still.RUnlock()
	task, err := s.reattached(q.Task)
	if err != nil {
		return nil, err
	}
	stream := task.Stream.(*data.PushStream)
	err = s.keep(record{Verb: "reattach", Task: q.Task}, nil, func() { s.streams.Store(q.Task, stream) })
	if err != nil {
		stream.End() // and so does the task
	}
	return struct{}{}, err
}

// reattached begins a task again, which nobody knows yet.
func (s *Service) reattached(id int) (pcl.Task, error) {
	old, err := s.task(id)
	if err != nil {
		return pcl.Task{}, err
	}
	task, err := s.newTask("", old.Classes, nil)
	if err != nil {
		return pcl.Task{}, err
	}
	return task, s.learner.Reattach(id, task)
}
