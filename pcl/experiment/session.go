package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// envBackend is the environment variable that names the backend if [Options].Backend is empty.
const envBackend = "PARALLELCL_BACKEND"

// Options say where and how the runs of a [Session] are made and kept. The zero value is ready to
// use.
type Options struct {
	Dir    string // folder of the results, with a folder for each run in it; empty stands for "runs"
	Record bool   // whether to write one line per step to each run's folder, for [Session.Records]
	// Replace makes a run again whose stored result, or saved beginning, other code or other data
	// made. Otherwise that is an error, which is [ErrForeign].
	Replace bool
	// Observe gives the reports of [Session.Play] the Gram matrix, whatever the method, and the
	// losses after the step.
	Observe bool
	DataDir string // folder of the data sets; see datasets.Options
	Backend string // "auto", "xla-cuda", "xla-cpu" or "go"; empty stands for $PARALLELCL_BACKEND, or else "auto"
	Threads int    // threads of the XLA CPU backend; 0 stands for one
	// how many streams' gradients the XLA CPU backend computes at the same time; 0 stands for as
	// many as there are cores, or one if Threads is set
	Clients int
	Vectors string // vector instructions of the XLA CPU backend: "native", "avx2" or empty, as in backend.Options
}

// Session makes runs on one data set, on a [Machine] of its own. Close it when it is no longer
// needed. A Session must not be used by several goroutines at once.
type Session struct {
	Machine
	options Options
	name    string
}

// New returns a session on the data set of the given name. When it opens a set of your own, it says
// on standard error how that was read, and what is doubtful about it ([datasets.Dataset].Note).
func New(dataset string, o Options) *Session {
	o.Dir = cmp.Or(o.Dir, "runs")
	o.Backend = cmp.Or(o.Backend, os.Getenv(envBackend))
	s := &Session{options: o, name: dataset,
		Machine: Machine{DataDir: o.DataDir, Progress: os.Stderr, Open: func(ctx context.Context) (*backend.Backend, error) {
			return backend.Open(ctx, backend.Options{Name: o.Backend, Threads: o.Threads, Clients: o.Clients,
				Vectors: o.Vectors})
		}}}
	s.opened = tell
	keepRecipe(s, "session", recipeArgs{Dataset: dataset, Options: o})
	return s
}

// tell prints the note of a set of the user's own.
func tell(d *datasets.Dataset) {
	if note := d.UserNote(); note != "" {
		fmt.Fprintln(os.Stderr, note)
	}
}

// Dataset returns the session's data set, and opens it if necessary.
func (s *Session) Dataset(ctx context.Context) (*datasets.Dataset, error) {
	return s.Machine.Dataset(ctx, s.name)
}

