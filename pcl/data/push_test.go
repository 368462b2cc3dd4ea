package data

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

func newPush(t testing.TB, inputs, capacity int, classes ...int) *PushStream {
	t.Helper()
	p := must.Get(NewPushStream(inputs, capacity, classes))(t)
	return p.AtLeast(1)
}

func room(n, inputs int) *Batch {
	return &Batch{X: make([]float32, n*inputs), Class: make([]int, n)}
}

// TestPush: samples come out in their order, in batches, and the end comes with the last of them.
func TestPush(t *testing.T) {
	p, b := newPush(t, 2, 5, 7, 8), room(3, 2)
	if err := p.Next(b); !errors.Is(err, ErrNotReady) {
		t.Fatalf("an empty stream: %v", expect.Text(err))
	}
	woken := 0
	p.Notify(func() { woken++ })
	switch n, err := p.Push(t.Context(), []float32{1, 2, 3, 4, 5, 6, 7, 8}, 7, 8, 7, 8); {
	case n != 4:
		t.Fatalf("n is %d; want 4", n)
	case err != nil:
		t.Fatal(err)
	case woken != 1:
		t.Fatalf("woken is %d; want 1", woken)
	}
	switch err := p.Next(b); {
	case err != nil:
		t.Fatal(err)
	case b.N != 3:
		t.Fatalf("b.N is %d; want 3", b.N)
	case !slices.Equal(b.X, []float32{1, 2, 3, 4, 5, 6}):
		t.Fatalf("b.X is %v; want %v", b.X, []float32{1, 2, 3, 4, 5, 6})
	case !slices.Equal(b.Class, []int{7, 8, 7}):
		t.Fatalf("b.Class is %v; want %v", b.Class, []int{7, 8, 7})
	}
	if _, err := p.Push(t.Context(), []float32{9, 10, 11, 12}, 7, 7); err != nil {
		t.Fatal(err)
	}
	p.End()
	_, err := p.Push(t.Context(), []float32{9, 10}, 7)
	expect.Refusal(t, "pushed after the end", err, ErrEnded)
	switch err := p.Next(b); {
	case err != io.EOF:
		t.Fatalf("%v: %+v", err, b)
	case b.N != 3:
		t.Fatalf("b.N is %d; want 3", b.N)
	case !slices.Equal(b.X, []float32{7, 8, 9, 10, 11, 12}):
		t.Fatalf("b.X is %v; want %v", b.X, []float32{7, 8, 9, 10, 11, 12})
	case !slices.Equal(b.Class, []int{8, 7, 7}):
		t.Fatalf("b.Class is %v; want %v", b.Class, []int{8, 7, 7})
	}
	if err := p.Next(b); err != io.EOF {
		t.Error(err)
	}
}

// TestPushRefuses: samples that cannot be trained on are refused with an error that names them, and
// none is taken.
func TestPushRefuses(t *testing.T) {
	p := newPush(t, 2, 5, 7, 8)
	nan := float32(math.NaN())
	for name, push := range map[string]func() (int, error){
		"no samples":    func() (int, error) { return p.Push(t.Context(), nil) },
		"too few":       func() (int, error) { return p.Push(t.Context(), []float32{1, 2, 3}, 7, 7) },
		"foreign class": func() (int, error) { return p.Push(t.Context(), []float32{1, 2, 3, 4}, 7, 9) },
		"not finite":    func() (int, error) { return p.Push(t.Context(), []float32{1, 2, 3, nan}, 7, 8) },
	} {
		t.Run(name, func(t *testing.T) {
			switch n, err := push(); {
			case n != 0:
				t.Errorf("n is %d; want 0", n)
			case err == nil:
				t.Error("no error")
			case p.Len() != 0:
				t.Errorf("p.Len() is %d; want 0", p.Len())
			}
		})
	}
	if _, err := NewPushStream(2, 0, []int{1}); err == nil {
		t.Error("a stream without room")
	}
	if _, err := NewPushStream(2, 3, nil); err == nil {
		t.Error("a stream without classes")
	}
	if err := p.Next(room(2, 3)); err == nil || errors.Is(err, ErrNotReady) {
		t.Errorf("a model of three inputs: %v", expect.Text(err))
	}
}

