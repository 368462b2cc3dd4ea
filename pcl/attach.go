package pcl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// Attach adds a task, which takes part from the next step on, and returns its id. Ids count from 1
// in order of arrival; id 0 stands for the memory of tasks that have ended. Tasks may be attached
// at any time. Attach reads the first batch of the task's stream, unless the stream is not ready.
// After an error the learner is unchanged. A task that has ended and comes back is attached by
// [Learner.Reattach].
func (l *Learner) Attach(t Task) (id int, err error) { return l.AttachContext(context.Background(), t) }

// AttachContext is [Learner.Attach], but gives up, and returns the error of ctx, when ctx ends
// before its turn.
func (l *Learner) AttachContext(ctx context.Context, t Task) (id int, err error) {
	t.require()
	return callFor(ctx, l, "attach", func() (int, error) {
		t.Classes, t.ClassNames = slices.Clone(t.Classes), slices.Clone(t.ClassNames)
		a := &attached{
			Task: t, id: l.tasks.registry.last() + 1, samples: new(atomic.Int64),
			admit: admission(l.method), features: l.options.Features,
		}
		if err := a.begin(func() error { return l.beginNew(a) }); err != nil {
			return 0, err
		}
		l.started(a)
		return a.id, nil
	})
}

// require panics if a task has no stream.
func (t Task) require() {
	if t.Stream == nil {
		panic("pcl: a task needs a Stream")
	}
}

// started is called when a task has begun.
func (l *Learner) started(t *attached) {
	l.tasks.start(t)
	l.changed()
}

// changed is called when a task has come or gone.
func (l *Learner) changed() {
	l.version++
	l.prediction.outdate()
	l.ready.notify()
}

// Reattach restarts an ended task with a new stream: it keeps its outputs, and its samples stay in
// the memory. When it ends again, old and new samples compete for the task's places, at random or,
// if the method ranks samples, in one ranking. Test, if t has any, replaces the old test samples;
// the name and the classes stay what they were. After an error the learner is unchanged.
func (l *Learner) Reattach(id int, t Task) error {
	t.require()
	return l.call(context.Background(), "reattach", func() error {
		old, err := l.tasks.registry.get(id)
		if err != nil {
			return err
		}
		name := label(id, old.Name)
		if l.tasks.running.get(id) != nil {
			return fmt.Errorf("%s has not ended", name)
		}
		if t.Classes != nil && !slices.Equal(t.Classes, old.Classes) {
			return fmt.Errorf("%s has classes %v, not %v: attach a task of its own for others",
				name, old.Classes, t.Classes)
		}
		a := &attached{
			Task: old.Task, id: id, samples: old.samples, admit: admission(l.method), features: l.options.Features,
		}
		if a.Stream = t.Stream; t.Test != nil {
			a.Test = t.Test
		}
		if err := a.begin(func() error { return l.beginAgain(a) }); err != nil {
			return err
		}
		if t.Test != nil {
			l.tasks.registry.test(id, t.Test)
		}
		l.tasks.countEnded(id, -1)
		l.started(a)
		return nil
	})
}

// begin does what a task needs to begin. If it fails, nothing of the task is left.
func (t *attached) begin(open func() error) error {
	if err := open(); err != nil {
		t.free()
		return fmt.Errorf("%s: %w", label(t.id, t.Name), err)
	}
	return nil
}

// beginNew opens a new task and gives it its outputs. The classifier grows before the first batch
// is fetched, which cannot be given back; outputs that no task has do no harm if the stream then
// fails.
func (l *Learner) beginNew(t *attached) error {
	registry := &l.tasks.registry
	head, err := registry.next(t.Classes)
	if err != nil {
		return err
	}
	err = cmp.Or(l.options.fitsLoss(t.Classes, head), t.checkNames(registry.names), fitsMethod(l.method, t.id, head))
	if err != nil {
		return err
	}
	if err := l.growFor(head); err != nil {
		return err
	}
	if err := l.open(t); err != nil {
		return err
	}
	registry.add(t.Task, head, t.samples)
	return nil
}

// beginAgain opens a task that has ended. One that came with another network may not fit the
// method.
func (l *Learner) beginAgain(t *attached) error {
	if err := fitsMethod(l.method, t.id, l.tasks.registry.head(t.id)); err != nil {
		return err
	}
	return l.open(t)
}

func (l *Learner) open(t *attached) error {
	wanted := candidates(l.method, l.memory.Quota(t.Classes))
	return t.open(l.network.programs.Lane(t.id), memory.NewReservoir(t.id, wanted, l.options.Seed), l.ready.notify)
}

// Detach ends a task before its stream has ended, for example because the stream keeps failing or
// is no longer wanted. If keep is true, the samples collected from the task enter the memory, as
// they do when a stream ends; otherwise they are discarded. Samples that are already in the memory
// stay there. Batches that have been fetched but not trained on are dropped. If the method fails
// while it stores the samples, the learner stops for good, as after such a failure in
// [Learner.Step].
func (l *Learner) Detach(id int, keep bool) error {
	return l.DetachContext(context.Background(), id, keep)
}

// DetachContext is [Learner.Detach], but gives up, and returns the error of ctx, when ctx ends
// before its turn.
func (l *Learner) DetachContext(ctx context.Context, id int, keep bool) error {
	return l.call(ctx, "detach", func() error {
		known, err := l.tasks.registry.get(id)
		if err != nil {
			return err
		}
		t := l.tasks.running.get(id)
		if t == nil {
			return fmt.Errorf("%s has ended already", label(id, known.Name))
		}
		end := func() error { return retire(l.context(), t, keep) }
		if err := l.turns.attempt(byMethod(l.method), end); err != nil {
			return err
		}
		l.changed()
		return nil
	})
}

// admission is what a method demands of each sample; nil if it takes all.
func admission(m *method.Started) func(x []float32) error {
	switch {
	case m.Analytic != nil:
		return m.Analytic.Admit
	case m.Observer != nil:
		return m.Observer.Admit
	}
	return nil
}

// fitsMethod returns an error if the method could not be trained on a task with these outputs, or
// on its samples in the memory.
func fitsMethod(m *method.Started, task int, h head) error {
	for _, id := range []int{task, method.MemoryID} {
		loss := lossOf(m, id)
		if h.contiguous() || !loss.Own && loss.TaskMargin == 0 {
			continue
		}
		does, instead := "sets a margin around each task", "set its task margin to 0"
		if loss.Own {
			does = "lets only the classes of a row's own task compete"
			instead = "use it for tasks that have no class in common, or leave it out"
		}
		return fmt.Errorf("%s %s, but its outputs lie among those of others, since they share classes: %s",
			byMethod(m), does, instead)
	}
	return nil
}

// fitsLoss returns an error if a new task with these classes does not have one output for each
// target value.
func (o *Options) fitsLoss(classes []int, h head) error {
	loss := o.compared()
	switch {
	case loss == nil:
		return nil
	case len(classes) != loss.Targets():
		return fmt.Errorf("it has %d classes; with loss %s, classes name the outputs: want %d",
			len(classes), loss.Key(), loss.Targets())
	case !h.inOrder(classes):
		return fmt.Errorf(
			"some of its classes %v belong to other tasks, and some do not: with loss %s a task has outputs "+
				"of its own, or all outputs of another task in the same order", classes, loss.Key())
	}
	return nil
}
