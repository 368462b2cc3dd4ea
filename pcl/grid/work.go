package grid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// WorkOptions say which cells a worker makes, and for how long. The zero value makes all of them.
type WorkOptions struct {
	Shard Shard
	// Begin is the part of the shard to begin with. Workers that share a shard begin at different places, so that
	// they seldom want the same cell and each of them makes cells that are alike.
	Begin Shard
	// Retry makes the cells that have failed, also those that an earlier retry began and left, and no others.
	Retry bool
	// Time is how long the worker may work; 0 is no limit. Reserve is how much of it is kept free for saving, on top
	// of what is measured; 0 stands for 5 seconds.
	Time, Reserve time.Duration
	// Attempts is how many workers in a row may end without a word at a cell before it counts as failed; 0 stands
	// for 3.
	Attempts int
	// Expiry is the time after which a worker that gives no sign of life is thought dead; 0 stands for one minute.
	// It must be the same for all workers.
	Expiry time.Duration
	// Say is told in a sentence what happens, and Progress how far the current cell is; both may be nil.
	Say      func(sentence string)
	Progress func(Cell, experiment.Progress)
}

// DefaultExpiry is the time after which a worker that gives no sign of life is thought dead.
const DefaultExpiry = time.Minute

// leastExpiry leaves time for a few beats.
const leastExpiry = 10 * time.Millisecond

// check returns an error that names the first option that means nothing.
func (o WorkOptions) check() error {
	switch {
	case !o.Shard.valid():
		return fmt.Errorf("grid: WorkOptions.Shard %d/%d is no part I/N, with 0 ≤ I < N", o.Shard.I, o.Shard.N)
	case !o.Begin.valid():
		return fmt.Errorf("grid: WorkOptions.Begin %d/%d is no part I/N, with 0 ≤ I < N", o.Begin.I, o.Begin.N)
	case o.Attempts < 0:
		return fmt.Errorf("grid: WorkOptions.Attempts is %d; want at least 1, or 0 for the default", o.Attempts)
	case o.Time < 0:
		return fmt.Errorf("grid: WorkOptions.Time is %v; want a positive time, or 0 for no limit", o.Time)
	case o.Reserve < 0:
		return fmt.Errorf("grid: WorkOptions.Reserve is %v; want a positive time, or 0 for the default", o.Reserve)
	case o.Expiry != 0 && o.Expiry < leastExpiry:
		return fmt.Errorf("grid: WorkOptions.Expiry is %v; want at least %v, or 0 for the default", o.Expiry, leastExpiry)
	}
	return nil
}

func (o WorkOptions) withDefaults() WorkOptions {
	if o.Reserve == 0 {
		o.Reserve = DefaultReserve
	}
	if o.Attempts == 0 {
		o.Attempts = 3
	}
	if o.Expiry == 0 {
		o.Expiry = DefaultExpiry
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.Progress == nil {
		o.Progress = func(Cell, experiment.Progress) {}
	}
	return o
}

// Summary is what a worker did and what is left of its part.
type Summary struct {
	Done, Failed int // cells that this worker made, and those that it could not make
	Left         int // cells without a result that nobody is at
	Elsewhere    int // cells that other workers are at
}

// Work makes the cells of a grid that have no result, until nothing is left for it. When ctx is cancelled, it saves
// the current run and returns [experiment.ErrInterrupted]; when its time is up, it returns [ErrTimeUp]. A cell that
// cannot be made is recorded as failed and is no error of Work.
func (f Folder) Work(ctx context.Context, m *Manifest, maker Maker, o WorkOptions) (Summary, error) {
	w, err := f.newWorker(m, maker, o)
	if err != nil {
		return Summary{}, err
	}
	err = w.work(ctx)
	if e := w.journal.close(); err == nil {
		err = e
	}
	if counted := w.count(); err == nil {
		err = counted
	}
	return w.summary, err
}

// worker makes cells, one after another.
type worker struct {
	folder   Folder
	manifest *Manifest
	maker    Maker
	options  WorkOptions
	cells    []Cell // in the order in which they are made
	index    *Index
	leases   *leases
	journal  *journal
	budget   *budget
	summary  Summary
	skipped  map[string]bool    // cells that this worker leaves alone
	own      map[string]float64 // longest time of the cells of a kind that it made itself; see learn
	missing  []error            // data sets that are not here
	barred   []error            // cells whose folder another process is in, such as a worker that hung and lost its lease
	before   map[string]int     // how often each cell had failed when this worker started
	waited   time.Duration      // since when there is nothing to do but wait; 0 if there is
}

func (f Folder) newWorker(m *Manifest, maker Maker, o WorkOptions) (*worker, error) {
	if err := errors.Join(o.check(), m.Check()); err != nil {
		return nil, err
	}
	index, err := f.Index()
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	prefix := m.Name
	if o.Shard.N > 0 {
		prefix += fmt.Sprintf("-%d-of-%d", o.Shard.I, o.Shard.N)
	}
	w := &worker{
		folder: f, manifest: m, maker: maker, options: o, index: index, leases: f.leases(o.Expiry), skipped: map[string]bool{}, own: map[string]float64{}, before: map[string]int{},
		journal: f.newJournal(prefix, Worker{Host: host, PID: os.Getpid(), Build: m.Build, Started: time.Now(), Grid: m.Name, Shard: o.Shard.String()}),
	}
	w.budget = &budget{total: o.Time, reserve: o.Reserve, clock: w.leases.clock, begun: w.leases.clock()}
	own := part(m.Cells, o.Shard)
	for k := range max(1, o.Begin.N) {
		w.cells = append(w.cells, part(own, Shard{(o.Begin.I + k) % max(1, o.Begin.N), o.Begin.N})...)
	}
	for _, c := range w.cells {
		w.before[c.ID] = index.failures(c.ID)
	}
	for _, sentence := range index.Notes() {
		o.Say(sentence)
	}
	return w, nil
}

// work makes cells until nothing is left.
func (w *worker) work(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return experiment.ErrInterrupted
		}
		if err := w.index.Refresh(); err != nil {
			return err
		}
		cell, wait, err := w.next()
		if err != nil {
			return err
		}
		switch {
		case cell != nil:
			w.waited = 0
			if err := w.make(ctx, *cell); err != nil {
				return err
			}
		case wait:
			if err := w.pause(ctx); err != nil {
				return err
			}
		default:
			return errors.Join(slices.Concat(w.missing, w.barred)...)
		}
	}
}

