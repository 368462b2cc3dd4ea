package pcl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
)

func init() { os.Setenv("PARALLELCL_BACKEND", backend.Go) } // for learners that open one themselves

// open returns a learner of eight inputs and four outputs, with defaults for what o leaves out.
func open(t *testing.T, o pcl.Options) *pcl.Learner {
	t.Helper()
	o.Backend, o.Model = pcltest.Backend(t, backend.Go), must(model.NewMLP(8, []int{16}, 4))
	l := must(pcl.New(t.Context(), o))
	t.Cleanup(l.Close)
	return l
}

func streamed(id int, of dots) pcl.Task {
	return pcl.Task{Classes: of, Stream: must(data.NewStream(of, 1, 1, id)), Test: of}
}

// TestDefaults: a model is enough; the learner opens a backend, trains by the recommended method,
// and closes it. A predictor outlives it.
func TestDefaults(t *testing.T) {
	l := must(pcl.New(t.Context(), pcl.Options{Model: must(model.NewMLP(8, []int{16}, 4))}))
	o := l.Options()
	pcltest.Equal(t, "method", method.Describe(o.Method).Name, "emgd")
	pcltest.Equal(t, "batch", o.Batch, 32)
	pcltest.Equal(t, "budget", o.Memory.Budget, 20)
	must(l.Attach(streamed(1, dots{0, 1})))
	check(l.Run(t.Context(), pcl.Hooks{}))
	pcltest.Equal(t, "steps", l.Steps(), 20)
	pcltest.Equal(t, "samples in the memory", l.Memory().Len(), 40)
	p := must(l.Snapshot())
	l.Close()
	must(p.Predict(make([]float32, 8)))
	p.Close()
}

// TestRun: hooks are called when they are due, and a further call goes on where an error ended the
// one before.
func TestRun(t *testing.T) {
	l := open(t, pcl.Options{})
	stop := errors.New("stop")
	var at []int
	steps, saves, snapshots, last := 0, 0, 0, (*pcl.Predictor)(nil)
	var score map[int]float64
	h := pcl.Hooks{
		OnStep: func(r *pcl.StepReport) error {
			pcltest.Equal(t, "step", r.Step, steps)
			pcltest.Equal(t, "entries of N", len(r.N), len(r.IDs))
			pcltest.Equal(t, "samples of the last row", r.N[len(r.N)-1], 32)
			if steps++; steps == 5 {
				return stop
			}
			return nil
		},
		Evaluate:      func(n int, s map[int]float64) error { at, score = append(at, n), s; return nil },
		EvaluateEvery: 8,
		Save:          func() error { saves++; return nil },
		SaveEvery:     time.Nanosecond,
		Snapshot:      func(p *pcl.Predictor) { snapshots, last = snapshots+1, p },
	}
	must(l.Attach(streamed(1, dots{0, 1})))
	must(l.Attach(streamed(2, dots{2, 3})))
	if err := l.Run(t.Context(), h); !errors.Is(err, stop) {
		t.Fatalf("error %v; want that of the hook", expect.Text(err))
	}
	pcltest.Equal(t, "steps, of the learner and its last snapshot", []int{l.Steps(), last.Steps()}, []int{5, 5})
	check(l.Run(t.Context(), h))
	pcltest.Equal(t, "steps, of the learner and its last snapshot", []int{l.Steps(), last.Steps()}, []int{20, 20})
	pcltest.Equal(t, "evaluated after", at, []int{8, 16, 20})
	pcltest.Equal(t, "evaluated tasks", len(score), 2)
	if score[1] < 0.5 {
		t.Errorf("task 1 has accuracy %g; want at least 0.5", score[1])
	}
	if saves < 20 {
		t.Errorf("%d saves; want one after each of 20 steps", saves)
	}
	if snapshots < 4 {
		t.Errorf("%d snapshots; want at least 4", snapshots)
	}
	ctx, cancel := context.WithCancel(t.Context())
	h.WaitForTasks, h.Snapshot = true, func(*pcl.Predictor) { cancel() }
	expect.Refusal(t, "a run that stays", l.Run(ctx, h), context.Canceled)
}

// TestRunSaves: a save that fails ends a run unless somebody is told of it, and is tried again.
func TestRunSaves(t *testing.T) {
	full := errors.New("the disk is full")
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprint(told), func(t *testing.T) {
			l, tries, failed := open(t, pcl.Options{}), 0, 0
			must(l.Attach(streamed(1, dots{0, 1})))
			h := pcl.Hooks{SaveEvery: time.Nanosecond, Save: func() error {
				if tries++; tries < 3 {
					return full
				}
				return nil
			}}
			if told {
				h.SaveFailed = func(err error) { failed++ }
			}
			err := l.Run(t.Context(), h)
			pcltest.Equal(t, fmt.Sprintf("told: %t: the run ends with the error of the save", told), errors.Is(err, full), !told)
			if told {
				pcltest.Equal(t, "times that a save failed", failed, 2)
				pcltest.Equal(t, "steps", l.Steps(), 20)
			}
		})
	}
}

