package pcl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestDetachIsPredicted: after a task was detached or came back, a method that predicts by means computes them anew, as a
// learner does that was loaded.
func TestDetachIsPredicted(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 40, 10)
	o := Options{Increment: scenario.ClassIncremental, Memory: memory.Config{Policy: memory.PerClass, Budget: 1}}
	task := func(id int) (Task, error) { return blobTask(t, d, id, 3*id-3, 3*id-2, 3*id-1), nil }
	for _, keep := range []bool{true, false} {
		l := smallLearner(t, b, "emgd", o)
		for id := 1; id <= 2; id++ {
			attach(t, l, must[Task](t)(task(id)))
			must[*StepReport](t)(l.Step())
		}
		check := func(what string) {
			t.Helper()
			loaded := smallLearner(t, b, "emgd", o)
			must[*Trained](t)(l.Trained())
			if err := loaded.Restore(must[State](t)(l.State()), task); err != nil {
				t.Fatal(err)
			}
			got, want := must[*Trained](t)(l.Trained()), must[*Trained](t)(loaded.Trained())
			if !reflect.DeepEqual(got.Means, want.Means) {
				t.Errorf("%s, keep %t: the means are of the classes %v, those of a loaded learner of %v", what, keep, got.Means.Classes, want.Means.Classes)
			}
		}
		check("running")
		if err := l.Detach(1, keep); err != nil {
			t.Fatal(err)
		}
		check("detached")
		if err := l.Reattach(1, must[Task](t)(task(1))); err != nil {
			t.Fatal(err)
		}
		check("reattached")
	}
}

// TestSharedStream: two running tasks cannot have one stream, neither attached, nor reattached, nor loaded.
func TestSharedStream(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 40, 10)
	l := smallLearner(t, b, "avggrad", Options{Increment: scenario.ClassIncremental})
	one, two := blobTask(t, d, 1, 0, 1), blobTask(t, d, 2, 2, 3)
	one.Classes, two.Classes = []int{0, 1, 2, 3}, []int{0, 1, 2, 3}
	attach(t, l, one)
	shared := two
	shared.Stream = one.Stream
	refused := func(err error) {
		t.Helper()
		if err == nil {
			t.Errorf("error %v, want one about the shared stream", err)
		}
	}
	_, err := l.Attach(shared)
	refused(err)
	attach(t, l, two)
	state := must[State](t)(l.State())
	if err := l.Detach(2, true); err != nil {
		t.Fatal(err)
	}
	refused(l.Reattach(2, shared))
	refused(smallLearner(t, b, "avggrad", Options{Increment: scenario.ClassIncremental}).Restore(state, func(int) (Task, error) { return one, nil }))
	if err := l.Detach(1, true); err != nil {
		t.Fatal(err)
	}
	if err := l.Reattach(2, shared); err != nil {
		t.Errorf("the stream of a task that has ended: %v", err)
	}
}

// stateless is a stream that has nothing, so that pointers to two of them may be equal.
type stateless struct{}

func (*stateless) Next(b *data.Batch) error {
	clear(b.X)
	b.Class[0], b.N = 0, 1
	return nil
}

// TestStatelessStreams: streams without fields are not taken for one another.
func TestStatelessStreams(t *testing.T) {
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{Increment: scenario.ClassIncremental})
	attach(t, l, Task{Classes: []int{0, 1}, Stream: new(stateless)})
	attach(t, l, Task{Classes: []int{0, 1}, Stream: new(stateless)})
}

// TestReattachNames: a task that comes back may have new names of its classes, one for each.
func TestReattachNames(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	again := func(names ...string) error {
		task := blobTask(t, d, 1, 0, 1)
		task.ClassNames = names
		return l.Reattach(1, task)
	}
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	refused(t, again("left"))
	for range 2 { // the second time without names
		names := []string{"left", "right"}
		if l.Tasks()[0].ClassNames != nil {
			names = nil
		}
		if err := again(names...); err != nil {
			t.Fatal(err)
		}
		if got := l.Tasks()[0].ClassNames; !slices.Equal(got, []string{"left", "right"}) {
			t.Errorf("the classes are called %q", got)
		}
		playOut(t, l)
	}
	p := must[*Predictor](t)(l.Snapshot())
	defer p.Close()
	p.Tasks()[0].ClassNames[0] = "changed"
	if got := p.Tasks()[0].ClassNames[0]; got != "left" {
		t.Errorf("the predictor's class is now called %q", got)
	}
}

