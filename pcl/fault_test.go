package pcl

import (
	"errors"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"weak"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// faulty does something else than to read its stream, in some of its calls.
type faulty struct {
	data.Resumable
	at    []int // calls of Next, from 0
	fault func(b *data.Batch, next func(*data.Batch) error) error
	calls int
}

func (s *faulty) Next(b *data.Batch) error {
	s.calls++
	if slices.Contains(s.at, s.calls-1) {
		return s.fault(b, s.Resumable.Next)
	}
	return s.Resumable.Next(b)
}

// failures steps until all streams have ended, and returns the errors that steps gave on the way.
func failures(t *testing.T, l *Learner) (failures []error) {
	t.Helper()
	for range 200 {
		switch _, err := l.Step(); {
		case errors.Is(err, ErrNoStream):
			return failures
		case err != nil:
			failures = append(failures, err)
		}
	}
	t.Fatalf("no end after 200 steps; failures: %v", failures)
	return nil
}

// playOut steps until all streams have ended.
func playOut(t *testing.T, l *Learner) {
	t.Helper()
	if failures := failures(t, l); failures != nil {
		t.Fatal(failures)
	}
}

// two has a learner with a healthy task 2 and a task 1 whose stream f changes.
func two(t *testing.T, b *backend.Backend, o Options, f func(s data.Resumable) data.Stream) *Learner {
	t.Helper()
	d := pcltest.Blobs(4, 40, 10)
	l := smallLearner(t, b, "emgd-gmc", o)
	first := blobTask(t, d, 1, 0, 1)
	first.Stream = f(first.Stream.(data.Resumable))
	attach(t, l, first)
	attach(t, l, blobTask(t, d, 2, 2, 3))
	return l
}

func plain(s data.Resumable) data.Stream { return s }

// same compares two learners that were played out.
func same(t *testing.T, got, want *Learner) {
	t.Helper()
	if !slices.Equal(must.Get(got.Parameters())(t), must.Get(want.Parameters())(t)) {
		t.Error("the parameters are not those of an undisturbed run")
	}
	if !slices.Equal(pixels(got), pixels(want)) {
		t.Error("the memory is not that of an undisturbed run")
	}
	if got.Steps() != want.Steps() {
		t.Errorf("%d steps, an undisturbed run has %d", got.Steps(), want.Steps())
	}
}

// TestFailingCallsCostNothing: whatever single calls of a stream do instead of delivering a batch,
// each is told once, and the run ends with the bits of one whose stream never failed.
func TestFailingCallsCostNothing(t *testing.T) {
	broken := errors.New("broken")
	faults := map[string]func(b *data.Batch, next func(*data.Batch) error) error{
		"error":         func(*data.Batch, func(*data.Batch) error) error { return broken },
		"panic":         func(*data.Batch, func(*data.Batch) error) error { panic("boom") },
		"nothing":       func(*data.Batch, func(*data.Batch) error) error { return nil },
		"too many":      func(b *data.Batch, _ func(*data.Batch) error) error { b.N = len(b.Class) + 1; return nil },
		"negative":      func(b *data.Batch, _ func(*data.Batch) error) error { b.N = -1; return nil },
		"foreign class": func(b *data.Batch, _ func(*data.Batch) error) error { b.N, b.Class[0] = 1, 2; return nil },
		"too few values": func(b *data.Batch, _ func(*data.Batch) error) error {
			b.N, b.X = 2, make([]float32, 70)
			return nil
		},
		"no classes": func(b *data.Batch, _ func(*data.Batch) error) error { b.N, b.Class = 2, nil; return nil },
	}
	b := pcltest.Backend(t, backend.Go)
	want := two(t, b, Options{}, plain)
	playOut(t, want)
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			l := two(t, b, Options{}, func(s data.Resumable) data.Stream {
				return &faulty{Resumable: s, at: []int{3, 4, 7}, fault: fault}
			})
			failures := failures(t, l)
			if len(failures) != 3 {
				t.Errorf("%d failures were told, want 3: %v", len(failures), failures)
			}
			for _, err := range failures {
				switch at := new(StreamError); {
				case !errors.As(err, &at):
					t.Error("errors.As(err, &at) is false")
				case at.ID != 1:
					t.Errorf("at.ID is %d; want 1", at.ID)
				case (name == "error") != errors.Is(err, broken):
					t.Errorf("%v: want an error of the stream of task 1", err)
				}
			}
			same(t, l, want)
		})
	}
}

// TestWrongLastBatch: a fault in a batch that comes together with io.EOF is reported before the
// task ends.
func TestWrongLastBatch(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := two(t, b, Options{}, func(s data.Resumable) data.Stream {
		return &faulty{Resumable: s, at: []int{3}, fault: func(b *data.Batch, next func(*data.Batch) error) error {
			must.Do(t, next(b))
			b.Class[0] = 9
			return io.EOF
		}}
	})
	steps(t, l, 3)
	if failures := failures(t, l); len(failures) != 1 {
		t.Errorf("failures %v, want one", failures)
	}
}