// TestRunNamesStreams: the error of a stream says which one it is, and the run can go on.
func TestRunNamesStreams(t *testing.T) {
	l := open(t, pcl.Options{})
	must(l.Attach(pcl.Task{Name: "door", Classes: []int{0, 1}, Stream: &camera{of: dots{0, 1}}}))
	failed := new(pcl.StreamError)
	if err := l.Run(t.Context(), pcl.Hooks{}); !errors.As(err, &failed) {
		t.Fatalf("error %v; want a StreamError", expect.Text(err))
	}
	pcltest.Equal(t, "name in the error", failed.Name, "door")
	check(l.Run(t.Context(), pcl.Hooks{}))
	pcltest.Equal(t, "steps", l.Steps(), 39)
}

// TestBesideRun: from any goroutine, tasks come and go, predictions are made and the learner is
// saved while it trains. None of the calls fails, and none is lost.
func TestBesideRun(t *testing.T) {
	const workers, rounds = 5, 10
	l, dir := open(t, pcl.Options{Grow: true}), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	must(l.Attach(pcl.Task{Classes: []int{0, 1}, Stream: endless{dots{0, 1}}}))
	go func() { ended <- l.Run(ctx, pcl.Hooks{WaitForTasks: true}) }()
	var all sync.WaitGroup
	var calls atomic.Int64
	for w := range workers {
		all.Go(func() {
			for i := range rounds {
				id, err := l.AttachContext(ctx, pcl.Task{Name: fmt.Sprint(w, i), Classes: []int{2, 3}, Stream: endless{dots{2, 3}}})
				path := filepath.Join(dir, fmt.Sprint(w, i))
				err = errors.Join(err, l.Save(path))
				_, predicted := l.Predict(make([]float32, 8))
				err = errors.Join(err, predicted, l.DetachContext(ctx, id, true))
				state, read := pcl.LoadState(path)
				saved, _ := state.Tasks()
				switch at := slices.IndexFunc(saved, func(t pcl.TaskInfo) bool {
					return t.ID == id
				}); {
				case at < 0:
					t.Errorf("task %d is not in the file: at is %d; want at least 0", id, at)
				case saved[at].Ended:
					t.Errorf("task %d is not in the file: saved[at].Ended is true", id)
				case saved[at].Name != fmt.Sprint(w, i):
					t.Errorf("task %d is not in the file: saved[at].Name is %q; want %q", id, saved[at].Name, fmt.Sprint(w, i))
				}
				if err = errors.Join(err, read); err != nil {
					t.Error(err)
				}
				calls.Add(4)
			}
		})
	}
	all.Wait()
	cancel()
	expect.Refusal(t, "a cancelled run", <-ended, context.Canceled)
	gone := 0
	for _, task := range l.Tasks() {
		if task.Ended {
			gone++
		}
	}
	pcltest.Equal(t, "tasks that came and went", gone, workers*rounds)
	pcltest.Equal(t, "calls", calls.Load(), int64(4*workers*rounds))
	if l.Steps() < workers {
		t.Errorf("%d steps; want at least %d", l.Steps(), workers)
	}
}

// endless is a stream without an end.
type endless struct{ dots }

func (e endless) Next(b *data.Batch) error {
	b.N = len(b.Class)
	for i := range b.N {
		b.Class[i] = e.Sample(i, b.X[i*8:(i+1)*8])
	}
	return nil
}

func (endless) State() (json.RawMessage, error) { return json.RawMessage("0"), nil }
func (endless) SetState(json.RawMessage) error  { return nil }

// blocked is a stream that lets a step wait.
type blocked struct {
	endless
	entered, released chan struct{}
}

func (b blocked) Next(to *data.Batch) error {
	b.entered <- struct{}{}
	<-b.released
	b.endless.Next(to)
	return io.EOF
}

// TestQueue: calls beside a step wait for it in their order; whoever gives up leaves the queue,
// before the step has ended.
func TestQueue(t *testing.T) {
	l, stream := open(t, pcl.Options{}), blocked{endless{dots{0, 1}}, make(chan struct{}), make(chan struct{})}
	attached := make(chan error)
	go func() {
		_, err := l.Attach(pcl.Task{Classes: []int{0, 1}, Stream: stream})
		attached <- err
	}()
	<-stream.entered
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := l.AttachContext(ctx, streamed(2, dots{2, 3}))
	for _, err := range []error{err, l.DetachContext(ctx, 1, true), l.SaveContext(ctx, "never"), l.Run(ctx, pcl.Hooks{})} {
		expect.Refusal(t, "a call without time", err, context.DeadlineExceeded)
	}
	var order []int
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			l.Attach(pcl.Task{Classes: []int{0, 1}, Stream: noting{endless{dots{0, 1}}, func() { order = append(order, i) }}})
		})
		time.Sleep(5 * time.Millisecond) // until it waits
	}
	close(stream.released)
	if err := <-attached; err != nil {
		t.Error(err)
	}
	all.Wait()
	if !slices.Equal(order, []int{0, 1, 2, 3, 4}) || l.LastID() != 6 {
		t.Errorf("order %v, %d tasks", order, l.LastID())
	}
}

