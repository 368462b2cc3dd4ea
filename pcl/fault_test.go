package pcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
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

// playOut steps until all streams have ended, and returns the errors that steps gave on the way.
func playOut(t *testing.T, l *Learner) (failures []error) {
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
	if !slices.Equal(must[[]float32](t)(got.Parameters()), must[[]float32](t)(want.Parameters())) {
		t.Error("the parameters are not those of an undisturbed run")
	}
	if !slices.Equal(got.Memory().Pixels(), want.Memory().Pixels()) {
		t.Error("the memory is not that of an undisturbed run")
	}
	if got.Steps() != want.Steps() {
		t.Errorf("%d steps, an undisturbed run has %d", got.Steps(), want.Steps())
	}
}

// TestFailingCallsCostNothing: whatever single calls of a stream do instead of delivering a batch, each is
// told once, and the run ends with the bits of one whose stream never failed.
func TestFailingCallsCostNothing(t *testing.T) {
	broken := errors.New("broken")
	faults := map[string]func(b *data.Batch, next func(*data.Batch) error) error{
		"error":          func(*data.Batch, func(*data.Batch) error) error { return broken },
		"panic":          func(*data.Batch, func(*data.Batch) error) error { panic("boom") },
		"nothing":        func(*data.Batch, func(*data.Batch) error) error { return nil },
		"too many":       func(b *data.Batch, _ func(*data.Batch) error) error { b.N = len(b.Class) + 1; return nil },
		"negative":       func(b *data.Batch, _ func(*data.Batch) error) error { b.N = -1; return nil },
		"foreign class":  func(b *data.Batch, _ func(*data.Batch) error) error { b.N, b.Class[0] = 1, 2; return nil },
		"too few values": func(b *data.Batch, _ func(*data.Batch) error) error { b.N, b.X = 2, make([]float32, 70); return nil },
		"no classes":     func(b *data.Batch, _ func(*data.Batch) error) error { b.N, b.Class = 2, nil; return nil },
	}
	b := pcltest.Backend(t, backend.Go)
	want := two(t, b, Options{}, plain)
	if failures := playOut(t, want); failures != nil {
		t.Fatal(failures)
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			l := two(t, b, Options{}, func(s data.Resumable) data.Stream { return &faulty{Resumable: s, at: []int{3, 4, 7}, fault: fault} })
			failures := playOut(t, l)
			if len(failures) != 3 {
				t.Errorf("%d failures were told, want 3: %v", len(failures), failures)
			}
			for _, err := range failures {
				if at := new(StreamError); !errors.As(err, &at) || at.ID != 1 || (name == "error") != errors.Is(err, broken) {
					t.Errorf("%v: want an error of the stream of task 1", err)
				}
			}
			same(t, l, want)
		})
	}
}

// TestOwnSlices: a stream may put slices of its own, of any sufficient length, in the place of the
// batch's.
func TestOwnSlices(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	want := two(t, b, Options{}, plain)
	playOut(t, want)
	every := make([]int, 100)
	for i := range every {
		every[i] = i
	}
	l := two(t, b, Options{}, func(s data.Resumable) data.Stream {
		return &faulty{Resumable: s, at: every, fault: func(b *data.Batch, next func(*data.Batch) error) error {
			own := data.Batch{X: make([]float32, len(b.X)), Class: make([]int, len(b.Class))}
			err := next(&own)
			b.X, b.Class, b.N = append(own.X, 1, 2, 3), append(own.Class, 99, 99), own.N
			return err
		}}
	})
	if failures := playOut(t, l); failures != nil {
		t.Fatal(failures)
	}
	same(t, l, want)
}

// lastTogether returns io.EOF together with its last batch.
type lastTogether struct {
	data.Resumable
	left int
}

func (s *lastTogether) Next(b *data.Batch) error {
	err := s.Resumable.Next(b)
	if s.left--; err == nil && s.left == 0 {
		return io.EOF
	}
	return err
}