// TestPushListeners: the last listener is woken, also after the one before has stopped listening.
func TestPushListeners(t *testing.T) {
	p := newPush(t, 1, 8, 0)
	var first, second int
	stop := p.Notify(func() { first++ })
	p.Push(t.Context(), []float32{1}, 0)
	p.Notify(func() { second++ }) // samples wait already
	stop()
	stop()
	p.Push(t.Context(), []float32{2}, 0)
	if first != 1 || second != 2 {
		t.Errorf("woken %d and %d times, want 1 and 2", first, second)
	}
}

// TestPushAtLeast: a stream can wait for a whole batch, but not at its end.
func TestPushAtLeast(t *testing.T) {
	p, b := newPush(t, 1, 8, 0), room(4, 1)
	p.AtLeast(4)
	woken := 0
	p.Notify(func() { woken++ })
	for i := range 3 {
		p.Push(t.Context(), []float32{float32(i)}, 0)
	}
	if err := p.Next(b); !errors.Is(err, ErrNotReady) || woken != 0 {
		t.Fatalf("ready with three samples: %v, woken %d times", expect.Text(err), woken)
	}
	p.End()
	switch err := p.Next(b); {
	case err != io.EOF:
		t.Fatalf("%v, %d samples, woken %d times", err, b.N, woken)
	case b.N != 3:
		t.Fatalf("b.N is %d; want 3", b.N)
	case woken != 1:
		t.Fatalf("woken is %d; want 1", woken)
	}
}

// TestPushWholeBatches: a new stream is ready with a whole batch, or when samples have waited long
// enough for the others.
func TestPushWholeBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must.Get(NewPushStream(1, 8, []int{0}))(t)
		b, woken := room(4, 1), 0
		next := func(want int, err error) {
			t.Helper()
			synctest.Wait()
			if b.N = 0; !errors.Is(p.Next(b), err) || b.N != want {
				t.Fatalf("%d samples, want %d and %v", b.N, want, err)
			}
		}
		next(0, ErrNotReady)
		p.Notify(func() { woken++ })
		p.Push(t.Context(), make([]float32, 6), 0, 0, 0, 0, 0, 0)
		next(4, nil)
		next(0, ErrNotReady)
		time.Sleep(patience - time.Millisecond)
		next(0, ErrNotReady)
		time.Sleep(time.Millisecond)
		next(2, nil)
		if woken != 2 {
			t.Errorf("woken %d times, want 2", woken)
		}
		time.Sleep(2 * patience)
		p.Push(t.Context(), make([]float32, 3), 0, 0, 0)
		next(0, ErrNotReady)
		p.End()
		next(3, io.EOF)
	})
}

// TestPushWaits: who pushes into a full stream waits for room, for the end, or until its context is
// cancelled.
func TestPushWaits(t *testing.T) {
	p, b := newPush(t, 1, 2, 0), room(2, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if n, err := p.Push(ctx, []float32{1, 2, 3}, 0, 0, 0); n != 2 || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d taken, %v", n, expect.Text(err))
	}
	pushed := make(chan error)
	go func() { _, err := p.Push(context.Background(), []float32{3, 4, 5}, 0, 0, 0); pushed <- err }()
	var got []float32
	for len(got) < 4 {
		if err := p.Next(b); err == nil {
			got = append(got, b.X[:b.N]...)
		} else if !errors.Is(err, ErrNotReady) {
			t.Fatal(expect.Text(err))
		}
		runtime.Gosched()
	}
	if err := <-pushed; err != nil || !slices.Equal(got[:4], []float32{1, 2, 3, 4}) {
		t.Fatalf("%v, got %v", expect.Text(err), got)
	}
	for p.Len() < 2 {
		p.Push(t.Context(), []float32{9}, 0)
	}
	go func() { _, err := p.Push(context.Background(), []float32{6}, 0); pushed <- err }()
	p.End()
	expect.Refusal(t, "waited for room until the end", <-pushed, ErrEnded)
}