// TestStatisticsStayFinite: a sample with an infinity does not reach the running statistics of
// batch norm, and costs itself only.
func TestStatisticsStayFinite(t *testing.T) {
	l := two(t, pcltest.Backend(t, backend.Go), Options{Model: normalised(t)}, func(s data.Resumable) data.Stream {
		return &faulty{Resumable: s, at: []int{1}, fault: func(b *data.Batch, next func(*data.Batch) error) error {
			err := next(b)
			b.X[0] = float32(math.Inf(1))
			return err
		}}
	})
	for step := range 3 {
		r := must.Get(l.Step())(t)
		switch {
		case len(r.Skipped) != 0:
			t.Errorf("len(r.Skipped) is %d; want 0", len(r.Skipped))
		case (r.LeftOut[1] == 1) != (step == 1):
			t.Errorf("(r.LeftOut[1] == 1) is %t; want %t", (r.LeftOut[1] == 1), (step == 1))
		case len(r.LeftOut) > 1:
			t.Errorf("len(r.LeftOut) is %d; want at most 1", len(r.LeftOut))
		}
	}
	for _, x := range l.network.statistics {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			t.Fatal("the running statistics are not finite")
		}
	}
}

// TestEndedStreamsAreLetGo: a task's stream can be collected once the task has ended.
func TestEndedStreamsAreLetGo(t *testing.T) {
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{})
	var streams []weak.Pointer[faulty]
	func() {
		d := pcltest.Blobs(4, 8, 2)
		for id := 1; id <= 2; id++ {
			task := blobTask(t, d, id, 2*id-2, 2*id-1)
			s := &faulty{Resumable: task.Stream.(data.Resumable)}
			streams, task.Stream = append(streams, weak.Make(s)), s
			attach(t, l, task)
		}
	}()
	must.Do(t, l.Detach(2, false))
	playOut(t, l)
	runtime.GC()
	for i, s := range streams {
		if s.Value() != nil {
			t.Errorf("the stream of task %d is still held", i+1)
		}
	}
	runtime.KeepAlive(l)
}

// TestAbsurdBudget: the largest budget takes no more room than there are samples.
func TestAbsurdBudget(t *testing.T) {
	for _, policy := range []string{"per_class", "fixed_total"} {
		t.Run(policy, func(t *testing.T) {
			for _, name := range []string{"emgd-gmc", "icarl", "gdumb", "gss"} {
				l := smallLearner(t, pcltest.Backend(t, backend.Go), name,
					Options{Memory: memory.Config{Policy: policy, Budget: 1 << 30}})
				attach(t, l, blobTask(t, pcltest.Blobs(2, 8, 2), 1, 0, 1))
				playOut(t, l)
				if l.Memory().Len() != 16 {
					t.Errorf("%s, %s: %d of 16 samples stored", name, policy, l.Memory().Len())
				}
			}
		})
	}
}

// failing fails where it is told to.
type failing struct {
	method.Method
	follow error
}

func (f *failing) Follow([]int, []float64) error { return f.follow }

// TestFailureAfterTheUpdate: a learner that stopped in the middle of a step says so in every call,
// until a checkpoint is loaded.
func TestFailureAfterTheUpdate(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 40, 10)
	m := &failing{Method: newMethod(t, "avggrad", nil)}
	l := two(t, b, Options{}, plain)
	l.method = must.Get(method.Start(m))(t)
	must.Get(l.Step())(t)
	path := filepath.Join(t.TempDir(), "learner.pcl")
	must.Do(t, l.Save(path))
	m.follow = errors.New("lost the thread")
	if _, err := l.Step(); !errors.Is(err, m.follow) {
		t.Fatalf("error %v", expect.Text(err))
	}
	m.follow = nil
	task := blobTask(t, d, 3, 0, 1)
	calls := map[string]func() error{
		"Step":       func() error { _, err := l.Step(); return err },
		"Evaluate":   func() error { _, err := l.Evaluate(1); return err },
		"Attach":     func() error { _, err := l.Attach(task); return err },
		"Detach":     func() error { return l.Detach(1, true) },
		"Save":       func() error { return l.Save(path) },
		"Parameters": func() error { _, err := l.Parameters(); return err },
		"Features":   func() error { _, _, err := l.Features(task.Test); return err },
		"Precompile": func() error { return l.Precompile(2) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			refused(t, call(), "the learner stopped after 1 steps and cannot go on")
		})
	}
	if l.Steps() != 1 {
		t.Errorf("%d steps", l.Steps())
	}
	must.Do(t, l.Load(path, pairs(t, d)))
	playOut(t, l)
	l.Close()
	calls["Load"] = func() error { return l.Load(path, nil) }
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			expect.Refusal(t, "on a closed learner", call(), ErrClosed)
		})
	}
	l.Close()
}