// TestEndWithTheLastBatch: a batch that comes together with io.EOF is trained on.
func TestEndWithTheLastBatch(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	want := two(t, b, Options{}, plain)
	playOut(t, want)
	l := two(t, b, Options{}, func(s data.Resumable) data.Stream { return &lastTogether{s, 10} })
	playOut(t, l)
	same(t, l, want)
	one := smallLearner(t, b, "avggrad", Options{})
	task := blobTask(t, pcltest.Blobs(1, 5, 1), 1, 0)
	task.Stream = &lastTogether{task.Stream.(data.Resumable), 1}
	attach(t, one, task)
	if failures := playOut(t, one); failures != nil || one.Steps() != 1 {
		t.Errorf("a stream of one batch: %d steps, failures %v", one.Steps(), failures)
	}
}

// TestWrongLastBatch: what is wrong with a batch that comes together with io.EOF is told before the task ends, also if the
// learner is saved in between.
func TestWrongLastBatch(t *testing.T) {
	b, path := pcltest.Backend(t, backend.Go), filepath.Join(t.TempDir(), "learner.pcl")
	foreign := func(b *data.Batch, next func(*data.Batch) error) error {
		if err := next(b); err != nil {
			return err
		}
		b.Class[0] = 9
		return io.EOF
	}
	for _, saved := range []bool{false, true} {
		l := two(t, b, Options{}, func(s data.Resumable) data.Stream { return &faulty{Resumable: s, at: []int{3}, fault: foreign} })
		for range 3 {
			must[*StepReport](t)(l.Step())
		}
		if saved {
			if err := l.Save(path); err != nil {
				t.Fatal(err)
			}
			d := pcltest.Blobs(4, 40, 10)
			l = smallLearner(t, b, "emgd-gmc", Options{})
			if err := l.Load(path, func(id int) (Task, error) { return blobTask(t, d, id, 2*id-2, 2*id-1), nil }); err != nil {
				t.Fatal(err)
			}
		}
		failures := playOut(t, l)
		if len(failures) != 1 || !strings.Contains(failures[0].Error(), "task 1") || !strings.Contains(failures[0].Error(), "class 9") {
			t.Errorf("saved %t: failures %v", saved, failures)
		}
	}
}

// TestFaultyStreamIsDetached: a stream that fails for good holds the others up until it is dropped.
func TestFaultyStreamIsDetached(t *testing.T) {
	for _, keep := range []bool{false, true} {
		b, every := pcltest.Backend(t, backend.Go), []int{2, 3, 4, 5, 6, 7, 8}
		l := two(t, b, Options{}, func(s data.Resumable) data.Stream {
			return &faulty{Resumable: s, at: every, fault: func(*data.Batch, func(*data.Batch) error) error { return io.ErrUnexpectedEOF }}
		})
		for range 2 {
			must[*StepReport](t)(l.Step())
		}
		for range 2 {
			at := new(StreamError)
			if _, err := l.Step(); !errors.As(err, &at) || at.ID != 1 {
				t.Fatalf("error %v", err)
			}
		}
		if err := l.Detach(1, keep); err != nil {
			t.Fatal(err)
		}
		if err := l.Detach(1, keep); err == nil {
			t.Error("a task was detached twice")
		}
		if err := l.Detach(3, keep); err == nil {
			t.Error("a task that never arrived was detached")
		}
		if failures := playOut(t, l); failures != nil || l.Steps() != 10 {
			t.Errorf("%d steps, failures %v; want the 10 of the healthy task", l.Steps(), failures)
		}
		if n, want := l.Memory().Len(), map[bool]int{false: 6, true: 12}[keep]; n != want {
			t.Errorf("kept: %t: %d samples in the memory, want %d", keep, n, want)
		}
	}
}