// TestReattachedSamples: when a task ends again, the memory takes in new samples of it, however they are chosen, and has as
// many as before. Stored logits stay with their samples.
func TestReattachedSamples(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, name := range []string{"avggrad", "avggrad+herding", "icarl", "emgd", "der-pp", "der-pp+gss"} {
		for _, policy := range []memory.Policy{memory.PerClass, memory.FixedTotal} {
			l := smallLearner(t, b, name, Options{Memory: memory.Config{Policy: policy, Budget: 8}, Increment: scenario.ClassIncremental})
			attach(t, l, blobTask(t, pcltest.Blobs(4, 40, 4), 1, 0, 1))
			playOut(t, l)
			attach(t, l, blobTask(t, pcltest.Blobs(4, 40, 4), 2, 2, 3))
			playOut(t, l)
			before := map[string][]float32{}
			for _, it := range l.memory.Samples() {
				before[fmt.Sprint(it.Pixels)] = it.Logits
			}
			every := make([]int, 20)
			for i := range every {
				every[i] = i
			}
			others := &faulty{Resumable: blobTask(t, pcltest.Blobs(4, 40, 4), 1, 0, 1).Stream.(data.Resumable), at: every, fault: func(b *data.Batch, next func(*data.Batch) error) error {
				err := next(b)
				for i := range b.X {
					b.X[i] *= 0.9
				}
				return err
			}}
			if err := l.Reattach(1, Task{Stream: others}); err != nil {
				t.Fatal(err)
			}
			playOut(t, l)
			fresh := 0
			for _, it := range l.memory.Samples() {
				logits, old := before[fmt.Sprint(it.Pixels)]
				if !old {
					fresh++
				}
				if old && !slices.Equal(logits, it.Logits) {
					t.Errorf("%s: an old sample of task %d has other logits", name, it.Task)
				}
			}
			if fresh == 0 || l.memory.Len() != len(before) {
				t.Errorf("%s, %s: %d new samples of %d, before there were %d", name, policy, fresh, l.memory.Len(), len(before))
			}
		}
	}
}

// narrow is a network that can be built with more outputs only in name.
type narrow struct{ *model.MLP }

func (narrow) WithOutputs(int) (model.Model, error) { return nil, errors.New("not now") }

// TestGrowthAndFetch: if the outputs cannot grow, nothing is taken from the stream; if the stream fails, nothing has grown.
func TestGrowthAndFetch(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	net := must[*model.MLP](t)(model.NewMLP(64, []int{8}, 2))
	l := smallLearner(t, b, "avggrad", Options{Model: narrow{net}, Grow: true})
	p := newPush(t, 0, 1, 2)
	if _, err := p.Push(context.Background(), make([]float32, 64*5), 0, 1, 2, 0, 1); err != nil {
		t.Fatal(err)
	}
	_, err := l.Attach(Task{Classes: []int{0, 1, 2}, Stream: p})
	refused(t, err)
	if p.Len() != 5 {
		t.Errorf("%d samples wait in the stream, want 5", p.Len())
	}
	l = smallLearner(t, b, "avggrad", Options{Model: net, Grow: true})
	before := must[[]float32](t)(l.Parameters())
	closed := must[*data.Push](t)(data.NewPush(64, 64, []int{0, 1, 2}))
	closed.End()
	_, err = l.Attach(Task{Classes: []int{0, 1, 2}, Stream: closed})
	refused(t, err)
	if after := must[[]float32](t)(l.Parameters()); !slices.Equal(after, before) || l.Options().Model.Outputs() != 2 {
		t.Error("the learner has grown for a task that it refused")
	}
	attach(t, l, Task{Classes: []int{0, 1, 2}, Stream: p})
	must[*StepReport](t)(l.Step())
}
