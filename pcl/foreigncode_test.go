package pcl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// foreign is a stream, and test samples, that leave when they are asked for a batch of a given number, or how many they are.
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

// TestForeignCode: code that is not the learner's, and panics, is an error of the call that needed it, and where that is a
// step the others go on.
func TestForeignCode(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	leave := func() { panic("no ink") }
	task := func(at int) Task { return Task{Classes: []int{0, 1}, Stream: &foreign{leave: leave, at: at}} }
	l := smallLearner(t, b, "avggrad", Options{})
	refused(t, second(l.Attach(task(1))))
	refused(t, second(l.Attach(Task{Classes: []int{0, 1}, Stream: ringing{&foreign{leave: leave}}})))
	var none *data.Push
	refused(t, second(l.Attach(Task{Classes: []int{0, 1}, Stream: none})))
	if l.Arrived() != 0 {
		t.Errorf("%d tasks have arrived", l.Arrived())
	}

	tested := task(0)
	tested.Test = &foreign{leave: leave}
	refused(t, second(l.Evaluate(attach(t, l, tested))))
	id, fault := attach(t, l, task(2)), new(StreamError)
	err := cmp.Or(second(l.Step()), second(l.Step()))
	if !errors.As(err, &fault) || fault.ID != id {
		t.Errorf("a stream that leaves: %v, want task %d's error", err, id)
	}
	steps(t, l, 2)

	traced := smallLearner(t, b, "avggrad", Options{Trace: func(*Trace) error { leave(); return nil }})
	attach(t, traced, task(0))
	refused(t, second(traced.Step()))
	ending := smallLearner(t, b, "", Options{Method: leaving{newMethod(t, "avggrad", nil), leave}})
	id = attach(t, ending, task(0))
	refused(t, ending.Save(filepath.Join(t.TempDir(), "x.pcl")))
	refused(t, ending.Detach(id, false))
	l = smallLearner(t, b, "", Options{Method: leaving{newMethod(t, "avggrad", nil), func() {}}})
	refused(t, l.Save(filepath.Join(t.TempDir(), "x.pcl"))) // half an object
}

// odd is an optimiser that does not keep its promises.
type odd struct {
	optim.Adam
	extra   int // vectors that Step returns beside those that it should
	scalars func(t int, of []float32) []float32
	names   []string // of its vectors
}

func (o odd) Key() string { return fmt.Sprintf("odd%d", o.extra) }

func (o odd) State() []string {
	if o.names == nil {
		return o.Adam.State()
	}
	return o.names
}

func (o odd) Scalars(t int) []float32 {
	if o.scalars == nil {
		return o.Adam.Scalars(t)
	}
	return o.scalars(t, o.Adam.Scalars(t))
}

func (o odd) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	next := o.Adam.Step(state, d, scalars)
	if o.extra < 0 {
		return next[:len(next)+o.extra]
	}
	return append(next, next[:o.extra]...)
}

// TestOptimisersThatDoNotFit: too few or too many vectors or numbers, or vectors of the names that a checkpoint needs, are an
// error when the learner is made or by its second step.
func TestOptimisersThatDoNotFit(t *testing.T) {
	for what, o := range map[string]odd{
		"too few vectors": {extra: -1}, "too many vectors": {extra: 1},
		"more numbers": {scalars: func(t int, of []float32) []float32 { return append(of, make([]float32, t-1)...) }},
		"no number":    {scalars: func(t int, of []float32) []float32 { return append(of[:len(of)-1], float32(math.NaN())) }},
		"theta":        {names: []string{"m", "theta"}}, "batch/2": {names: []string{"batch/2", "m"}}, "the same twice": {names: []string{"m", "m"}},
	} {
		o.Adam = optim.Adam{LR: 0.01}
		l, err := New(t.Context(), completed(t, pcltest.Backend(t, backend.Go), "avggrad", Options{Optimizer: o}))
		if err == nil {
			defer l.Close()
			attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
			if _, err = l.Step(); err == nil {
				_, err = l.Step()
			}
		}
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
