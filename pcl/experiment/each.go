package experiment

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// ErrTimeUp is what [Each] yields instead of [ErrInterrupted] if [Schedule].Until is over. The run
// in progress has been saved.
var ErrTimeUp = errors.New("the time is up")

// Shard is a part of some runs: the I-th of N, counted from 0. The zero value stands for all. To
// which part a run belongs follows from its ID alone, so that no other runs that are added or left
// out move it to another.
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

// Store says where runs are kept and what they leave there.
type Store struct {
	// Dir has a folder for each run ([Config.Folder]), for its result, checkpoints and records. A
	// run that is finished there is not made again, and one that is not goes on from its newest
	// checkpoint. If Dir is empty, no files are written.
	Dir string
	// Replace makes runs again that another program has made or begun in their folders, or this one
	// on other files, instead of yielding [ErrForeign]; those that have not left what is asked for;
	// and those that have failed, instead of [ErrFailed].
	Replace         bool
	CheckpointEvery int  // steps between checkpoints; 0 saves a run only when it is interrupted
	Record          bool // whether to write one line per step to records.jsonl
	Weights         bool // whether to leave the trained network in weights.safetensors
	// RecordArrays is the number of steps, counted from the first, whose batches and parameters are
	// written to arrays, so that other implementations can compute the same steps.
	RecordArrays int
	// Attempts, if set, is for folders that processes share, on one machine or several: a run that
	// another one is at is passed over, and taken up if that one leaves it; and each folder keeps a
	// note of who worked there, by which a run has failed if so many processes in a row have died
	// at it before they saved any progress.
	Attempts int

	complete bool // whether runs are made again that have not left what is asked for
}

// Schedule says on which machine runs are made, which of them and until when, and who is told. The
// result of a run depends on its [Config] alone, except for rounding, which differs from backend to
// backend.
type Schedule struct {
	Machine *Machine
	Jobs    int // how many runs are made side by side, each on a [Machine] of its own like this one; 0 stands for 1
	Shard   Shard
	Until   time.Time // when runs have to be saved; the zero value is no limit

	// Found, if set, are the results of the list that [Store.Finished] has returned before. Each
	// does not look for them again.
	Found []*results.Run

	// These may be nil. They are called one at a time, and not while the caller handles a result.
	Log        func(string)        // receives a sentence about what is not as usual in a run's folder
	OnBegin    func(int, Config)   // is called before a run of the list is made
	OnProgress func(int, Progress) // is called after each of its steps
	// OnPrepare is called while its method trains a network for an evaluation ("gdumb"), with the
	// steps of that network.
	OnPrepare func(run, done, total int)
}

// work is one call of [Each].
type work struct {
	Store
	Schedule
	told *sync.Mutex // held while the caller is told of something
}

// Result is the run of one of the configurations that [Each] was given.
type Result struct {
	Index int // of its configuration
	Run   *results.Run
}

// ended is a run with the machine that made it and the reason why it has no result.
type ended struct {
	Result
	machine *Machine
	err     error
}

// Each makes the runs of configurations, and yields each with its result or why it has none as soon
// as it has ended; finished runs are read from their folders. The caller decides whether to go on
// after an error, except if ctx was cancelled ([ErrInterrupted]) or the time is up ([ErrTimeUp]):
// then Each begins no more runs. It ends with the runs in progress saved, as far as they could be.
func Each(ctx context.Context, configs []Checked, store Store, schedule Schedule) iter.Seq2[Result, error] {
	if store.Dir == "" && (store.Record || store.Weights || store.RecordArrays > 0 || store.Attempts > 0) {
		panic("experiment: runs leave records, weights and notes only in folders: Store.Dir is empty")
	}
	for i, c := range configs {
		if c.config.Method == "" {
			panic(fmt.Sprintf("experiment: configuration %d does not come from Config.Check", i+1))
		}
	}
	return func(yield func(Result, error) bool) {
		w := &work{store, schedule, new(sync.Mutex)}
		if !w.Until.IsZero() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadlineCause(ctx, w.Until, ErrTimeUp)
			defer cancel()
		}
		machines := w.Machine.several(max(1, w.Jobs))
		defer func() {
			for _, m := range machines[1:] {
				m.Close()
			}
		}()
		w.loop(ctx, machines, configs, yield)
	}
}

// loop makes the runs of a shard. Runs that other processes are making go to the end of the queue;
// loop ends if only such runs are left.
func (w *work) loop(ctx context.Context, idle []*Machine, configs []Checked, yield func(Result, error) bool) {
	within, stop := context.WithCancel(ctx)
	defer stop()
	var todo []int
	for i, c := range configs {
		if w.Shard.Has(c.config) {
			todo = append(todo, i)
		}
	}
	// passed counts runs that others are at, since the last one that none was at
	ends, busy, passed := make(chan ended), 0, 0
	more, heard := true, true
	for idle = slices.Clone(idle); ; {
		for more && len(idle) > 0 && passed < len(todo) {
			i, m := todo[0], idle[0]
			todo, idle, busy = todo[1:], idle[1:], busy+1
			go func() {
				e := ended{Result: Result{Index: i}, machine: m}
				e.Run, e.err = w.one(within, m, i, configs[i])
				ends <- e
			}()
		}
		if busy == 0 {
			return
		}
		e := <-ends
		idle, busy = append(idle, e.machine), busy-1
		if w.Attempts > 0 && errors.Is(e.err, errHeld) {
			todo, passed = append(todo, e.Index), passed+1
			continue
		}
		passed = 0
		over := ctx.Err() != nil && (errors.Is(e.err, ErrInterrupted) || errors.Is(e.err, ctx.Err()))
		if over {
			e.err = ErrInterrupted
			if errors.Is(context.Cause(ctx), ErrTimeUp) {
				e.err = ErrTimeUp
			}
		}
		if heard {
			w.tell(func() { heard = yield(e.Result, e.err) })
		}
		if more = more && heard && !over; !more {
			stop()
		}
	}
}

func (w *work) say(format string, args ...any) {
	if w.Log != nil {
		w.tell(func() { w.Log(fmt.Sprintf(format, args...)) })
	}
}

func (w *work) tell(call func()) {
	w.told.Lock()
	defer w.told.Unlock()
	call()
}