// noting says when it is read.
type noting struct {
	endless
	note func()
}

func (n noting) Next(b *data.Batch) error { n.note(); return n.endless.Next(b) }

// TestTaken: after a kill, the file says after which sample a producer goes on. The learner then
// ends as one that was never stopped.
func TestTaken(t *testing.T) {
	of, file := dots{0, 1}, filepath.Join(t.TempDir(), "l.pcl")
	push := func(to *data.PushStream, from, n int) {
		for i := from; i < n; i++ {
			x := make([]float32, 8)
			class := of.Sample(i, x)
			must(to.Push(t.Context(), x, class))
		}
	}
	begin := func() (*pcl.Learner, *data.PushStream) {
		return open(t, pcl.Options{Batch: 8}), must(pcl.NewPushStream(8, 100, of))
	}
	finish := func(l *pcl.Learner, s *data.PushStream, from int) []float32 {
		push(s, from, 100)
		s.End()
		if err := l.Run(t.Context(), pcl.Hooks{}); err != nil {
			t.Fatal(err)
		}
		info := l.Tasks()[0]
		pcltest.Equal(t, "samples taken, and waiting", []int{info.Samples, info.Waiting}, []int{100, 0})
		return must(l.Parameters())
	}
	l, s := begin()
	must(l.Attach(pcl.Task{Classes: of, Stream: s}))
	push(s, 0, 30)
	must(l.Step())
	check(l.Save(file))
	push(s, 30, 50) // lost with the program
	if live := l.Tasks()[0]; live.Samples+live.Waiting != 50 {
		t.Errorf("%+v", live)
	}
	again, stream := begin()
	check(again.Load(file, func(int) (pcl.Task, error) { return pcl.Task{Stream: stream}, nil }))
	saved := must(must(pcl.LoadState(file)).Tasks())[0]
	pcltest.Equal(t, "samples in the file", saved.Samples+saved.Waiting, 30)
	if saved.Samples < 8 {
		t.Errorf("the file says that %d samples were taken; want those of a step, 8", saved.Samples)
	}
	loaded := again.Tasks()[0]
	pcltest.Equal(t, "samples taken, and waiting", []int{loaded.Samples, loaded.Waiting},
		[]int{saved.Samples, saved.Waiting})
	got := finish(again, stream, saved.Samples+saved.Waiting)
	if want := finish(l, s, 50); !slices.Equal(got, want) {
		t.Error("a learner that was loaded differs from one that was never stopped")
	}
}

// focal counts samples less that are learnt already.
var focal = model.ClassLoss("focal", func(logits, label *graph.Node) *graph.Node {
	right := graph.OneHot(label, logits.Shape().Dimensions[1], dtypes.Float32)
	p := graph.ReduceSum(graph.Mul(graph.Softmax(logits, 1), right), 1)
	return graph.Neg(graph.Mul(graph.Square(graph.OneMinus(p)), graph.Log(graph.AddScalar(p, 1e-6))))
})

// TestClassLoss: the cross-entropy as a loss of one's own trains, evaluates and predicts as the
// learner's own does, also by the recommended method; focal loss learns.
func TestClassLoss(t *testing.T) {
	own := model.ClassLoss("own", func(logits, label *graph.Node) *graph.Node {
		z := graph.Sub(logits, graph.StopGradient(graph.ExpandAxes(graph.ReduceMax(logits, 1), 1)))
		right := graph.OneHot(label, logits.Shape().Dimensions[1], dtypes.Float32)
		return graph.Sub(graph.Log(graph.ReduceSum(graph.Exp(z), 1)), graph.ReduceSum(graph.Mul(z, right), 1))
	})
	train := func(loss model.Loss) []float32 {
		l := open(t, pcl.Options{Loss: loss})
		for id, of := range []dots{{0, 1}, {2, 3}} {
			must(l.Attach(streamed(id+1, of)))
			check(l.Run(t.Context(), pcl.Hooks{}))
		}
		x := make([]float32, 8)
		dots{3}.Sample(0, x)
		pcltest.Equal(t, "classes that a prediction chooses among", len(must(l.Predict(x))[0].Classes), 4)
		if accuracy := must(l.Evaluate(2)); accuracy < 0.5 {
			t.Errorf("task 2 has accuracy %g; want at least 0.5", accuracy)
		}
		if loss := must(l.EvaluateLoss(2)); loss <= 0 {
			t.Errorf("task 2 has loss %g; want a positive one", loss)
		}
		return must(l.Parameters())
	}
	want, got := train(nil), train(own)
	for i := range want {
		if d := want[i] - got[i]; d > 1e-4 || d < -1e-4 {
			t.Fatalf("parameter %d is %g, by the loss of one's own %g", i, want[i], got[i])
		}
	}
	if other := train(focal); slices.Equal(other, got) {
		t.Error("the loss changes nothing")
	}
}
