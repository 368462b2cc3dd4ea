package pcl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

func newPush(t testing.TB, classes ...int) *data.PushStream {
	t.Helper()
	return must.Get(data.NewPushStream(64, 64, classes))(t).AtLeast(1)
}

// pushBlobs pushes samples number from to to−1 of each class.
func pushBlobs(t testing.TB, p *data.PushStream, from, to int, classes ...int) {
	t.Helper()
	d := pcltest.Blobs(6, 40, 1)
	x := make([]float32, 64)
	for i := from; i < to; i++ {
		for _, c := range classes {
			d.Select(&d.Train, 0, c).Sample(i, x)
			must.Do(t, second(p.Push(t.Context(), x, c)))
		}
	}
}

// stepOnce makes a step, and waits while no stream is ready.
func stepOnce(ctx context.Context, l *Learner) (*StepReport, error) {
	for {
		r, err := l.Step()
		if !errors.Is(err, ErrIdle) {
			return r, err
		}
		if err := l.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// TestTakenOver: a stream still wakes the learner that goes on with it when the one before is
// closed.
func TestTakenOver(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	stream := newPush(t, 0, 1)
	old, next := smallLearner(t, b, "avggrad", Options{}), smallLearner(t, b, "mgda", Options{})
	attach(t, old, Task{Classes: []int{0, 1}, Stream: stream})
	attach(t, next, Task{Classes: []int{0, 1}, Stream: stream})
	old.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stepped := make(chan error)
	go func() { _, err := stepOnce(ctx, next); stepped <- err }()
	pushBlobs(t, stream, 0, 4, 0, 1)
	must.Do(t, <-stepped)
}

// TestNotReady: a task whose stream is not ready is left out of a step, nobody waits for it, and a
// step without any ready stream changes nothing.
func TestNotReady(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := smallLearner(t, b, "emgd-gmc", Options{})
	one, two := newPush(t, 0, 1), newPush(t, 2, 3)
	attach(t, l, Task{Classes: []int{0, 1}, Stream: one})
	attach(t, l, Task{Classes: []int{2, 3}, Stream: two})
	before := must.Get(l.Parameters())(t)
	for range 2 {
		if _, err := l.Step(); !errors.Is(err, ErrIdle) {
			t.Fatalf("a step without samples: %v", expect.Text(err))
		}
	}
	if l.Steps() != 0 || !slices.Equal(must.Get(l.Parameters())(t), before) {
		t.Fatal("a step without samples has changed the learner")
	}
	pushBlobs(t, two, 0, 6, 2, 3) // 12 samples are two batches
	pushBlobs(t, one, 0, 1, 0, 1)
	for step, want := range [][]int{{1, 2}, {2}} {
		if r := must.Get(l.Step())(t); !slices.Equal(r.IDs, want) {
			t.Fatalf("step %d has rows %v, want %v", step, r.IDs, want)
		}
	}
	if _, err := l.Step(); !errors.Is(err, ErrIdle) {
		t.Fatalf("a step without samples: error %v; want ErrIdle", expect.Text(err))
	}
	pcltest.Equal(t, "running", l.Running(), []int{1, 2})
	two.End()
	r := must.Get(l.Step())(t)
	pcltest.Equal(t, "ended", r.Ended, []int{2})
	pcltest.Equal(t, "rows", len(r.IDs), 0)
	pcltest.Equal(t, "samples in the memory", l.Memory().Len(), 6)
	pushBlobs(t, one, 1, 2, 0, 1)
	one.End() // with its last samples
	r = must.Get(l.Step())(t)
	pcltest.Equal(t, "ended", r.Ended, []int{1})
	pcltest.Equal(t, "rows", r.IDs, []int{0, 1})
	if _, err := l.Step(); !errors.Is(err, ErrNoStream) {
		t.Fatal(expect.Text(err))
	}
}

// hesitant is not ready in every second call, and cannot say when it is.
type hesitant struct {
	data.Resumable
	calls int
	with  int // how many samples it delivers all the same
}

func (s *hesitant) Next(b *data.Batch) error {
	if s.calls++; s.calls%2 == 1 {
		b.N = s.with
		return data.ErrNotReady
	}
	return s.Resumable.Next(b)
}

// TestOwnStreamNotReady: streams of one's own may be not ready too; whoever waits asks them again.
func TestOwnStreamNotReady(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 40, 10)
	l := smallLearner(t, b, "emgd-gmc", Options{})
	task := blobTask(t, d, 1, 0, 1) // ten batches
	task.Stream = &hesitant{Resumable: task.Stream.(data.Resumable)}
	attach(t, l, task)
	for range 11 {
		if _, err := stepOnce(t.Context(), l); err != nil && !errors.Is(err, ErrNoStream) {
			t.Fatal(err)
		}
	}
	if len(l.Running()) != 0 || l.Memory().Len() != 6 {
		t.Errorf("running %v, %d samples in the memory", l.Running(), l.Memory().Len())
	}
	task = blobTask(t, d, 2, 2, 3)
	task.Stream = &hesitant{Resumable: task.Stream.(data.Resumable), with: 3}
	refused(t, second(l.Attach(task)), "want no samples with ErrNotReady")
}

// TestWait: it waits until samples are pushed, can be cancelled, and lets others call the learner
// meanwhile.
func TestWait(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := smallLearner(t, b, "emgd-gmc", Options{})
	if _, err := stepOnce(t.Context(), l); !errors.Is(err, ErrNoStream) {
		t.Fatal(expect.Text(err))
	}
	one, two := newPush(t, 0, 1), newPush(t, 2, 3)
	one.AtLeast(2) // one step takes all that is pushed
	two.AtLeast(2)
	attach(t, l, Task{Classes: []int{0, 1}, Stream: one})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := stepOnce(ctx, l); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(expect.Text(err))
	}
	if _, err := stepOnce(ctx, l); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(expect.Text(err))
	}
	made := make(chan *StepReport, 2)
	go func() {
		for range 2 {
			r, err := stepOnce(context.Background(), l)
			if err != nil {
				t.Error(err)
			}
			made <- r
		}
	}()
	pushBlobs(t, one, 0, 1, 0, 1)
	<-made
	attach(t, l, Task{Classes: []int{2, 3}, Stream: two})
	pushBlobs(t, two, 0, 1, 2, 3)
	if r := <-made; !slices.Equal(r.IDs, []int{2}) {
		t.Errorf("rows %v", r.IDs)
	}
	done := make(chan error)
	go func() { _, err := stepOnce(context.Background(), l); done <- err }()
	time.Sleep(5 * time.Millisecond)
	l.Close()
	expect.Refusal(t, "closed while it waited", <-done, ErrClosed)
}