// TestBatchThatIsNotFinite: a batch with a NaN is left out of its step, none of its samples enters the
// memory, and later steps rehearse undisturbed.
func TestBatchThatIsNotFinite(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, name := range []string{"emgd-gmc", "avggrad", "gdumb", "gss", "der-pp", "icarl"} {
		d := pcltest.Blobs(4, 16, 10)
		l := smallLearner(t, b, name, Options{})
		task := blobTask(t, d, 1, 0, 1)
		task.Stream = &faulty{Resumable: task.Stream.(data.Resumable), at: []int{1, 3}, fault: func(b *data.Batch, next func(*data.Batch) error) error {
			err := next(b)
			b.X[70] = float32(math.NaN())
			return err
		}}
		attach(t, l, task)
		skipped := 0
		for range 4 {
			skipped += len(must[*StepReport](t)(l.Step()).Skipped)
		}
		if skipped != 2 && name != "gdumb" { // which makes no step
			t.Errorf("%s: %d batches were left out, want 2", name, skipped)
		}
		if l.Memory().Len() == 0 {
			t.Errorf("%s: nothing was stored", name)
		}
		for i, x := range l.Memory().Pixels() {
			if math.IsNaN(float64(x)) {
				t.Fatalf("%s: sample %d of the memory has a NaN", name, i/64)
			}
		}
		attach(t, l, blobTask(t, d, 2, 2, 3))
		for range 3 {
			if r := must[*StepReport](t)(l.Step()); len(r.Skipped) > 0 {
				t.Errorf("%s: a later step leaves out %v", name, r.Skipped)
			}
		}
	}
}

// TestStatisticsStayFinite: a batch with a NaN does not reach the running statistics of batch norm.
func TestStatisticsStayFinite(t *testing.T) {
	l := two(t, pcltest.Backend(t, backend.Go), Options{Model: normalised(t)}, func(s data.Resumable) data.Stream {
		return &faulty{Resumable: s, at: []int{1}, fault: func(b *data.Batch, next func(*data.Batch) error) error {
			err := next(b)
			b.X[0] = float32(math.Inf(1))
			return err
		}}
	})
	for step := range 3 {
		r := must[*StepReport](t)(l.Step())
		if (len(r.Skipped) == 1) != (step == 1) {
			t.Errorf("step %d leaves out %v", step, r.Skipped)
		}
	}
	for _, x := range l.network.statistics {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			t.Fatal("the running statistics are not finite")
		}
	}
}

// TestEndedStreamsAreLetGo: what a task's stream holds is free once the task has ended.
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
	if err := l.Detach(2, false); err != nil {
		t.Fatal(err)
	}
	playOut(t, l)
	runtime.GC()
	for i, s := range streams {
		if s.Value() != nil {
			t.Errorf("the stream of task %d is still held", i+1)
		}
	}
	runtime.KeepAlive(l)
}

// TestMemoryCountsClasses: the same classes attached again and again stay within their budget, in
// total budgets too, and more classes than places fail no step.
func TestMemoryCountsClasses(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 8, 2)
	for _, name := range []string{"emgd-gmc", "icarl", "der-pp"} {
		for _, c := range []struct {
			memory  memory.Config
			classes [][]int
			want    int
		}{
			{memory.Config{Policy: memory.PerClass, Budget: 5}, [][]int{{0, 1}, {0, 1}, {0, 1}, {0, 1}}, 10},
			{memory.Config{Policy: memory.FixedTotal, Budget: 7}, [][]int{{0, 1}, {0, 1}, {0, 1}, {0, 1}}, 6},
			{memory.Config{Policy: memory.FixedTotal, Budget: 4}, [][]int{{0, 1, 2}, {3, 4, 5}, {0, 5}}, 4},
		} {
			l := smallLearner(t, b, name, Options{Increment: scenario.ClassIncremental, Memory: c.memory})
			for i, classes := range c.classes {
				attach(t, l, blobTask(t, d, i+1, classes...))
				if failures := playOut(t, l); failures != nil {
					t.Fatalf("%s, %v: %v", name, c.memory, failures)
				}
			}
			if n := l.Memory().Len(); n != c.want {
				t.Errorf("%s, %v: %d samples are stored, want %d", name, c.memory, n, c.want)
			}
		}
	}
}

