package experiment

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"path/filepath"
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
	Say      func(string)        // is told in a sentence what is wrong with the files of a run; may be nil
	Begin    func(int, Config)   // is called before a run of the list is made; may be nil
	Progress func(int, Progress) // is called after each of its steps; may be nil
}

// Ended is the run of one of the configurations that [Each] was given.
type Ended struct {
	Index int // of its configuration
	Run   *results.Run
}

// Each makes the runs of configurations, one after another, and yields each with its result or why it has none; those
// that are finished are read from their folders. The caller decides whether to go on after an error, except if ctx was
// cancelled ([ErrInterrupted]) or the time is up ([ErrTimeUp]): then Each ends, with the run in progress saved, as far as
// it could be.
func Each(ctx context.Context, configs []Checked, w Where) iter.Seq2[Ended, error] {
	return func(yield func(Ended, error) bool) {
		within := ctx
		if !w.Until.IsZero() {
			var cancel context.CancelFunc
			within, cancel = context.WithDeadline(ctx, w.Until)
			defer cancel()
		}
		var todo []int
		for i, c := range configs {
			if w.Shard.Has(c.Config) {
				todo = append(todo, i)
			}
		}
		tell := func(i int, run *results.Run, err error) bool {
			over := run == nil && within.Err() != nil && (errors.Is(err, ErrInterrupted) || errors.Is(err, within.Err()))
			switch {
			case over && ctx.Err() == nil:
				err = ErrTimeUp
			case over:
				err = ErrInterrupted
			}
			return yield(Ended{i, run}, err) && !over
		}
		for {
			others, more := w.round(within, configs, todo, tell)
			if !more || len(others) == len(todo) {
				return
			}
			todo = others
		}
	}
}

// round makes the runs of a list, except for others, those that other processes are at. It ends early, without more, if tell
// says so of a run.
func (w *Where) round(ctx context.Context, configs []Checked, todo []int, tell func(int, *results.Run, error) bool) (others []int, more bool) {
	for _, i := range todo {
		run, err := w.one(ctx, i, configs[i])
		if w.Attempts > 0 && errors.Is(err, ErrInUse) {
			others = append(others, i)
		} else if !tell(i, run, err) {
			return nil, false
		}
	}
	return others, true
}

// one returns the result of a run, and makes it if it is not finished.
func (w *Where) one(ctx context.Context, i int, c Checked) (*results.Run, error) {
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
	if f := (&runFolder{dir: o.Dir}); o.Dir != "" && !f.replaced() {
		if finished, err := f.finished(c.Config, o); finished != nil || err != nil {
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
		w.Begin(i, c.Config)
	}
	if err := w.Machine.ready(ctx, c.Dataset, &o); err != nil {
		return nil, err
	}
	if w.Progress != nil {
		o.Progress = func(p Progress) { w.Progress(i, p) }
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
	if o.Checkpoint = damaged.Whole; o.Checkpoint != "" {
		w.say(fmt.Sprintf("%v. The run goes on from %s.", err, damaged.Whole))
		return run(ctx, c, o)
	}
	w.say(fmt.Sprintf("%v. The run begins again.", err))
	if err := discard(o.Dir); err != nil {
		return nil, err
	}
	return run(ctx, c, o)
}

func (w *Where) say(sentence string) {
	if w.Say != nil {
		w.Say(sentence)
	}
}
