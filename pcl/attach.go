package pcl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Attach adds a task, which takes part from the next step on, and returns its id. Ids count from 1 in order of
// arrival; id 0 stands for the memory of tasks that have ended. Tasks may be attached at any time. Attach reads
// the first batch of the task's stream, unless the stream is not ready. After an error the learner is unchanged.
// A task that has ended and comes back is attached by [Learner.Reattach].
func (l *Learner) Attach(t Task) (id int, err error) { return l.AttachContext(context.Background(), t) }

// AttachContext is [Learner.Attach], but gives up, and returns the error of ctx, when ctx ends before its turn.
func (l *Learner) AttachContext(ctx context.Context, t Task) (id int, err error) {
	t.require()
	return callFor(ctx, l, "attach", func() (int, error) {
		t.Classes, t.ClassNames = slices.Clone(t.Classes), slices.Clone(t.ClassNames)
		a := &attached{Task: t, id: l.roll.last() + 1, samples: new(atomic.Int64)}
		if err := l.begin(a); err != nil {
			a.free()
			return 0, fmt.Errorf("%s: %w", label(a.id, a.Name), err)
		}
		l.roll.add(a.Task, a.samples)
		l.arrived(a)
		return a.id, nil
	})
}

// require panics if a task has no stream.
func (t Task) require() {
	if t.Stream == nil {
		panic("pcl: a task needs a Stream")
	}
}

// arrived is called when a task has begun.
func (l *Learner) arrived(t *attached) {
	l.tasks = l.tasks.with(t)
	l.changed()
}

// changed is called when a task has come or gone.
func (l *Learner) changed() {
	l.version++
	l.prepared = 0
	l.bell.ring()
}

// listen has a task's stream ring the bell.
func (l *Learner) listen(t *attached) error {
	return guarded("the stream", func() error {
		if s, ok := t.Stream.(data.Notifier); ok {
			t.silence = s.Notify(l.bell.ring)
		}
		return nil
	})
}

// Reattach restarts an ended task with a new stream: it keeps its outputs, and its samples stay in the memory. When it ends
// again, old and new samples compete for the task's places, at random or, if the method ranks samples, in one ranking. Test,
// if t has any, replaces the old test samples; the name and the classes stay what they were. After an error the learner is
// unchanged.
func (l *Learner) Reattach(id int, t Task) error {
	t.require()
	return l.call(context.Background(), "reattach", func() error {
		old, running, err := find(id, l.roll, l.tasks)
		switch {
		case err != nil:
			return err
		case running != nil:
			return fmt.Errorf("%s has not ended", label(id, old.Name))
		case t.Classes != nil && !slices.Equal(t.Classes, old.Classes):
			return fmt.Errorf("%s has classes %v, not %v: attach a task of its own for others", label(id, old.Name), old.Classes, t.Classes)
		}
		a := &attached{Task: old.Task, id: id, samples: old.samples}
		if a.Stream = t.Stream; t.Test != nil {
			a.Test = t.Test
		}
		if err = l.fitsMethod(id, l.heads.Contiguous(id)); err == nil { // a task of another network may not fit
			err = l.open(a)
		}
		if err != nil {
			a.free()
			return fmt.Errorf("%s: %w", label(id, a.Name), err)
		}
		if t.Test != nil {
			l.roll.test(id, t.Test)
		}
		l.count(id, -1)
		l.arrived(a)
		return nil
	})
}

// begin opens a new task and gives it its outputs. The classifier grows before the first batch is fetched, which cannot be
// given back; outputs that no task has do no harm if the stream then fails.
func (l *Learner) begin(t *attached) error {
	outputs, err := l.outputsFor(t.Classes)
	if err == nil {
		err = t.checkNames(l.roll.names)
	}
	if err == nil {
		err = l.fitsMethod(t.id, l.heads.Together(t.Classes))
	}
	if err == nil && outputs > l.options.Model.Outputs() {
		err = l.grow(outputs)
	}
	if err == nil {
		err = l.open(t)
	}
	if err != nil {
		return err
	}
	return l.heads.Add(t.Classes)
}