// TestAbsurdBudget is refused before anything is allocated; the largest that is not takes no more room
// than there are samples.
func TestAbsurdBudget(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, budget := range []int{memory.MaxBudget + 1, 1_000_000_000_000, math.MaxInt} {
		if err := (memory.Config{Policy: memory.PerClass, Budget: budget}).Validate(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("budget ", budget)) {
			t.Errorf("budget %d: error %v", budget, err)
		}
	}
	for _, policy := range []memory.Policy{memory.PerClass, memory.FixedTotal} {
		for _, name := range []string{"emgd-gmc", "icarl", "gdumb", "gss"} {
			l := smallLearner(t, b, name, Options{Memory: memory.Config{Policy: policy, Budget: memory.MaxBudget}})
			attach(t, l, blobTask(t, pcltest.Blobs(2, 8, 2), 1, 0, 1))
			if failures := playOut(t, l); failures != nil || l.Memory().Len() != 16 {
				t.Errorf("%s, %s: %d of 16 samples stored, failures %v", name, policy, l.Memory().Len(), failures)
			}
		}
	}
}

// failing fails where it is told to.
type failing struct {
	method.Method
	weights, follow error
}

func (f *failing) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	s.Rand.Uint64()
	if f.weights != nil {
		panic(f.weights)
	}
	return f.Method.Weights(s, w)
}

func (f *failing) Follow([]int, []float64) error { return f.follow }

// TestFailureBeforeTheUpdate: where a method fails on a step's gradients, the step can be made again and
// is the one that it would have been.
func TestFailureBeforeTheUpdate(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	var ends [2]*Learner
	for i := range ends {
		m := &failing{Method: newMethod(t, "rlw", nil)}
		l := two(t, b, Options{}, plain)
		l.options.Method = m
		for step := range 30 {
			if m.weights = nil; i == 1 && step%3 == 0 {
				m.weights = errors.New("no weights")
			}
			if _, err := l.Step(); errors.Is(err, ErrNoStream) {
				break
			} else if (err != nil) != (m.weights != nil) || err != nil && !strings.Contains(err.Error(), "no weights") {
				t.Fatalf("step %d: error %v", step, err)
			}
		}
		ends[i] = l
	}
	same(t, ends[1], ends[0])
}

// TestFailureAfterTheUpdate: a learner that stopped in the middle of a step says so in every call, until a
// checkpoint is loaded.
func TestFailureAfterTheUpdate(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 40, 10)
	m := &failing{Method: newMethod(t, "avggrad", nil)}
	l := two(t, b, Options{}, plain)
	l.options.Method = m
	must[*StepReport](t)(l.Step())
	path := filepath.Join(t.TempDir(), "learner.pcl")
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	m.follow = errors.New("lost the thread")
	if _, err := l.Step(); !errors.Is(err, m.follow) {
		t.Fatalf("error %v", err)
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
		"Warm":       func() error { return l.Warm(2) },
	}
	for name, call := range calls {
		if err := call(); err == nil {
			t.Errorf("%s on a learner that stopped: %v", name, err)
		}
	}
	if l.Steps() != 1 {
		t.Errorf("%d steps", l.Steps())
	}
	if err := l.Load(path, func(id int) (Task, error) { return blobTask(t, d, id, 2*id-2, 2*id-1), nil }); err != nil {
		t.Fatal(err)
	}
	if failures := playOut(t, l); failures != nil {
		t.Error(failures)
	}
	l.Close()
	calls["Load"] = func() error { return l.Load(path, nil) }
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s on a closed learner: %v", name, err)
		}
	}
	l.Close()
}

