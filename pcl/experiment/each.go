package experiment

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/pcl/internal/folder"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// ErrTimeUp is what [Each] yields instead of [ErrInterrupted] if [Where].Until is over. The run in progress has been
// saved.
var ErrTimeUp = errors.New("the time is up")

// Shard is a part of some runs: the I-th of N, counted from 0. The zero value stands for all. To which part a run belongs
// follows from its ID alone, so that no other runs that are added or left out move it to another.
type Shard struct{ I, N int }

// Has says whether the run of a configuration belongs to the shard.
func (s Shard) Has(c Config) bool {
	if s == (Shard{}) {
		return true
	}
	if s.I < 0 || s.I >= s.N {
		panic(fmt.Sprintf("experiment: there is no shard %d/%d: want 0 ≤ I < N", s.I, s.N))
	}
	c.DataSHA256 = "" // as in [Config.Folder]
	h := fnv.New64a()
	h.Write([]byte(c.ID()))
	return h.Sum64()%uint64(s.N) == uint64(s.I)
}

// Where says where, which and how runs are made.
type Where struct {
	Machine *Machine
	Jobs    int    // how many runs are made side by side, each on a [Machine] of its own like this one; 0 stands for 1
	Dir     string // in which each run has its folder ([Config.Folder])
	// Options returns the options of a run; what the machine has, and a folder in Dir if it names none, are filled in. Nil
	// stands for Resume alone.
	Options func(Config) RunOptions
	Shard   Shard
	Until   time.Time // when runs have to be saved; the zero value is no limit
	// Attempts, if set, is for folders that processes share, on one machine or several: a run that another one is at is
	// passed over, and taken up if that one leaves it; a damaged checkpoint counts as none; and each folder keeps a
	// [Note], by which a run has failed if so many processes in a row have died at it before they saved any progress.
	Attempts int
	// These may be nil. They are called one at a time, and not while the caller handles a result.
	Say      func(string)        // receives a sentence about damaged files of a run
	Begin    func(int, Config)   // is called before a run of the list is made
	Progress func(int, Progress) // is called after each of its steps

	told *sync.Mutex // held meanwhile
}

// Ended is the run of one of the configurations that [Each] was given.
type Ended struct {
	Index int // of its configuration
	Run   *results.Run
}

// Each makes the runs of configurations, and yields each with its result or why it has none as soon as it has ended; those
// that are finished are read from their folders. The caller decides whether to go on after an error, except if ctx was
// cancelled ([ErrInterrupted]) or the time is up ([ErrTimeUp]): then Each begins no more runs. It ends with the runs in
// progress saved, as far as they could be.
func Each(ctx context.Context, configs []Checked, w Where) iter.Seq2[Ended, error] {
	return func(yield func(Ended, error) bool) {
		if !w.Until.IsZero() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadlineCause(ctx, w.Until, ErrTimeUp)
			defer cancel()
		}
		var todo []int
		for i, c := range configs {
			if w.Shard.Has(c.Config) {
				todo = append(todo, i)
			}
		}
		w.told = new(sync.Mutex)
		machines := w.Machine.several(max(1, w.Jobs))
		defer func() {
			for _, m := range machines[1:] {
				m.Close()
			}
		}()
		for {
			others, more := w.round(ctx, machines, configs, todo, yield)
			if !more || len(others) == len(todo) {
				return
			}
			todo = others
		}
	}
}

// ended is a run with the machine that made it and the reason why it has no result.
type ended struct {
	Ended
	machine *Machine
	err     error
}

// round makes the runs of a list, except for others, those that other processes are at. It ends early, without more, if an
// interrupt, the time or the caller ends it.
func (w *Where) round(ctx context.Context, machines []*Machine, configs []Checked, todo []int, yield func(Ended, error) bool) (others []int, more bool) {
	within, stop := context.WithCancel(ctx)
	defer stop()
	ends, idle, busy, heard := make(chan ended), slices.Clone(machines), 0, true
	for more = true; more && len(todo) > 0 || busy > 0; {
		for more && len(todo) > 0 && len(idle) > 0 {
			i, m := todo[0], idle[0]
			todo, idle, busy = todo[1:], idle[1:], busy+1
			go func() {
				run, err := w.one(within, m, i, configs[i])
				ends <- ended{Ended{i, run}, m, err}
			}()
		}
		e := <-ends
		idle, busy = append(idle, e.machine), busy-1
		over := e.Run == nil && ctx.Err() != nil && (errors.Is(e.err, ErrInterrupted) || errors.Is(e.err, ctx.Err()))
		switch {
		case over && errors.Is(context.Cause(ctx), ErrTimeUp):
			e.err = ErrTimeUp
		case over:
			e.err = ErrInterrupted
		}
		switch {
		case w.Attempts > 0 && errors.Is(e.err, ErrInUse):
			others = append(others, e.Index)
		case heard:
			w.tell(func() { heard = yield(e.Ended, e.err) })
		}
		if more = more && heard && !over; !more {
			stop()
		}
	}
	slices.Sort(others)
	return others, more
}

// one returns the result of a run, and makes it if it is not finished.
func (w *Where) one(ctx context.Context, m *Machine, i int, c Checked) (*results.Run, error) {
	o := RunOptions{Resume: true}
	if w.Options != nil {
		o = w.Options(c.Config)
	}
	if o.Dir == "" && w.Dir != "" {
		o.Dir = filepath.Join(w.Dir, c.Folder())
	}
	if w.Attempts > 0 {
		if h, held := folder.Held(o.Dir); held {
			return nil, &folder.HeldError{Dir: o.Dir, Holder: h}
		}
		o.shared = w
	}
	if o.Dir != "" {
		if finished, err := o.finished(c.Config); finished != nil || err != nil {
			return finished, err
		}
	}
	if o.shared != nil {
		if _, err := hopeful(o.Dir); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ErrInterrupted
	}
	if w.Begin != nil {
		w.tell(func() { w.Begin(i, c.Config) })
	}
	if err := m.ready(ctx, c.Dataset, &o); err != nil {
		return nil, err
	}
	if w.Progress != nil {
		o.Progress = func(p Progress) { w.tell(func() { w.Progress(i, p) }) }
	}
	return w.run(ctx, c, o)
}

// run makes a run. In folders that are shared, one whose newest checkpoint is damaged goes on from an older one, or begins
// again.
func (w *Where) run(ctx context.Context, c Checked, o RunOptions) (*results.Run, error) {
	result, err := run(ctx, c, o)
	damaged := new(DamagedError)
	if w.Attempts == 0 || !errors.As(err, &damaged) {
		return result, err
	}
	w.say(fmt.Sprintf("%v. The run goes on in this way.", err))
	if o.Checkpoint = damaged.Whole; o.Checkpoint == "" {
		if err := discard(o.Dir); err != nil {
			return nil, err
		}
	}
	return run(ctx, c, o)
}

func (w *Where) say(sentence string) {
	if w.Say != nil {
		w.tell(func() { w.Say(sentence) })
	}
}

func (w *Where) tell(call func()) {
	w.told.Lock()
	defer w.told.Unlock()
	call()
}