// TestCallsAtOnce: calls from several goroutines take turns, until the learner is closed.
func TestCallsAtOnce(t *testing.T) {
	l := two(t, pcltest.Backend(t, backend.Go), Options{}, func(s data.Resumable) data.Stream { return s })
	var all sync.WaitGroup
	for _, call := range []func() error{
		func() error { return second(l.Step()) }, func() error { return second(l.Step()) },
		func() error { return second(l.Evaluate(2)) }, func() error { return second(l.Parameters()) },
	} {
		all.Go(func() {
			for err := error(nil); !errors.Is(err, ErrClosed); {
				if err = call(); err != nil && !errors.Is(err, ErrNoStream) && !errors.Is(err, ErrClosed) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Go(func() {
		for l.Steps() < 5 && len(l.Running()) > 0 {
			runtime.Gosched()
		}
		l.Close()
	})
	all.Wait()
}

// refusing is a method that fails where it is told to, with the roles of the one that it wraps.
type refusing struct {
	method.Method
	fail bool
}

func (r *refusing) Unwrap() method.Method { return r.Method }

func (r *refusing) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	s.Rand.Uint64()
	if r.fail {
		return method.Outcome{}, errors.New("refused")
	}
	return r.Method.Weights(s, w)
}

// TestFailureBeforeTheUpdate: draws of a method, and its edits and notes in the memory, are taken
// back if it fails.
func TestFailureBeforeTheUpdate(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for name, params := range map[string]map[string]any{"rlw": nil, "gmed": {"alpha": 1.0},
		"mir": {"best_loss": true, "candidates": 2}} {
		t.Run(name, func(t *testing.T) {
			var ends [2]*Learner
			for i := range ends {
				m := &refusing{Method: newMethod(t, name, params)}
				l := smallLearner(t, b, "", Options{Method: m, Increment: "class", Batch: 4})
				d := pcltest.Blobs(4, 24, 5)
				attach(t, l, blobTask(t, d, 1, 0, 1))
				playOut(t, l)
				attach(t, l, blobTask(t, d, 2, 2, 3))
				for step := range 4 {
					if m.fail = i == 1 && step > 0; m.fail {
						before := l.memory.Items(everyPlace(l))
						for k := range before {
							before[k].Pixels = slices.Clone(before[k].Pixels)
						}
						for range 2 {
							refused(t, second(l.Step()), "refused")
						}
						if !reflect.DeepEqual(l.memory.Items(everyPlace(l)), before) {
							t.Error("a step that failed has changed the memory")
						}
						m.fail = false
					}
					must.Get(l.Step())(t)
				}
				ends[i] = l
			}
			same(t, ends[1], ends[0])
		})
	}
}

func everyPlace(l *Learner) (places []int) {
	for i := range l.memory.Len() {
		places = append(places, i)
	}
	return places
}

// unending delivers batches of NaN, or of what it is told, without end.
type unending struct {
	class int
	value float32
}

func (s unending) Next(b *data.Batch) error {
	b.N = len(b.Class)
	for i := range b.X {
		b.X[i] = s.value
	}
	for i := range b.Class {
		b.Class[i] = s.class
	}
	return nil
}

// TestStreamThatIsNotFinite: methods that use the tasks' gradients before they replay make the same
// steps, bit by bit, beside a stream whose batches are not finite as without it; and where no
// task's batch is finite, none of them moves.
func TestStreamThatIsNotFinite(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, name := range []string{"mir", "gmed", "gmed-release", "avggrad+gmed-release+si"} {
		t.Run(name, func(t *testing.T) {
			d := pcltest.Blobs(6, 24, 4)
			learner := func() *Learner {
				l := smallLearner(t, b, name, Options{Batch: 4})
				attach(t, l, blobTask(t, d, 1, 0, 1))
				playOut(t, l)
				return l
			}
			both, alone, none := learner(), learner(), learner()
			for _, l := range []*Learner{both, alone} {
				attach(t, l, blobTask(t, d, 2, 2, 3))
			}
			for _, l := range []*Learner{both, none} {
				attach(t, l, Task{Classes: []int{4}, Stream: unending{4, float32(math.NaN())}})
			}
			for range 3 {
				if r := must.Get(both.Step())(t); len(r.Skipped) != 1 {
					t.Errorf("%v were left out, want one stream", r.Skipped)
				}
				must.Get(alone.Step())(t)
			}
			same(t, both, alone)
			if both.network.updates != alone.network.updates {
				t.Errorf("%d updates, without the stream %d", both.network.updates, alone.network.updates)
			}
			before := none.network.updates
			if r := must.Get(none.Step())(t); len(r.Skipped) != 1 || none.network.updates != before+1 {
				t.Errorf("%d updates with the rows %v, without %v; want the one of the memory", none.network.updates-before,
					r.IDs, r.Skipped)
			}
		})
	}
}

// pixels joins those of the stored samples.
func pixels(l *Learner) (all []float32) {
	for _, it := range l.Memory().Samples() {
		all = append(all, it.Pixels...)
	}
	return all
}