// TestSavedBetweenFailures saves where a stream owes a batch, and where one was fetched by a step that was
// not made: both go on as they would have.
func TestSavedBetweenFailures(t *testing.T) {
	b, path := pcltest.Backend(t, backend.Go), filepath.Join(t.TempDir(), "learner.pcl")
	d := pcltest.Blobs(4, 40, 10)
	want := two(t, b, Options{}, plain)
	playOut(t, want)
	again := func() *Learner {
		l := smallLearner(t, b, "emgd-gmc", Options{})
		if err := l.Load(path, func(id int) (Task, error) { return blobTask(t, d, id, 2*id-2, 2*id-1), nil }); err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := two(t, b, Options{}, func(s data.Resumable) data.Stream {
		return &faulty{Resumable: s, at: []int{3}, fault: func(*data.Batch, func(*data.Batch) error) error { return errors.New("once") }}
	})
	for range 3 {
		must[*StepReport](t)(l.Step())
	}
	if l.tasks[0].ready {
		t.Fatal("the third step did not meet the failure")
	}
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	l = again()
	playOut(t, l)
	same(t, l, want)

	l, m := two(t, b, Options{}, plain), &failing{Method: newMethod(t, "emgd-gmc", nil), weights: errors.New("once")}
	rule := l.options.Method
	l.options.Method = m
	if _, err := l.Step(); err == nil {
		t.Fatal("no failure")
	}
	if !l.tasks[0].fetched || !l.tasks[1].fetched {
		t.Fatal("the step that was not made has fetched nothing")
	}
	l.options.Method = rule
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	l = again()
	playOut(t, l)
	same(t, l, want)
}

// busybody calls the learner that reads it.
type busybody struct {
	data.Resumable
	learner **Learner
	errs    []error
}

func (s *busybody) Next(b *data.Batch) error {
	if l := *s.learner; l != nil {
		_, err := l.Evaluate(1)
		s.errs = append(s.errs, err)
		l.Steps()
		l.Active()
	}
	return s.Resumable.Next(b)
}

// State lets nothing of the calls into a checkpoint.
func (s *busybody) State() (json.RawMessage, error) { return s.Resumable.State() }

// TestOneCallAtATime: calls from other goroutines, and from within a stream, are answered by an error.
func TestOneCallAtATime(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		var l *Learner
		var stream *busybody
		made := two(t, b, Options{}, func(s data.Resumable) data.Stream {
			stream = &busybody{Resumable: s, learner: &l}
			return stream
		})
		l = made
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				// Until the learner is closed: a fixed number of calls could all be answered with ErrBusy.
				for err := error(nil); !errors.Is(err, ErrClosed); runtime.Gosched() {
					switch worker {
					case 0, 1:
						_, err = l.Step()
					case 2:
						_, err = l.Evaluate(2)
					case 3:
						_, err = l.Parameters()
					}
					l.Active()
					if err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrNoStream) && !errors.Is(err, ErrClosed) {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Go(func() {
			for l.Steps() < 5 {
				runtime.Gosched()
				if len(l.Active()) == 0 {
					break
				}
			}
			l.Close()
		})
		all.Wait()
		if len(stream.errs) == 0 {
			t.Fatal("the stream was not read")
		}
		for _, err := range stream.errs {
			if !errors.Is(err, ErrBusy) {
				t.Errorf("a call from within the stream: %v", err)
			}
		}
	})
}

// refusing is a method that fails where it is told to, with the roles of the one that it wraps.
type refusing struct {
	method.Method
	fail bool
}

func (r *refusing) Unwrap() method.Method { return r.Method }

func (r *refusing) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	if r.fail {
		return method.Outcome{}, errors.New("refused")
	}
	return r.Method.Weights(s, w)
}

// TestFailureAfterAnEdit: what a method has edited or noted in the memory before it fails is taken back.
func TestFailureAfterAnEdit(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for name, params := range map[string]map[string]any{"gmed": {"alpha": 1.0}, "mir": {"best_loss": true, "candidates": 2}} {
		var ends [2]*Learner
		for i := range ends {
			m := &refusing{Method: newMethod(t, name, params)}
			l := smallLearner(t, b, "", Options{Method: m, Increment: scenario.ClassIncremental, Batch: 4})
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
						if _, err := l.Step(); err == nil {
							t.Fatal("the method did not fail")
						}
					}
					if !reflect.DeepEqual(l.memory.Items(everyPlace(l)), before) {
						t.Errorf("%s: a step that failed has changed the memory", name)
					}
					m.fail = false
				}
				must[*StepReport](t)(l.Step())
			}
			ends[i] = l
		}
		same(t, ends[1], ends[0])
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

