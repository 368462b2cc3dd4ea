package pcl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// TestDetachIsPredicted: after a task was detached or came back, a method that predicts by means
// computes them anew, as a learner does that was loaded.
func TestDetachIsPredicted(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 40, 10)
	o := Options{Increment: "class", Memory: memory.Config{Policy: "per_class", Budget: 1}}
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			l := smallLearner(t, b, "emgd", o)
			for id := 1; id <= 2; id++ {
				attach(t, l, must.Get(pairs(t, d)(id))(t))
				steps(t, l, 1)
			}
			for _, change := range []func() error{
				func() error { return nil }, func() error {
					return l.Detach(1, keep)
				}, func() error { return l.Reattach(1, blobTask(t, d, 1, 0, 1)) },
			} {
				must.Get(l.Network())(t)
				must.Do(t, change())
				loaded := smallLearner(t, b, "emgd", o)
				must.Do(t, loaded.Restore(must.Get(l.State())(t), pairs(t, d)))
				got, want := must.Get(l.Network())(t), must.Get(loaded.Network())(t)
				if !reflect.DeepEqual(got.Means, want.Means) {
					t.Errorf("keep %t: the means are of the classes %v, those of a loaded learner of %v",
						keep, got.Means.Classes, want.Means.Classes)
				}
			}
		})
	}
}

// TestReattachedSamples: when a task ends again, the memory takes in new samples of it, however
// they are chosen, and has as many as before. Stored logits stay with their samples.
func TestReattachedSamples(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, name := range []string{"avggrad", "icarl", "emgd", "der-pp+gss"} {
		t.Run(name, func(t *testing.T) {
			for _, policy := range []string{"per_class", "fixed_total"} {
				l := smallLearner(t, b, name, Options{Memory: memory.Config{Policy: policy, Budget: 8}, Increment: "class"})
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
				others := &faulty{Resumable: blobTask(t, pcltest.Blobs(4, 40, 4), 1, 0, 1).Stream.(data.Resumable), at: every,
					fault: func(b *data.Batch, next func(*data.Batch) error) error {
						err := next(b)
						for i := range b.X {
							b.X[i] *= 0.9
						}
						return err
					}}
				must.Do(t, l.Reattach(1, Task{Stream: others}))
				playOut(t, l)
				fresh := 0
				for _, it := range l.memory.Samples() {
					logits, old := before[fmt.Sprint(it.Pixels)]
					if !old {
						fresh++
					}
					if old && !slices.Equal(logits, it.Logits) {
						t.Errorf("an old sample of task %d has other logits", it.Task)
					}
				}
				if fresh == 0 || l.memory.Len() != len(before) {
					t.Errorf("%s, %s: %d new samples of %d, before there were %d",
						name, policy, fresh, l.memory.Len(), len(before))
				}
			}
		})
	}
}

// narrow is a network that can be built with more outputs only in name.
type narrow struct{ model.Model }

func (narrow) WithOutputs(int) (model.Model, error) { return nil, errors.New("not now") }

// TestGrowthAndFetch: if the outputs cannot grow, nothing is taken from the stream; if the stream
// fails, what was learnt stays.
func TestGrowthAndFetch(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	net := must.Get(model.NewMLP(64, []int{8}, 2))(t)
	l := smallLearner(t, b, "avggrad", Options{Model: narrow{net}, Grow: true})
	p := newPush(t, 0, 1, 2)
	must.Do(t, second(p.Push(context.Background(), make([]float32, 64*5), 0, 1, 2, 0, 1)))
	refused(t, second(l.Attach(Task{Classes: []int{0, 1, 2}, Stream: p})), "not now")
	if p.Len() != 5 {
		t.Errorf("%d samples wait in the stream, want 5", p.Len())
	}
	l = smallLearner(t, b, "avggrad", Options{Model: net, Grow: true})
	before := must.Get(l.Parameters())(t)
	closed := must.Get(data.NewPushStream(64, 64, []int{0, 1, 2}))(t)
	closed.End()
	refused(t, second(l.Attach(Task{Classes: []int{0, 1, 2}, Stream: closed})), "its stream is empty")
	if backbone := len(before) - 2*9; !slices.Equal(must.Get(l.Parameters())(t)[:backbone], before[:backbone]) ||
		l.LastID() != 0 {
		t.Error("a task that was refused has changed the learner")
	}
	attach(t, l, Task{Classes: []int{0, 1, 2}, Stream: p})
	must.Get(l.Step())(t)
}