// next returns the cell to make next, or whether to wait for one that another worker may leave.
func (w *worker) next() (cell *Cell, wait bool, err error) {
	held, err := w.leases.list()
	if err != nil {
		return nil, false, err
	}
	late, taken := false, []string{}
	for i := range w.cells {
		c := &w.cells[i]
		switch {
		case !w.wanted(*c):
		case !w.budget.fits(w.expected(*c)):
			late = true
		case len(held[c.ID]) > 0:
			taken = append(taken, c.ID)
		default:
			return c, false, nil
		}
	}
	for _, id := range taken { // whose lease may have run out
		if free, err := w.leases.free(id); err != nil || free {
			i := slices.IndexFunc(w.cells, func(c Cell) bool { return c.ID == id })
			return &w.cells[i], false, err
		}
	}
	switch {
	case w.worthWaiting(taken) && !w.budget.over():
		return nil, true, nil
	case late:
		return nil, false, ErrTimeUp
	}
	return nil, false, nil
}

// wanted reports whether a cell is one that this worker is to make.
func (w *worker) wanted(c Cell) bool {
	if w.skipped[c.ID] {
		return false
	}
	s, _ := w.index.state(c.ID)
	if w.options.Retry { // once is enough, whichever worker did it
		n := w.index.failures(c.ID)
		return n > 0 && n == w.before[c.ID]
	}
	return s == fresh || s == begun
}

// expected returns how long a cell will take; 0 if that is not known.
func (w *worker) expected(c Cell) time.Duration {
	kind, wider, err := kinds(c.Config, w.manifest.Compute)
	if err != nil {
		return 0
	}
	seconds := w.own[kind]
	if seconds == 0 {
		seconds = w.index.times.of(kind, wider).longest
	}
	if _, last := w.index.state(c.ID); last.end == stopped && last.steps > 0 {
		seconds *= 1 - float64(last.step)/float64(last.steps)
	}
	return time.Duration(seconds * float64(time.Second))
}

// learn takes note of the time of a cell that this worker made. The first one of a kind does not count, because it was
// the one that read the data set and compiled the programs. A worker that has done so already can begin cells nearer to
// its end than one that has not.
func (w *worker) learn(kind string, seconds float64) {
	longest, again := w.own[kind]
	if again {
		longest = max(longest, seconds)
	}
	w.own[kind] = longest
}

// worthWaiting reports whether a worker that has one of these leases may be dead. After one and a half times their
// expiry it would have been found out.
func (w *worker) worthWaiting(taken []string) bool {
	if len(taken) == 0 || !slices.ContainsFunc(taken, w.leases.doubtful) {
		return false
	}
	now := w.leases.clock()
	if w.waited == 0 {
		w.waited = now
		w.options.Say(fmt.Sprintf("Waiting for %s that other workers are at, in case one of them is dead.", plural.Of(len(taken), "cell")))
	}
	return now-w.waited <= w.options.Expiry*3/2
}

// pause waits a moment.
func (w *worker) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return experiment.ErrInterrupted
	case <-time.After(min(time.Second, w.options.Expiry/10)):
		return nil
	}
}

// count fills in what is left of the worker's part.
func (w *worker) count() error {
	if err := w.index.Refresh(); err != nil {
		return err
	}
	held, err := w.leases.holders()
	if err != nil {
		return err
	}
	for _, c := range w.cells {
		s, _ := w.index.state(c.ID)
		_, elsewhere := held[c.ID]
		switch {
		case s == completed || s == broken:
		case elsewhere:
			w.summary.Elsewhere++
		default:
			w.summary.Left++
		}
	}
	return nil
}
