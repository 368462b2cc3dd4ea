package pcl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
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
		if err := a.begin(func() error { return l.beginNew(a) }); err != nil {
			return 0, err
		}
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
func (l *Learner) listen(t *attached) (err error) {
	defer recovered(&err, "the stream panicked")
	if s, ok := t.Stream.(data.Notifier); ok {
		t.silence = s.Notify(l.bell.ring)
	}
	return nil
}

// Reattach restarts an ended task with a new stream: it keeps its outputs, and its samples stay in the memory. When it ends
// again, old and new samples compete for the task's places, at random or, if the method ranks samples, in one ranking. Test,
// if t has any, replaces the old test samples; the name and the classes stay what they were. After an error the learner is
// unchanged.
func (l *Learner) Reattach(id int, t Task) error {
	t.require()
	return l.call(context.Background(), "reattach", func() error {
		old, err := l.roll.get(id)
		if err != nil {
			return err
		}
		name := label(id, old.Name)
		if l.tasks.get(id) != nil {
			return fmt.Errorf("%s has not ended", name)
		}
		if t.Classes != nil && !slices.Equal(t.Classes, old.Classes) {
			return fmt.Errorf("%s has classes %v, not %v: attach a task of its own for others",
				name, old.Classes, t.Classes)
		}
		a := &attached{Task: old.Task, id: id, samples: old.samples}
		if a.Stream = t.Stream; t.Test != nil {
			a.Test = t.Test
		}
		if err := a.begin(func() error { return l.openAgain(a) }); err != nil {
			return err
		}
		if t.Test != nil {
			l.roll.test(id, t.Test)
		}
		l.count(id, -1)
		l.arrived(a)
		return nil
	})
}

func (l *Learner) openAgain(t *attached) error {
	if err := l.fitsMethod(t.id, l.roll.head(t.id)); err != nil { // a task of another network may not fit
		return err
	}
	return l.open(t)
}

// begin does what a task needs to begin. If it fails, nothing of the task is left.
func (t *attached) begin(open func() error) error {
	if err := open(); err != nil {
		t.free()
		return fmt.Errorf("%s: %w", label(t.id, t.Name), err)
	}
	return nil
}

// beginNew opens a new task and gives it its outputs. The classifier grows before the first batch is fetched, which cannot be
// given back; outputs that no task has do no harm if the stream then fails.
func (l *Learner) beginNew(t *attached) error {
	head, err := l.roll.next(t.Classes)
	if err != nil {
		return err
	}
	if err := cmp.Or(l.fitsLoss(t.Classes, head), t.checkNames(l.roll.names), l.fitsMethod(t.id, head)); err != nil {
		return err
	}
	if err := l.growFor(head); err != nil {
		return err
	}
	if err := l.open(t); err != nil {
		return err
	}
	l.roll.add(t.Task, head, t.samples)
	return nil
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
		known, err := l.roll.get(id)
		if err != nil {
			return err
		}
		t := l.tasks.get(id)
		if t == nil {
			return fmt.Errorf("%s has ended already", label(id, known.Name))
		}
		if err := l.wholly(l.byMethod(), func() error { return l.retire(t, keep) }); err != nil {
			return err
		}
		l.changed()
		return nil
	})
}

// prepareBatches gives a task room for the batch that it trains on and the next one.
func (l *Learner) prepareBatches(t *attached) error {
	var err error
	if t.current, err = l.programs.Lane(t.id).NewBatch(); err != nil {
		return err
	}
	t.spare, err = l.programs.Lane(t.id).NewBatch()
	return err
}

// pool returns how many samples of each class are collected while a task of these classes runs, as candidates
// for the memory. It is 0 if the method fills the memory itself, unless it wants samples for something else.
func (l *Learner) pool(classes []int) int {
	wanted := 0
	if c := l.method.Penalty; c != nil {
		wanted = c.Samples()
	}
	if l.method.Storer != nil {
		return wanted
	}
	quota := l.memory.Quota(classes)
	if c := l.method.Curator; c != nil && quota > 0 {
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
			return err
		}
	}
	t.free()
	if s := l.method.Stateful; s != nil {
		s.End(t.id)
	}
	return nil
}

// count adds to the number of ended tasks that have the outputs of a task.
func (l *Learner) count(id, change int) {
	for _, o := range l.roll.outputs(id) {
		l.over[o] += change
	}
}

// remember puts the samples of a task that has ended into the memory. A method that curates the memory decides
// which ones, and it may learn more from them.
func (l *Learner) remember(t *attached) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", label(t.id, t.Name), err)
		}
	}()
	candidates := t.reservoir.Items()
	if l.method.Storer != nil {
		candidates = nil // the memory is filled already
	}
	if c := l.method.Curator; c != nil {
		if err := c.Curate(methodContext{l: l}, t.id, candidates); err != nil {
			return err
		}
	} else {
		l.memory.Add(candidates)
	}
	if p := l.method.Penalty; p != nil {
		// The reservoir may have more samples of each class than it asks for, for the memory.
		if err := p.Consolidate(methodContext{l: l}, t.id, t.reservoir.Draw(p.Samples())); err != nil {
			return err
		}
	}
	return nil
}

// fitsMethod returns an error if the method could not be trained on a task with these outputs, or on its samples in the memory.
func (l *Learner) fitsMethod(task int, h head) error {
	for _, id := range []int{task, method.MemoryID} {
		loss := lossOf(l.method, id)
		if h.contiguous() || !loss.Own && loss.TaskMargin == 0 {
			continue
		}
		does, instead := "sets a margin around each task", "set its task margin to 0"
		if loss.Own {
			does, instead = "lets only the classes of a row's own task compete", "use it for tasks that have no class in common, or leave it out"
		}
		return fmt.Errorf("%s %s, but its outputs lie among those of others, since they share classes: %s", l.byMethod(), does, instead)
	}
	return nil
}

// fitsLoss returns an error if a new task with these classes does not have one output for each target value.
func (l *Learner) fitsLoss(classes []int, h head) error {
	loss := l.options.compared()
	switch {
	case loss == nil:
		return nil
	case len(classes) != loss.Targets():
		return fmt.Errorf("it has %d classes; with loss %s, classes name the outputs: want %d", len(classes), loss.Key(), loss.Targets())
	case !h.inOrder(classes):
		return fmt.Errorf("some of its classes %v belong to other tasks, and some do not: with loss %s a task has outputs of its own, or all outputs of another task in the same order", classes, loss.Key())
	}
	return nil
}