// Run returns the results of all configurations, in their order, and makes the runs that are not
// finished. When ctx is cancelled, it saves the current run and returns [ErrInterrupted]; the next
// call continues that run. progress may be nil. Otherwise it is called with the number of steps
// done, the number of steps of all runs, as far as it is known, and a note that names the current
// run.
func (s *Session) Run(ctx context.Context, configs []Config,
	progress func(done, total int, note string)) ([]*results.Run, error) {
	var runs []*results.Run
	for r, err := range s.Each(ctx, configs, progress) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// Each is like [Session.Run], but yields each result as soon as its run is finished, for example to
// update a figure. It ends at the first error. If a configuration is not valid, Each yields that
// error before it makes any run.
func (s *Session) Each(ctx context.Context, configs []Config,
	progress func(done, total int, note string)) iter.Seq2[*results.Run, error] {
	return func(yield func(*results.Run, error) bool) {
		runs, err := s.checked(ctx, configs)
		if err != nil {
			yield(nil, err)
			return
		}
		before, made, step, steps := 0, -1, 0, 0
		tell := func(i int, more string) { // runs that have not begun are taken to be as long as this one
			if progress == nil {
				return
			}
			c := runs[i].config
			if i != made {
				more = ", read from " + s.options.Dir
			}
			progress(before+step, before+(len(runs)-i)*steps,
				fmt.Sprintf("run %d of %d: %s, %s-incremental, seed %d%s", i+1, len(runs), c.Method, c.Increment, c.Seed, more))
		}
		store := Store{Dir: s.options.Dir, Record: s.options.Record, Replace: s.options.Replace, complete: true}
		schedule := Schedule{
			Machine:    &s.Machine,
			OnBegin:    func(i int, _ Config) { made, step = i, 0 },
			OnProgress: func(i int, p Progress) { step, steps = p.Step, p.Steps; tell(i, "") },
			OnPrepare: func(i, done, total int) {
				if steps > 0 { // not in the first evaluation of a run that goes on
					tell(i, fmt.Sprintf(", evaluation: step %d of %d of its network", done, total))
				}
			},
		}
		for e, err := range Each(ctx, runs, store, schedule) {
			if errors.Is(err, ErrForeign) {
				err = fmt.Errorf("%w (Options.Replace makes the run again)", err)
			}
			if !yield(e.Run, err) || err != nil {
				return
			}
			step, steps = e.Run.Steps, e.Run.Steps
			tell(e.Index, "")
			before += e.Run.Steps
		}
	}
}

// checked returns the configurations, each another run on the session's data set, with the checksum
// of its files.
func (s *Session) checked(ctx context.Context, configs []Config) (all []Checked, err error) {
	seen := map[string]int{}
	for i, c := range configs {
		checked, err := s.check(c)
		if err != nil {
			return nil, err
		}
		first, twice := seen[c.ID()]
		if twice {
			return nil, fmt.Errorf(
				"experiment: configurations %d and %d are the same run (%s, seed %d): it would count twice",
				first+1, i+1, c.Method, c.Seed)
		}
		seen[c.ID()] = i
		all = append(all, checked)
	}
	for i, c := range all {
		if all[i], err = c.OnData(ctx, datasets.Options{Dir: s.DataDir}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// check fails if something is wrong in a configuration, or it asks for another data set than the
// session's.
func (s *Session) check(c Config) (Checked, error) {
	if c.Dataset != s.name {
		return Checked{}, fmt.Errorf("experiment: a configuration asks for data set %q, and the session is on %q",
			c.Dataset, s.name)
	}
	return c.Check()
}

// Records returns the records of the steps of a finished run. They exist if the session has
// [Options].Record set.
func (s *Session) Records(c Config) (all []results.Record, err error) {
	if c, err = c.OnData(context.Background(), datasets.Options{Dir: s.DataDir}); err != nil {
		return nil, err
	}
	dir := filepath.Join(s.options.Dir, c.Folder())
	if _, err := finished(dir, c); err != nil {
		return nil, err
	}
	f, err := regular.Open(filepath.Join(dir, results.RecordsFile))
	if err != nil {
		return nil, fmt.Errorf("experiment: no records of this run, make it with Options.Record: %w", err)
	}
	defer f.Close()
	return results.ReadRecords(f)
}

// ErrStop makes [Session.Play] stop early and return nil, if its callback returns it.
var ErrStop = errors.New("experiment: stop")

// Play makes the run of a configuration and calls after with the learner after each step, so that
// the caller can measure or draw what no result file holds. Play writes no files. The learner's
// parameters are the same as in [Session.Run], bit by bit. [Record] keeps what a report says. The
// learner is closed when Play returns.
func (s *Session) Play(ctx context.Context, c Config, after func(*pcl.Learner, *pcl.StepReport) error) error {
	checked, err := s.check(c)
	if err != nil {
		return err
	}
	p, err := s.newCourse(ctx, checked, pcl.Options{
		Observe: s.options.Observe, Preparing: func(int, int) error { return ctx.Err() },
	})
	if err != nil {
		return err
	}
	defer p.learner.Close()
	ended, err := p.play(ctx, func(report *pcl.StepReport) error { return after(p.learner, report) })
	switch {
	case errors.Is(err, ErrStop):
		return nil
	case err != nil || ended:
		return err
	}
	return ctx.Err()
}

// Learner returns a learner with the settings of a configuration, for the session's data set. It
// has an output for each class of the data set and no tasks yet; the configuration's scenario is
// not used.
func (s *Session) Learner(ctx context.Context, c Config) (l *pcl.Learner, err error) {
	checked, err := s.check(c)
	if err != nil {
		return nil, err
	}
	set, err := s.ready(ctx, checked.config)
	if err != nil {
		return nil, err
	}
	if l, err = checked.newLearner(&s.Machine, set, len(set.Classes), pcl.Options{}); err != nil {
		return nil, err
	}
	keepRecipe(l, "learner", recipeArgs{s.name, s.options, c, 0, nil})
	return l, nil
}

// Task returns a task with the training and test images of the given classes, ready to be attached
// to a learner. id should be the id that the learner will give the task. The order of the training
// images is drawn from it.
func (s *Session) Task(ctx context.Context, c Config, id int, classes ...int) (t pcl.Task, err error) {
	checked, err := s.check(c)
	if err != nil {
		return pcl.Task{}, err
	}
	set, err := s.DatasetOf(ctx, checked.config)
	if err != nil {
		return pcl.Task{}, err
	}
	if t, err = checked.config.newTask(set, id, scenario.Task{Classes: classes}); err != nil {
		return pcl.Task{}, err
	}
	// it stays when the stream has ended
	keepRecipe(t.Test.(*datasets.Selection), "task", recipeArgs{s.name, s.options, c, id, classes})
	return t, nil
}