// TestReserve: room that is kept for samples is nobody else's, until they come or it is given back.
func TestReserve(t *testing.T) {
	p, b := newPush(t, 1, 4, 0), room(4, 1)
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if n, err := p.Reserve(t.Context(), 3); n != 3 || err != nil {
		t.Fatalf("room for %d, %v", n, err)
	}
	if n, err := p.Push(soon, []float32{1, 2}, 0, 0); n != 1 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d taken beside the room that is kept, %v", n, err)
	}
	got := make(chan int)
	go func() { n, _ := p.Reserve(context.Background(), 9); got <- n }()
	if err := p.Fill(3, []float32{3}, 0); err != nil {
		t.Error(err)
	}
	if n := <-got; n != 2 {
		t.Errorf("room for %d was given back, want 2", n)
	}
	if err := p.Fill(0, []float32{4, 5, 6}, 0, 0, 0); err != nil || p.Len() != 5 { // more than there is room for
		t.Errorf("%d samples wait, %v", p.Len(), err)
	}
	p.End()
	if err := p.Fill(2, []float32{7, 8}, 0, 0); !errors.Is(err, ErrEnded) {
		t.Errorf("samples for an ended stream: %v", err)
	}
	if err := p.Next(b); err != nil || !slices.Equal(b.X[:b.N], []float32{1, 3, 4, 5}) {
		t.Errorf("delivered %v, %v", b.X[:b.N], err)
	}
	if _, err := p.Reserve(t.Context(), 1); !errors.Is(err, ErrEnded) {
		t.Errorf("room in an ended stream: %v", err)
	}
}

// TestPushState: what waits is saved, and comes before what was pushed since.
func TestPushState(t *testing.T) {
	p := newPush(t, 1, 3, 0, 1)
	p.Push(t.Context(), []float32{1, 2, 3}, 0, 1, 0)
	b := room(2, 1)
	p.Next(b)
	p.Push(t.Context(), []float32{-1.5}, 1)
	s := must.Get(p.State())(t)
	again := newPush(t, 1, 3, 0, 1)
	again.Push(t.Context(), []float32{5, 6}, 1, 1)
	must.Do(t, again.SetState(s))
	b = room(8, 1)
	switch err := again.Next(b); {
	case err != nil:
		t.Error(err)
	case !slices.Equal(b.X[:b.N], []float32{3, -1.5, 5, 6}):
		t.Errorf("b.X[:b.N] is %v; want %v", b.X[:b.N], []float32{3, -1.5, 5, 6})
	case !slices.Equal(b.Class[:b.N], []int{0, 1, 1, 1}):
		t.Errorf("b.Class[:b.N] is %v; want %v", b.Class[:b.N], []int{0, 1, 1, 1})
	}
	for _, bad := range []string{"", "{}x", `{"class":[0],"x":""}`, `{"class":[9],"x":"AAAAAA=="}`} {
		t.Run(bad, func(t *testing.T) {
			if err := again.SetState([]byte(bad)); err == nil {
				t.Errorf("state %q was taken", bad)
			}
		})
	}
}