// TestPause: a paused task takes part in no step and keeps what was fetched, also in a checkpoint;
// its samples are trained on later.
func TestPause(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 16, 4) // four batches a task
	l, again := smallLearner(t, b, "gss", Options{}), smallLearner(t, b, "gss", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	attach(t, l, blobTask(t, d, 2, 2, 3))
	steps(t, l, 1)
	must.Do(t, l.Pause(1))
	pcltest.Equal(t, "running", l.Running(), []int{2})
	pcltest.Equal(t, "task 1 is paused", l.Tasks()[0].Paused, true)
	for range 3 {
		if r := must.Get(l.Step())(t); slices.Contains(r.IDs, 1) || !slices.Contains(r.IDs, 2) {
			t.Fatalf("rows %v", r.IDs)
		}
	}
	if _, err := l.Step(); !errors.Is(err, ErrIdle) {
		t.Fatalf("only a paused task is left: %v", expect.Text(err))
	}
	must.Do(t, again.Restore(must.Get(l.State())(t), pairs(t, d)))
	for _, l := range []*Learner{l, again} {
		must.Do(t, l.Resume(1))
		playOut(t, l)
		if l.Steps() != 7 {
			t.Errorf("%d steps, want 7", l.Steps())
		}
	}
	same(t, again, l)
	refused(t, l.Pause(1), "has ended")           // it has ended
	refused(t, l.Resume(3), "there is no task 3") // it never arrived
}

