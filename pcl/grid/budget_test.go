package grid

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestTimeUp gives workers little time: each ends on its own before that, no cell is left unsaved, and no worker
// begins a cell that it knows it cannot finish.
func TestTimeUp(t *testing.T) {
	f, m := planned(t, small(t, 3))
	const step, steps = 10 * time.Millisecond, 20 // a cell takes 0.2 s
	workers, begun := 0, 0
	for ; workers < 40; workers++ {
		maker := &fake{steps: steps, step: step}
		began := time.Now()
		_, err := f.Work(context.Background(), m, maker, WorkOptions{Time: 500 * time.Millisecond, Reserve: 50 * time.Millisecond})
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("a worker took %v", took)
		}
		begun += len(maker.begun)
		if err == nil {
			break
		}
		if !errors.Is(err, ErrTimeUp) {
			t.Fatal(err)
		}
	}
	if workers == 0 || workers == 40 {
		t.Fatalf("%d workers ran out of time", workers)
	}
	t.Logf("%d workers ran out of time, cells begun %d times", workers, begun)
	complete(t, f, m, steps)
}

// TestLongCell has cells that take longer than any worker may: they are made in parts.
func TestLongCell(t *testing.T) {
	f, m := planned(t, small(t, 1))
	maker := &fake{steps: 60, step: 5 * time.Millisecond}
	for n := 0; ; n++ {
		_, err := f.Work(context.Background(), m, maker, WorkOptions{Time: 200 * time.Millisecond, Reserve: 20 * time.Millisecond})
		if err == nil {
			break
		}
		if !errors.Is(err, ErrTimeUp) || n > 100 {
			t.Fatalf("worker %d: %v", n, err)
		}
	}
	parts := 0
	for _, steps := range maker.begun {
		parts += len(steps)
	}
	if parts < 6 {
		t.Errorf("4 cells of 0.3 s in %d parts of less than 0.2 s", parts)
	}
	complete(t, f, m, 60)
}

func TestBudget(t *testing.T) {
	now := new(clock)
	b := &budget{total: 100 * time.Second, reserve: 5 * time.Second, clock: now.time}
	for second, c := range map[int]struct{ fits, impossible time.Duration }{0: {90, 0}, 1: {90, 0}, 11: {84, 85}} {
		now.now.Store(int64(second) * int64(time.Second))
		if !b.fits(c.fits*time.Second) || c.impossible > 0 && (b.fits(c.impossible*time.Second) || b.fits(90*time.Second)) {
			t.Errorf("after %d s, a cell of %d s fits, one of %d s does not", second, c.fits, c.impossible)
		}
		for _, parts := range []time.Duration{91, 95, 96, 100, 101, 1000} {
			if !b.fits(parts * time.Second) {
				t.Errorf("after %d s, a cell of %d s is not begun, and never will be", second, parts)
			}
		}
	}
	for _, at := range []int{10, 11, 14, 15} { // the longest step takes 3 s; the time before the first one is not a step
		now.now.Store(int64(at) * int64(time.Second))
		b.step()
	}
	if got := b.left(); got != 74*time.Second {
		t.Errorf("%v are left, want 100 − 15 − 5 − 2·3 s", got)
	}
	now.now.Store(int64(89 * time.Second))
	if b.over() != true {
		t.Error("it is time to stop at 89 s")
	}
	if b.fits(1000 * time.Second) {
		t.Error("a long cell is begun when no time is left")
	}
	if free := (&budget{clock: now.time}); free.over() || !free.fits(time.Hour) {
		t.Error("a budget without limit has one")
	}
}

// TestExpected learns from finished cells how long others take, and subtracts what of a cell is saved.
func TestExpected(t *testing.T) {
	f, m := planned(t, small(t, 2))
	w, err := f.newWorker(m, &fake{}, WorkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := w.expected(m.Cells[0]); d != 0 {
		t.Errorf("%v is expected before anything was measured", d)
	}
	kind, wider, err := kinds(m.Cells[0].Config, m.Compute)
	if err != nil {
		t.Fatal(err)
	}
	w.index.times.add("another", wider, 7)
	if d := w.expected(m.Cells[0]); d != 7*time.Second {
		t.Errorf("%v is expected from cells of other methods, want 7 s", d)
	}
	w.index.times.add(kind, wider, 2)
	w.index.times.add(kind, wider, 4)
	w.index.apply(record{Event: stopped, Cell: m.Cells[1].ID, Attempt: 1, Step: 30, Steps: 40}, place{})
	if a, b := w.expected(m.Cells[0]), w.expected(m.Cells[1]); a != 4*time.Second || b != time.Second {
		t.Errorf("%v and, three quarters done, %v are expected; want 4 s and 1 s", a, b)
	}
	w.learn(kind, 9) // the first cell that the worker makes includes its own start
	if d := w.expected(m.Cells[0]); d != 4*time.Second {
		t.Errorf("%v is expected after the worker's first cell, want 4 s", d)
	}
	w.learn(kind, 1)
	w.learn(kind, 0.5)
	if d := w.expected(m.Cells[0]); d != time.Second {
		t.Errorf("%v is expected after three of the worker's own cells, want 1 s", d)
	}
	other := m.Cells[0].Config
	other.Seed, other.LabelSet, other.Timeline = 9, 8, 7
	if k, _, _ := kinds(other, m.Compute); k != kind {
		t.Error("another seed is another kind")
	}
	other.Params = map[string]any{"rescale": "mean"}
	if k, w, _ := kinds(other, m.Compute); k == kind || w != wider {
		t.Error("other parameters are of the same kind, or not of the same wider kind")
	}
}
