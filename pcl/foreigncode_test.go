package pcl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// foreign is a stream, and test samples, that leave when they are asked for a batch of a given
// number, or how many they are.
type foreign struct {
	leave     func()
	asked, at int
}

func (f *foreign) Next(b *data.Batch) error {
	if f.asked++; f.asked == f.at {
		f.leave()
	}
	b.N, b.Class[0] = 1, 0
	return nil
}

func (f *foreign) Len() int                  { f.leave(); return 0 }
func (f *foreign) Sample(int, []float32) int { return 0 }

// ringing leaves when it is to say that it is ready.
type ringing struct{ *foreign }

func (r ringing) Notify(func()) func() { r.leave(); return nil }

// leaving is a method that leaves when a row ends, or when it is saved.
type leaving struct {
	method.Method
	leave func()
}

func (l leaving) End(int)                                { l.leave() }
func (l leaving) MarshalState() (json.RawMessage, error) { l.leave(); return json.RawMessage("{"), nil }
func (leaving) UnmarshalState(json.RawMessage) error     { return nil }

// TestForeignCode: code that is not the learner's, and panics, is an error of the call that needed
// it, and where that is a step the others go on.
func TestForeignCode(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	leave := func() { panic("no ink") }
	task := func(at int) Task { return Task{Classes: []int{0, 1}, Stream: &foreign{leave: leave, at: at}} }
	l := smallLearner(t, b, "avggrad", Options{})
	refused(t, second(l.Attach(task(1))), "the stream panicked: no ink")
	refused(t, second(l.Attach(Task{Classes: []int{0, 1}, Stream: ringing{&foreign{leave: leave}}})),
		"the stream panicked: no ink")
	var none *data.PushStream
	refused(t, second(l.Attach(Task{Classes: []int{0, 1}, Stream: none})), "the stream panicked: ")
	if l.LastID() != 0 {
		t.Errorf("%d tasks have arrived", l.LastID())
	}

	tested := task(0)
	tested.Test = &foreign{leave: leave}
	refused(t, second(l.Evaluate(attach(t, l, tested))), "counting the samples panicked: no ink")
	id, fault := attach(t, l, task(2)), new(StreamError)
	err := cmp.Or(second(l.Step()), second(l.Step()))
	if !errors.As(err, &fault) || fault.ID != id {
		t.Errorf("a stream that leaves: %v, want task %d's error", expect.Text(err), id)
	}
	steps(t, l, 2)

	traced := smallLearner(t, b, "avggrad", Options{Trace: func(*Trace) error { leave(); return nil }})
	attach(t, traced, task(0))
	refused(t, second(traced.Step()), "Options.Trace panicked: no ink")
	ending := smallLearner(t, b, "", Options{Method: leaving{newMethod(t, "avggrad", nil), leave}})
	id = attach(t, ending, task(0))
	refused(t, ending.Save(filepath.Join(t.TempDir(), "x.pcl")), "it panicked: no ink")
	refused(t, ending.Detach(id, false), "panicked: no ink")
	l = smallLearner(t, b, "", Options{Method: leaving{newMethod(t, "avggrad", nil), func() {}}})
	// half an object
	refused(t, l.Save(filepath.Join(t.TempDir(), "x.pcl")), "its MarshalState returned something that is not JSON")
}

// TestLossThatCannotBeBuilt: a network's loss that panics when a step needs its graph, in whichever
// lane, is an error of the step.
func TestLossThatCannotBeBuilt(t *testing.T) {
	var built atomic.Int32
	loss := model.ClassLoss("moody", func(scores, label *graph.Node) *graph.Node {
		if built.Add(1) > 1 { // the memory's is built by New
			panic("no ink")
		}
		return graph.ReduceSum(scores, 1)
	})
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad+der-pp", Options{Loss: loss})
	attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
	attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 2, 2, 3))
	for range 2 {
		refused(t, second(l.Step()), "no ink")
	}
}

// odd is an optimiser that returns more vectors than it should, or fewer.
type odd struct {
	optim.Adam
	extra int
}

func (o odd) Key() string { return fmt.Sprintf("odd%d", o.extra) }

func (o odd) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	next := o.Adam.Step(state, d, scalars)
	if o.extra < 0 {
		return next[:len(next)+o.extra]
	}
	return append(next, next[:o.extra]...)
}

// TestOptimisersThatDoNotFit: too few or too many vectors are an error of the step.
func TestOptimisersThatDoNotFit(t *testing.T) {
	for _, extra := range []int{-1, 1} {
		t.Run(fmt.Sprint(extra), func(t *testing.T) {
			l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{Optimizer: odd{optim.Adam{LR: 0.01}, extra}})
			attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
			refused(t, second(l.Step()), "want 3, which are θ and those that State names")
		})
	}
}