// TestStreamThatIsNotFinite: methods that use the tasks' gradients before they replay make the same steps, bit by bit,
// beside a stream whose batches are not finite as without it; and where no task's batch is finite, none of them moves.
func TestStreamThatIsNotFinite(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, name := range []string{"mir", "gmed", "gmed-release", "avggrad+gmed-release+si"} {
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
			if r := must[*StepReport](t)(both.Step()); len(r.Skipped) != 1 {
				t.Errorf("%s: %v were left out, want one stream", name, r.Skipped)
			}
			must[*StepReport](t)(alone.Step())
		}
		same(t, both, alone)
		if both.network.updates != alone.network.updates {
			t.Errorf("%s: %d updates, without the stream %d", name, both.network.updates, alone.network.updates)
		}
		before := none.network.updates
		if r := must[*StepReport](t)(none.Step()); len(r.Skipped) != 1 || none.network.updates != before+1 {
			t.Errorf("%s: %d updates with the rows %v, without %v; want the one of the memory", name, none.network.updates-before, r.IDs, r.Skipped)
		}
	}
}

// TestVirtualStepOfFiniteRows: the virtual step is one along the mean of the tasks' gradients that are finite.
func TestVirtualStepOfFiniteRows(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 24, 4)
	var ahead [3][]float32
	for i := range ahead {
		l := smallLearner(t, b, "mir", Options{Batch: 4})
		attach(t, l, blobTask(t, d, 1, 0, 1))
		playOut(t, l)
		if i < 2 {
			attach(t, l, blobTask(t, d, 2, 2, 3))
		}
		if i > 0 {
			attach(t, l, Task{Classes: []int{4}, Stream: unending{4, float32(math.Inf(1))}})
		}
		theta := must[[]float32](t)(l.Parameters())
		must[*StepReport](t)(l.Step())
		ahead[i] = must[[]float32](t)(device.Host(l.others.ahead, len(theta)))
		if slices.Equal(ahead[i], theta) != (i == 2) {
			t.Errorf("learner %d: the virtual step stands still: %t", i, slices.Equal(ahead[i], theta))
		}
	}
	if !slices.Equal(ahead[0], ahead[1]) {
		t.Error("a stream that is not finite changes the virtual step")
	}
}

// tables says of its batches that they are rows of a table that it makes up.
type tables struct {
	data.Resumable
	table []uint8
	row   int32
}

func (s tables) NextRows(b *data.Batch, rows []int32) ([]uint8, error) {
	for i := range rows {
		rows[i] = s.row
	}
	return s.table, s.Next(b)
}