// TestReattach: a task that comes back goes on with its outputs, also with methods that keep
// something of each task.
func TestReattach(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 8, 4)
	for _, name := range []string{"emgd-gmc", "icarl", "gss", "avggrad+lwf+ewc", "moco", "uw", "emgd-gmc+per-task"} {
		t.Run(name, func(t *testing.T) {
			for _, increment := range []string{"task", "class"} {
				l := smallLearner(t, b, name, Options{Increment: increment})
				attach(t, l, blobTask(t, d, 1, 0, 1))
				refused(t, l.Reattach(1, blobTask(t, d, 1, 0, 1)), "has not ended") // it has not ended
				playOut(t, l)
				attach(t, l, blobTask(t, d, 2, 2, 3))
				refused(t, l.Reattach(1, blobTask(t, d, 1, 0, 2)), "not [0 2]") // other classes
				refused(t, l.Reattach(3, blobTask(t, d, 3, 0, 1)), "there is no task 3")
				used := l.tasks.registry.used
				must.Do(t, l.Reattach(1, Task{Stream: blobTask(t, d, 1, 0, 1).Stream}))
				if r := must.Get(l.Step())(t); !slices.Contains(r.IDs, 1) || !slices.Contains(r.IDs, 2) {
					t.Errorf("rows %v", r.IDs)
				}
				playOut(t, l)
				at := fmt.Sprintf("%s, %s-incremental: ", name, increment)
				pcltest.Equal(t, at+"outputs", l.tasks.registry.used, used)
				pcltest.Equal(t, at+"last id", l.LastID(), 2)
				if n := l.Memory().Len(); n > 12 {
					t.Errorf("%s%d samples in the memory; want at most 12", at, n)
				}
				must.Get(l.Evaluate(1))(t)
			}
		})
	}
}

// TestLoadTellsTasks: a file says which tasks it has, and those that have ended need not be given
// again.
func TestLoadTellsTasks(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 8, 4)
	l, path := smallLearner(t, b, "emgd-gmc", Options{}), filepath.Join(t.TempDir(), "learner.pcl")
	ended := blobTask(t, d, 1, 4, 1)
	ended.Name = "first"
	attach(t, l, ended)
	playOut(t, l)
	push := newPush(t, 2, 3)
	attach(t, l, Task{Classes: []int{2, 3}, Stream: push})
	pushBlobs(t, push, 0, 10, 2, 3)
	must.Get(l.Step())(t)
	must.Do(t, l.Save(path))
	tasks := must.Get(must.Get(LoadState(path))(t).Tasks())(t)
	if len(tasks) != 2 {
		t.Fatalf("the file has %d tasks; want 2", len(tasks))
	}
	pcltest.Equal(t, "name", tasks[0].Name, "first")
	pcltest.Equal(t, "classes", tasks[0].Classes, []int{4, 1})
	pcltest.Equal(t, "ended", []bool{tasks[0].Ended, tasks[1].Ended}, []bool{true, false})
	pcltest.Equal(t, "id", tasks[1].ID, 2)
	again := smallLearner(t, b, "emgd-gmc", Options{})
	refused(t, again.Load(path, nil), "it needs its stream")
	fresh := newPush(t, 2, 3)
	err := again.Load(path, func(id int) (Task, error) {
		if tasks[id-1].Ended {
			return Task{}, nil
		}
		return Task{Stream: fresh, Test: d.Select(&d.Test, 0, 2, 3)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	push.End()
	fresh.End()
	playOut(t, l)
	playOut(t, again)
	same(t, again, l)
	refused(t, second(again.Evaluate(1)), "was attached without test samples")
	if again.Tasks()[0].Name != "first" {
		t.Errorf("%+v", again.Tasks())
	}
	refused(t, second(LoadState(filepath.Join(t.TempDir(), "none"))), "no such file")
}