// open fetches a task's first batch, if there is one yet, and has the stream say when there are more.
func (l *Learner) open(t *attached) error {
	if err := l.prepareBatches(t); err != nil {
		return err
	}
	switch err := t.fetch(t.current); err {
	case nil:
		t.ready = true
	case data.ErrNotReady:
	case io.EOF:
		return errors.New("its stream is empty")
	default:
		return err
	}
	t.reservoir = memory.NewReservoir(t.id, l.pool(t.Classes), l.options.Seed)
	return l.listen(t)
}

// Detach ends a task before its stream has ended, for example because the stream keeps failing or is no longer
// wanted. If keep is true, the samples collected from the task enter the memory, as they do when a stream ends;
// otherwise they are discarded. Samples that are already in the memory stay there. Batches that have been fetched but not
// trained on are dropped. If the method fails while it stores the samples, the learner stops for good, as after such a
// failure in [Learner.Step].
func (l *Learner) Detach(id int, keep bool) error {
	return l.DetachContext(context.Background(), id, keep)
}

// DetachContext is [Learner.Detach], but gives up, and returns the error of ctx, when ctx ends before its turn.
func (l *Learner) DetachContext(ctx context.Context, id int, keep bool) error {
	return l.call(ctx, "detach", func() error {
		known, t, err := find(id, l.roll, l.tasks)
		if err != nil {
			return err
		}
		if t == nil {
			return fmt.Errorf("%s has ended already", label(id, known.Name))
		}
		if l.failure = l.retire(t, keep); l.failure == nil {
			l.changed()
		}
		return l.failure
	})
}

// prepareBatches gives a task room for the batch that it trains on and the next one.
func (l *Learner) prepareBatches(t *attached) (err error) {
	if t.current, err = l.newBatchOn(t.id); err == nil {
		t.spare, err = l.newBatchOn(t.id)
	}
	return err
}

// pool returns how many samples of each class are collected while a task of these classes runs, as candidates
// for the memory. It is 0 if the method fills the memory itself, unless it wants samples for something else.
func (l *Learner) pool(classes []int) int {
	wanted := 0
	if c, ok := method.As[rehearsal.Penalty](l.options.Method); ok {
		wanted = c.Samples()
	}
	if _, ok := method.As[rehearsal.Storer](l.options.Method); ok {
		return wanted
	}
	quota := l.memory.Quota(classes)
	if c, ok := method.As[rehearsal.Curator](l.options.Method); ok && quota > 0 {
		quota = c.Pool(quota)
	}
	return max(quota, wanted)
}

// retire ends a task. If keep is true, the samples in its reservoir enter the memory.
func (l *Learner) retire(t *attached, keep bool) error {
	l.tasks = slices.DeleteFunc(slices.Clone(l.tasks), func(other *attached) bool { return other == t })
	l.count(t.id, 1)
	if keep {
		if err := l.remember(t); err != nil {
			return fmt.Errorf("%s: %w", label(t.id, t.Name), err)
		}
	}
	t.free()
	t.hush()
	return l.endRow(t.id)
}

// count adds to the number of ended tasks that have the outputs of a task.
func (l *Learner) count(id, change int) {
	for _, o := range l.heads.Of(id) {
		l.over[o] += change
	}
}

// endRow tells the method that a task's row has ended.
func (l *Learner) endRow(id int) error {
	return guarded(l.byMethod(), func() error {
		if s, ok := method.As[method.Stateful](l.options.Method); ok {
			s.End(id)
		}
		return nil
	})
}

// remember puts the samples of a task that has ended into the memory. A method that curates the memory decides
// which ones, and it may learn more from them.
func (l *Learner) remember(t *attached) error {
	return guarded(l.byMethod(), func() error {
		candidates := t.reservoir.Items()
		if _, ok := method.As[rehearsal.Storer](l.options.Method); ok {
			candidates = nil // the memory is filled already
		}
		if c, ok := method.As[rehearsal.Curator](l.options.Method); !ok {
			l.memory.Add(candidates)
		} else if err := c.Curate(lab{l: l}, t.id, candidates); err != nil {
			return err
		}
		return l.consolidate(t)
	})
}
