package grid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/disk"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// work lets a worker work until it ends by itself.
func work(t *testing.T, f Folder, m *Manifest, maker Maker, o WorkOptions) Summary {
	t.Helper()
	s, err := f.Work(context.Background(), m, maker, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWork makes a grid. A second worker finds nothing to do, and leaves no file.
func TestWork(t *testing.T) {
	f, m := planned(t, small(t, 3))
	maker := &fake{steps: 3}
	if s := work(t, f, m, maker, WorkOptions{}); s != (Summary{Done: 12}) {
		t.Errorf("first: %+v", s)
	}
	if s := work(t, f, m, maker, WorkOptions{}); s != (Summary{}) || len(maker.begun) != 12 {
		t.Errorf("second: %+v, %d cells begun", s, len(maker.begun))
	}
	complete(t, f, m, 3)
	if files, err := os.ReadDir(f.path(recordDir)); err != nil || len(files) != 1 {
		t.Errorf("files of results: %v (%v)", files, err)
	}
}

// TestTwoWorkers lets several workers share a folder, each in a thread of its own: every cell is begun once.
func TestTwoWorkers(t *testing.T) {
	f, m := planned(t, small(t, 10))
	maker := &fake{steps: 2, step: time.Millisecond}
	var busy sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for i := range 4 {
		busy.Go(func() {
			s, err := f.Work(context.Background(), m, maker, WorkOptions{Begin: Shard{i, 4}})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			total += s.Done
			mu.Unlock()
		})
	}
	busy.Wait()
	if total != 40 || len(maker.begun) != 40 {
		t.Errorf("%d results, %d of 40 cells begun", total, len(maker.begun))
	}
	for id, steps := range maker.begun {
		if len(steps) != 1 {
			t.Errorf("%s was begun %d times", id, len(steps))
		}
	}
	complete(t, f, m, 2)
}

// TestShardsTogether makes a grid in shards, two of them twice.
func TestShardsTogether(t *testing.T) {
	f, m := planned(t, small(t, 4))
	maker := &fake{steps: 1}
	done := 0
	for _, i := range []int{0, 2, 2, 1, 0} {
		done += work(t, f, m, maker, WorkOptions{Shard: Shard{i, 3}}).Done
	}
	if done != 16 {
		t.Errorf("%d of 16 cells", done)
	}
	complete(t, f, m, 1)
}

// TestSharedAcrossGrids finds the cells that another grid has in common finished.
func TestSharedAcrossGrids(t *testing.T) {
	g := small(t, 2)
	f, m := planned(t, g)
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	g.Name, g.Seeds = "more", []uint64{2, 3}
	more, err := f.Plan(g, PlanOptions{Compute: Compute{Backend: "go"}})
	if err != nil {
		t.Fatal(err)
	}
	maker := &fake{steps: 1}
	if s := work(t, f, more, maker, WorkOptions{}); s.Done != 4 || len(maker.begun) != 4 {
		t.Errorf("%+v", s)
	}
	complete(t, f, more, 1)
}

// TestInterrupt interrupts a worker in the middle of a cell: the next one goes on at the step that was saved.
func TestInterrupt(t *testing.T) {
	f, m := planned(t, small(t, 1))
	ctx, cancel := context.WithCancel(context.Background())
	maker := &fake{steps: 10, fail: func(c experiment.Config, step int) error {
		if step == 6 {
			cancel()
		}
		return nil
	}}
	if s, err := f.Work(ctx, m, maker, WorkOptions{}); !errors.Is(err, experiment.ErrInterrupted) || s.Done != 0 || s.Left != 4 {
		t.Fatalf("interrupted: %+v, %v", s, err)
	}
	if s, err := f.Status(m.Name); err != nil || s.Saved != 1 || s.Untouched != 3 || s.Running != 0 {
		t.Errorf("status %+v (%v)", s, err)
	}
	next := &fake{steps: 10}
	work(t, f, m, next, WorkOptions{})
	if got := next.begun[m.Cells[0].Config.ID()]; !slices.Equal(got, []int{7}) {
		t.Errorf("the cell was begun at steps %v, want 7", got)
	}
	complete(t, f, m, 10)
	if s, err := f.Work(ctx, m, next, WorkOptions{}); !errors.Is(err, experiment.ErrInterrupted) {
		t.Errorf("interrupted before it began: %+v, %v", s, err)
	}
}

// TestFailure has cells that cannot be made: the others are, and only retry makes the failed ones again.
func TestFailure(t *testing.T) {
	f, m := planned(t, small(t, 2))
	maker := &fake{steps: 1, fail: func(c experiment.Config, step int) error {
		if c.Method == "mgda" {
			return errors.New("not\nthis one")
		}
		return nil
	}}
	var said []string
	o := WorkOptions{Say: func(s string) { said = append(said, s) }}
	if s := work(t, f, m, maker, o); s != (Summary{Done: 4, Failed: 4}) {
		t.Errorf("%+v", s)
	}
	if len(said) != 4 || !strings.Contains(said[0], "failed: not …") {
		t.Errorf("said: %q", said)
	}
	if s := work(t, f, m, &fake{}, o); s != (Summary{}) {
		t.Errorf("run again: %+v", s)
	}
	s, err := f.Status(m.Name)
	if err != nil || s.Failed != 4 || s.Done != 4 || s.Left != 0 || s.Failures[0].Reason != "not\nthis one" {
		t.Errorf("status %+v (%v)", s, err)
	}
	if s := work(t, f, m, maker, WorkOptions{Retry: true}); s != (Summary{Failed: 4}) {
		t.Errorf("tried again: %+v", s)
	}
	again := func() *worker {
		w, err := f.newWorker(m, maker, WorkOptions{Retry: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.journal.close() })
		return w
	}
	workers := []*worker{again(), again()} // two that start together
	maker.fail = func(experiment.Config, int) error {
		if len(workers) == 2 { // and one that starts while the first is at its first cell
			workers = append(workers, again())
		}
		return errors.New("not this one")
	}
	for i, want := range []int{4, 0, 0} {
		if err := workers[i].work(t.Context()); err != nil || workers[i].summary.Failed != want {
			t.Errorf("worker %d tried %d again, want %d (%v)", i, workers[i].summary.Failed, want, err)
		}
	}
	if s := work(t, f, m, &fake{steps: 1}, WorkOptions{Retry: true}); s != (Summary{Done: 4}) {
		t.Errorf("tried again, and it works: %+v", s)
	}
	complete(t, f, m, 1)
}

// TestRetryGoesOn interrupts cells that are made again after a failure: the next retry goes on with them.
func TestRetryGoesOn(t *testing.T) {
	f, m := planned(t, small(t, 1))
	broken := func(experiment.Config, int) error { return errors.New("broken") }
	if s := work(t, f, m, &fake{steps: 3, fail: broken}, WorkOptions{}); s.Failed != 4 {
		t.Fatalf("%+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(_ experiment.Config, step int) error {
		if step == 1 {
			cancel()
		}
		return nil
	}
	if _, err := f.Work(ctx, m, &fake{steps: 3, fail: stop}, WorkOptions{Retry: true}); !errors.Is(err, experiment.ErrInterrupted) {
		t.Fatal(err)
	}
	maker := &fake{steps: 3}
	if s := work(t, f, m, maker, WorkOptions{Retry: true}); s.Done != 4 || !slices.Equal(maker.begun[m.Cells[0].Config.ID()], []int{2}) {
		t.Errorf("%+v; begun at %v", s, maker.begun)
	}
	complete(t, f, m, 3)
}

// TestFolderInUse: a worker that cannot make a cell, since another process is in its folder, does not say that all went
// well. The others are made.
func TestFolderInUse(t *testing.T) {
	f, m := planned(t, small(t, 1))
	hung := m.Cells[0]
	maker := &fake{steps: 1, fail: func(c experiment.Config, step int) error {
		if c.ID() == hung.Config.ID() {
			return fmt.Errorf("folder: %w", experiment.ErrInUse)
		}
		return nil
	}}
	s, err := f.Work(t.Context(), m, maker, WorkOptions{})
	if !errors.Is(err, experiment.ErrInUse) || !strings.Contains(err.Error(), hung.ID) || s.Done != 3 || s.Left != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	complete(t, f, m, 1)
}

// TestForeignResult refuses a result that is another run's.
func TestForeignResult(t *testing.T) {
	f, m := planned(t, small(t, 1))
	if err := fakeResult(m.Cells[1].Config, 1).Save(filepath.Join(f.work(m.Cells[0].ID), experiment.ResultFile)); err != nil {
		t.Fatal(err)
	}
	if s := work(t, f, m, &fake{steps: 1}, WorkOptions{}); s != (Summary{Done: 3, Failed: 1}) {
		t.Errorf("%+v", s)
	}
}

// TestDeadWorkers lets workers die at the same cell: after three it counts as failed, with the reason.
func TestDeadWorkers(t *testing.T) {
	f, m := planned(t, small(t, 1))
	victim := m.Cells[2]
	die := func() {
		t.Helper()
		defer func() { recover() }()
		f.Work(context.Background(), m, &fake{steps: 1, fail: func(c experiment.Config, step int) error {
			if c.ID() == victim.Config.ID() {
				panic("killed")
			}
			return nil
		}}, WorkOptions{})
		t.Fatal("it did not die")
	}
	die()
	for range 2 {
		releaseAll(t, f)
		die()
	}
	releaseAll(t, f)
	if s := work(t, f, m, &fake{steps: 1}, WorkOptions{}); s.Failed != 1 || s.Done != 1 {
		t.Errorf("%+v", s)
	}
	s, err := f.Status(m.Name)
	if err != nil || s.Failed != 1 || !strings.Contains(s.Failures[0].Reason, "3 workers in a row") {
		t.Errorf("status %+v (%v)", s, err)
	}
	work(t, f, m, &fake{steps: 1}, WorkOptions{Retry: true})
	complete(t, f, m, 1)
}

// releaseAll does what the system does when a process dies.
func releaseAll(t *testing.T, f Folder) {
	t.Helper()
	if err := os.RemoveAll(f.path(leaseDir)); err != nil {
		t.Fatal(err)
	}
}

// TestDiskFullWhileWorking fills the disk when a result is to be recorded: the worker ends and says so. The next one
// finds the result in the cell's folder.
func TestDiskFullWhileWorking(t *testing.T) {
	f, m := planned(t, small(t, 1))
	maker := &fake{steps: 2}
	w, err := f.newWorker(m, maker, WorkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.journal.create = onFullDisk(2500, false)
	err = w.work(context.Background())
	if !errors.Is(err, disk.ErrFull) || w.summary.Done == 0 || w.summary.Failed != 0 {
		t.Fatalf("%+v, %v", w.summary, err)
	}
	w.journal.close()
	if s := work(t, f, m, maker, WorkOptions{}); s.Done+w.summary.Done != 4 {
		t.Errorf("%d cells, then %+v", w.summary.Done, s)
	}
	for id, steps := range maker.begun {
		if len(steps) != 1 {
			t.Errorf("%s was begun %d times", id, len(steps))
		}
	}
	complete(t, f, m, 2)
}

// TestDiskFullInCell has a run that finds the disk full: that is no failure of the cell.
func TestDiskFullInCell(t *testing.T) {
	f, m := planned(t, small(t, 1))
	full := &fake{steps: 2, fail: func(experiment.Config, int) error {
		return &experiment.UnsavedError{Dir: "x", Err: fmt.Errorf("write: %w", syscall.ENOSPC)}
	}}
	if s, err := f.Work(context.Background(), m, full, WorkOptions{}); !errors.Is(err, disk.ErrFull) || s.Failed != 0 || s.Left != 4 {
		t.Fatalf("%+v, %v", s, err)
	}
	work(t, f, m, &fake{steps: 2}, WorkOptions{})
	complete(t, f, m, 2)
}

// TestMissingDataset leaves alone what this machine cannot make, makes the rest, and says so in the end.
func TestMissingDataset(t *testing.T) {
	f, m := planned(t, small(t, 1))
	maker := &fake{steps: 1, fail: func(c experiment.Config, step int) error {
		return &surroundingsError{errors.New("no files"), c.Dataset}
	}}
	s, err := f.Work(context.Background(), m, maker, WorkOptions{})
	if err == nil || !strings.Contains(err.Error(), "glyphs") || s.Left != 4 || s.Failed != 0 || len(maker.begun) != 1 {
		t.Errorf("%+v, %v; %d begun", s, err, len(maker.begun))
	}
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	complete(t, f, m, 1)
}

// TestCorruptedCell damages the record of a result: the cell is made again, and nothing else is.
func TestCorruptedCell(t *testing.T) {
	f, m := planned(t, small(t, 1))
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	files, err := filepath.Glob(f.path(recordDir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	damage(t, files[0], `"F":0,`, `"F":9,`)
	maker := &fake{steps: 1}
	var said []string
	if s := work(t, f, m, maker, WorkOptions{Say: func(s string) { said = append(said, s) }}); s.Done != 1 || len(maker.begun) != 1 {
		t.Errorf("%+v", s)
	}
	if len(said) != 1 || !strings.Contains(said[0], "checksum") || !strings.Contains(said[0], "made again") {
		t.Errorf("said: %q", said)
	}
	complete(t, f, m, 1)
}

// TestOvertaken has a worker that pauses for so long that another one takes its cell over. When it wakes up it
// notices, and its result is dropped.
func TestOvertaken(t *testing.T) {
	f, m := planned(t, small(t, 1))
	now := new(clock)
	paused, awake := make(chan bool), make(chan bool)
	slow := &fake{steps: 2, fail: func(c experiment.Config, step int) error {
		if c.ID() == m.Cells[0].Config.ID() && step == 1 {
			paused <- true
			<-awake
		}
		return nil
	}}
	// No beat comes in time to notice anything.
	w, err := f.newWorker(m, slow, WorkOptions{Expiry: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w.leases.machine = "elsewhere"
	ended := make(chan error)
	go func() { ended <- w.work(context.Background()) }()
	<-paused
	other, err := f.newWorker(m, &fake{steps: 2}, WorkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other.leases.clock = now.time
	if _, err := other.leases.free(m.Cells[0].ID); err != nil {
		t.Fatal(err)
	}
	now.advance(2 * time.Minute)
	if err := other.work(context.Background()); err != nil || other.summary.Done != 4 {
		t.Errorf("the other worker: %+v, %v", other.summary, err)
	}
	awake <- true
	if err := <-ended; err != nil || w.summary.Done != 0 {
		t.Errorf("the one that was overtaken: %+v, %v", w.summary, err)
	}
	w.journal.close()
	index, err := f.Index()
	if err != nil {
		t.Fatal(err)
	}
	if end := index.cells[m.Cells[0].ID].attempts[1].end; end != stopped {
		t.Errorf("the attempt that was overtaken is recorded as %q, as if its worker had died", end)
	}
	if err := os.RemoveAll(f.work(m.Cells[0].ID)); err != nil { // which it created again
		t.Fatal(err)
	}
	complete(t, f, m, 2)
}

// TestTwice shows what collecting says of a cell that has two results after all.
func TestTwice(t *testing.T) {
	f, m := planned(t, small(t, 1))
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	text, err := os.ReadFile(onlyFile(t, f))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path(recordDir, "copy.jsonl"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := f.Collect(m.Name)
	if err != nil || len(r.Runs) != 4 || len(r.Notes) != 4 || !strings.Contains(r.Notes[0], "made twice, with the same result") {
		t.Errorf("%d results, notes %q (%v)", len(r.Runs), r.Notes, err)
	}
}

func onlyFile(t *testing.T, f Folder) string {
	t.Helper()
	files, err := filepath.Glob(f.path(recordDir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v (%v), want one", files, err)
	}
	return files[0]
}

// TestClean removes what dead workers left and nobody needs, and keeps what can be continued.
func TestClean(t *testing.T) {
	f, m := planned(t, small(t, 1))
	ctx, cancel := context.WithCancel(context.Background())
	f.Work(ctx, m, &fake{steps: 4, fail: func(c experiment.Config, step int) error {
		switch {
		case c.Increment == "task" && c.Method == "mgda":
			return errors.New("broken")
		case c.Increment == "class" && step == 2:
			cancel()
		}
		return nil
	}}, WorkOptions{})
	l := f.leases(time.Minute)
	dead, err := l.take("nobody")
	if err != nil {
		t.Fatal(err)
	}
	dead.die()
	live, err := l.take(m.Cells[3].ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(f.work("unplanned"), 0o777); err != nil {
		t.Fatal(err)
	}
	got, err := f.Clean()
	if err != nil || got != (Cleaned{Folders: 2, Leases: 1}) {
		t.Errorf("%+v (%v)", got, err)
	}
	if left, err := os.ReadDir(f.path(workDir)); err != nil || len(left) != 1 {
		t.Errorf("folders %v (%v), want that of the interrupted cell", left, err)
	}
	if err := live.beat(0, 0); err != nil {
		t.Errorf("the live one: %v", err)
	}
	if err := live.release(); err != nil {
		t.Error(err)
	}
	work(t, f, m, &fake{steps: 4}, WorkOptions{})
	work(t, f, m, &fake{steps: 4}, WorkOptions{Retry: true})
	complete(t, f, m, 4)
}

// TestCleanBesideWorker: a worker that finds its last cell's lease taken by clean waits for it, and does not end.
func TestCleanBesideWorker(t *testing.T) {
	f, m := planned(t, small(t, 1))
	cleaner := f.leases(time.Minute)
	cleaner.brief = true
	held, err := cleaner.take(m.Cells[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan error)
	say := func(s string) {
		if strings.HasPrefix(s, "Waiting") {
			go func() { released <- held.release() }()
		}
	}
	if s := work(t, f, m, &fake{steps: 1}, WorkOptions{Say: say}); s != (Summary{Done: 4}) {
		t.Fatalf("%+v", s)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
	complete(t, f, m, 1)
}

// untidy is a maker whose runs leave something that they cannot remove.
type untidy struct{ Maker }

func (u untidy) Make(ctx context.Context, c experiment.Config, dir string, progress func(experiment.Progress)) (*results.Run, error) {
	run, err := u.Maker.Make(ctx, c, dir, progress)
	return run, errors.Join(err, errors.New("a checkpoint cannot be removed"))
}

// TestUntidy: a run with a result is finished, also if a file that it needs no more could not be removed.
func TestUntidy(t *testing.T) {
	f, m := planned(t, small(t, 1))
	if s := work(t, f, m, untidy{&fake{steps: 1}}, WorkOptions{}); s != (Summary{Done: 4}) {
		t.Errorf("%+v", s)
	}
	complete(t, f, m, 1)
}

// TestWorkOptionsRefused: options that mean nothing make no cell, and none fail for them.
func TestWorkOptionsRefused(t *testing.T) {
	f, m := planned(t, small(t, 1))
	for _, c := range []struct {
		o    WorkOptions
		want string
	}{
		{WorkOptions{Attempts: -1}, "Attempts is -1"},
		{WorkOptions{Shard: Shard{I: 2, N: 2}}, "Shard 2/2"},
		{WorkOptions{Shard: Shard{I: 1}}, "Shard 1/0"},
		{WorkOptions{Begin: Shard{I: -1, N: 2}}, "Begin -1/2"},
		{WorkOptions{Time: -time.Second}, "Time is -1s"},
		{WorkOptions{Reserve: -time.Second}, "Reserve is -1s"},
		{WorkOptions{Expiry: -time.Second}, "Expiry is -1s"},
		{WorkOptions{Expiry: 7}, "Expiry is 7ns"},
	} {
		s, err := f.Work(t.Context(), m, &fake{steps: 1}, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || s != (Summary{}) {
			t.Errorf("%+v: %+v, %v; want %q", c.o, s, err, c.want)
		}
	}
	if s := work(t, f, m, &fake{steps: 1}, WorkOptions{}); s.Done != len(m.Cells) {
		t.Errorf("afterwards: %+v", s)
	}
}

// TestShardsOfNoTime: shards of no time, or of a time that is no number, cannot be counted.
func TestShardsOfNoTime(t *testing.T) {
	f, m := planned(t, small(t, 2))
	work(t, f, m, &fake{steps: 1}, WorkOptions{})
	for _, seconds := range []float64{0, -1, math.NaN()} {
		if n, err := f.Shards(m, seconds); err == nil {
			t.Errorf("%d shards of %g seconds", n, seconds)
		}
	}
	if n, err := f.Shards(m, 1e-300); err != nil || n != len(m.Cells) {
		t.Errorf("%d shards of the least time, %v; want one for each of %d cells", n, err, len(m.Cells))
	}
}

// makerFunc is a maker that is one function.
type makerFunc func(c experiment.Config) (*results.Run, error)

func (f makerFunc) Make(_ context.Context, c experiment.Config, _ string, _ func(experiment.Progress)) (*results.Run, error) {
	return f(c)
}

// TestMakersOfOnesOwn: one that returns nothing fails the cell, and one without the data set leaves it.
func TestMakersOfOnesOwn(t *testing.T) {
	f, m := planned(t, small(t, 1))
	nothing := makerFunc(func(experiment.Config) (*results.Run, error) { return nil, nil })
	if s := work(t, f, m, nothing, WorkOptions{}); s.Failed != 4 || s.Done != 0 {
		t.Errorf("a maker that returns nothing: %+v", s)
	}
	f, m = planned(t, small(t, 1))
	s, err := f.Work(t.Context(), m, makerFunc(func(experiment.Config) (*results.Run, error) { return nil, experiment.ErrData }), WorkOptions{})
	if !errors.Is(err, ErrNoData) || s.Failed != 0 {
		t.Errorf("a maker whose data are others: %+v, %v", s, err)
	}
	if _, err := f.Plan(nil, PlanOptions{}); err == nil {
		t.Error("no grid was planned")
	}
}