// TestTables: an empty table is none, and one that does not have the rows is an error of its stream, on every device.
func TestTables(t *testing.T) {
	for _, b := range []*backend.Backend{pcltest.Backend(t, backend.Go), pcltest.Separate(t)} {
		for _, c := range []struct {
			table []uint8
			row   int32
			want  string
		}{
			{[]uint8{}, 7, ""}, {nil, 7, ""},
			{make([]uint8, 65), 0, "65 bytes"}, {make([]uint8, 128), 2, "row 2 of a table of 2 rows"}, {make([]uint8, 128), -1, "row -1"},
		} {
			l := smallLearner(t, b, "avggrad", Options{})
			task := blobTask(t, pcltest.Blobs(2, 16, 2), 1, 0, 1)
			task.Stream = tables{task.Stream.(data.Resumable), c.table, c.row}
			_, err := l.Attach(task)
			if c.want != "" {
				refused(t, err)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if failures := playOut(t, l); failures != nil {
				t.Error(failures)
			}
		}
	}
}

// broken is a set of test samples, and a stream that can be notified, that panic.
type broken struct{ data.Resumable }

func (*broken) Len() int                  { panic("no length") }
func (*broken) Sample(int, []float32) int { return 0 }
func (*broken) Notify(func()) func()      { panic("no bell") }

// ending is a method that panics when a row ends.
type ending struct{ method.Method }

func (ending) End(int)                                   { panic("no end") }
func (ending) MarshalState() (json.RawMessage, error)    { return nil, nil }
func (ending) UnmarshalState(data json.RawMessage) error { return nil }

// TestPanicsOfOthers: code that is not the learner's and panics is named in an error, whenever it is called.
func TestPanicsOfOthers(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(2, 16, 2)
	l := smallLearner(t, b, "avggrad", Options{})
	var none *data.Push
	_, err := l.Attach(Task{Classes: []int{0, 1}, Stream: none})
	refused(t, err)
	task := blobTask(t, d, 1, 0, 1)
	_, err = l.Attach(Task{Classes: []int{0, 1}, Stream: &broken{task.Stream.(data.Resumable)}})
	refused(t, err)
	if l.Arrived() != 0 {
		t.Errorf("%d tasks have arrived", l.Arrived())
	}
	for _, test := range []data.Samples{&broken{}, (*memory.Samples)(nil)} {
		task := blobTask(t, d, 1, 0, 1)
		task.Test = test
		id := attach(t, l, task)
		_, err = l.Evaluate(id)
		refused(t, err)
	}
	other := smallLearner(t, b, "", Options{Method: ending{newMethod(t, "avggrad", nil)}})
	id := attach(t, other, blobTask(t, d, 1, 0, 1))
	refused(t, other.Detach(id, false))
}

// naming is an optimiser whose vectors have given names.
type naming struct {
	optim.SGD
	names []string
}

func (o naming) State() []string { return o.names }

// TestNamesOfAnOptimiser: its vectors may not have the names of what else a checkpoint holds.
func TestNamesOfAnOptimiser(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, names := range [][]string{{"theta"}, {"m", "memory"}, {"memory/logits"}, {"statistics"}, {"remembered"}, {"reservoir/1"}, {"batch/2"}, {"ahead/1"}, {"m", "m"}} {
		_, err := NewLearner(completed(t, b, "avggrad", Options{Optimizer: naming{optim.SGD{LR: 0.1}, names}}))
		refused(t, err)
	}
	if err := reserved([]string{"m", "v", "thetas", "memory2"}); err != nil {
		t.Error(err)
	}
}

// leaving is a stream that ends the goroutine that it is called in, as FailNow of a test does, when it is asked for one batch.
type leaving struct{ asked, at int }

func (l *leaving) Next(b *data.Batch) error {
	if l.asked++; l.asked == l.at {
		runtime.Goexit()
	}
	b.N, b.Class[0] = 1, 0
	return nil
}

// TestStreamThatLeaves: such a stream is at fault, as one that panics, and the others go on.
func TestStreamThatLeaves(t *testing.T) {
	for at := 1; at < 4; at++ {
		l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{})
		attach(t, l, Task{Classes: []int{0, 1}, Stream: &leaving{}})
		id, err := l.Attach(Task{Classes: []int{0, 1}, Stream: &leaving{at: at}})
		if at == 1 {
			refused(t, err)
		}
		var fault *StreamError
		for range at {
			if _, err := l.Step(); err != nil && (!errors.As(err, &fault) || fault.ID != id) {
				t.Fatalf("batch %d: %v", at, err)
			}
		}
		if (at > 1) != (fault != nil) {
			t.Errorf("batch %d: the steps' error is %v", at, fault)
		}
		steps := l.Steps()
		for range 2 {
			must[*StepReport](t)(l.Step())
		}
		if l.Steps() != steps+2 || len(l.Running()) != min(at, 2) {
			t.Errorf("batch %d: %d steps after %d, tasks %v run", at, l.Steps(), steps, l.Running())
		}
	}
}

// leavers are test samples and a trace that end the goroutine that they are called in.
type leavers struct{ data.Samples }

func (leavers) Len() int { runtime.Goexit(); return 0 }

// TestCodeThatLeaves: other code that does so is told apart, too, and a step is made completely or not at all.
func TestCodeThatLeaves(t *testing.T) {
	o := Options{Trace: func(*Trace) error { runtime.Goexit(); return nil }}
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", o)
	attach(t, l, Task{Classes: []int{0, 1}, Stream: &leaving{}, Test: leavers{}})
	_, err := l.Evaluate(1)
	refused(t, err)
	_, err = l.Step()
	refused(t, err)
	_, err = l.Step()
	refused(t, err)
}