// TestMillionPushes: eight producers push a million samples through a small stream. Each comes out
// once, those of a producer in their order, and the stream uses no more memory than at the start.
func TestMillionPushes(t *testing.T) {
	const producers, each, capacity, inputs = 8, 125_000, 1024, 4
	p, b := newPush(t, inputs, capacity, 0, 1, 2, 3, 4, 5, 6, 7), room(128, inputs)
	ready := make(chan struct{}, 1)
	p.Notify(func() {
		select {
		case ready <- struct{}{}:
		default:
		}
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for producer := range producers {
		all.Go(func() {
			x := make([]float32, inputs)
			for i := range each {
				x[0], x[inputs-1] = float32(i), float32(-i)
				if _, err := p.Push(context.Background(), x, producer); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	go func() { all.Wait(); p.End() }()
	var next [producers]int
	for done := false; !done; {
		err := p.Next(b)
		switch {
		case errors.Is(err, ErrNotReady):
			<-ready
			continue
		case err == io.EOF:
			done = true
		case err != nil:
			t.Fatal(err)
		}
		for i := range b.N {
			x, producer := b.X[i*inputs:(i+1)*inputs], b.Class[i]
			if int(x[0]) != next[producer] || x[0] != -x[inputs-1] {
				t.Fatalf("producer %d: sample %v came out, want number %d", producer, x, next[producer])
			}
			next[producer]++
		}
		if p.Len() > capacity {
			t.Fatalf("%d samples wait", p.Len())
		}
		b.N = 0
	}
	for producer, n := range next {
		if n != each {
			t.Errorf("producer %d: %d of %d samples came out", producer, n, each)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 256<<10 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	runtime.KeepAlive(p)
}

// TestAtLeastWakes: a stream that is to be ready with fewer samples than wait already says so.
func TestAtLeastWakes(t *testing.T) {
	p, woken := newPush(t, 1, 8, 0), 0
	p.AtLeast(4)
	p.Notify(func() { woken++ })
	p.Push(t.Context(), []float32{1, 2}, 0, 0)
	if p.AtLeast(3); woken != 0 {
		t.Errorf("two of three samples: woken %d times", woken)
	}
	if p.AtLeast(2); woken != 1 {
		t.Errorf("two of two samples: woken %d times", woken)
	}
}

// TestPushCapacityStays: samples of a checkpoint may be more than a stream holds, but it does not
// hold more for ever.
func TestPushCapacityStays(t *testing.T) {
	p := newPush(t, 1, 2, 0)
	if err := p.SetState([]byte(`{"class":[0,0,0],"x":"AACAPwAAAEAAAEBA"}`)); err != nil || p.Len() != 3 {
		t.Fatalf("%d samples wait, %v", p.Len(), expect.Text(err))
	}
	switch b := room(8, 1); {
	case p.Next(b) != nil:
		t.Fatal(p.Next(b))
	case !slices.Equal(b.X[:b.N], []float32{1, 2, 3}):
		t.Fatalf("b.X[:b.N] is %v; want %v", b.X[:b.N], []float32{1, 2, 3})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := p.Push(ctx, []float32{4, 5, 6}, 0, 0, 0); n != 2 || !errors.Is(err, context.Canceled) {
		t.Errorf("a stream for two samples took %d, %v", n, expect.Text(err))
	}
	defer func() {
		if recover() == nil {
			t.Error("a stream for two samples would wait for three")
		}
	}()
	p.AtLeast(3)
}

// TestDamagedOrder: a state in which a sample comes twice, and another never, is no position of a
// stream.
func TestDamagedOrder(t *testing.T) {
	s := must.Get(NewStream(three{}, 1, 1, 1))(t)
	state := must.Get(s.State())(t)
	var fields map[string]any
	must.Do(t, json.Unmarshal(state, &fields))
	fields["order"] = []int{0, 1, 1}
	twice := must.Get(json.Marshal(fields))(t)
	fields["order"], fields["epoch"] = []int{0, 1, 2}, 1
	later := must.Get(json.Marshal(fields))(t)
	if s.SetState(twice) == nil || s.SetState(later) == nil {
		t.Error("taken")
	}
	if err := s.SetState(state); err != nil {
		t.Error(err)
	}
}

type three struct{}

func (three) Len() int                      { return 3 }
func (three) Sample(i int, x []float32) int { x[0] = float32(i); return 0 }

// TestManyClasses: the classes of samples are looked up, whatever their number.
func TestManyClasses(t *testing.T) {
	const n = 50_000
	classes := make([]int, n)
	for i := range classes {
		classes[i] = n - i
	}
	p := newPush(t, 1, n, classes...)
	began := time.Now()
	if taken, err := p.Push(t.Context(), make([]float32, n), classes...); taken != n || err != nil {
		t.Errorf("%d taken, %v", taken, expect.Text(err))
	}
	if took := time.Since(began); took > time.Second { // one after another takes 2.5·10⁹ comparisons at worst
		t.Errorf("%v", took)
	}
	if taken, err := p.Push(t.Context(), []float32{0}, n+1); taken != 0 || err == nil {
		t.Errorf("%d taken of a class that the stream does not have", taken)
	}
}
