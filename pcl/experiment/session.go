package experiment

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// EnvBackend is the environment variable that names the backend where [Options] do not.
const EnvBackend = "PARALLELCL_BACKEND"

// Options say where runs are made and kept. The zero value is ready to use.
type Options struct {
	Dir     string // folder of the results, with a folder for each run in it; empty: "runs"
	Record  bool   // write one line per step to each run's folder, for [Session.Records]
	DataDir string // data folder; empty: datasets.DefaultDir
	Backend string // "auto", "xla-cuda", "xla-cpu" or "go"; empty: $PARALLELCL_BACKEND, else "auto"
	Threads int    // of the XLA CPU backend; 0: one
	Clients int    // streams whose gradients the XLA CPU backend computes at the same time; 0: one
}

// Session makes runs on one data set. Backend and data set are opened when they are first needed: where all
// runs are finished, never. It is not safe for concurrent use.
type Session struct {
	options  Options
	name     string
	backend  *backend.Backend
	set      *datasets.Dataset
	programs *pcl.Programs
}

// New returns a session on the data set of that name. Close it if the program goes on without it.
func New(dataset string, o Options) *Session {
	if o.Dir == "" {
		o.Dir = "runs"
	}
	if o.Backend == "" {
		o.Backend = os.Getenv(EnvBackend)
	}
	return &Session{options: o, name: dataset}
}

// Close releases what was opened.
func (s *Session) Close() error {
	if s.programs != nil {
		s.programs.Close()
	}
	err := s.backend.Close()
	s.backend, s.programs = nil, nil
	return err
}

// Backend returns the backend, which belongs to the session.
func (s *Session) Backend(ctx context.Context) (*backend.Backend, error) {
	if s.backend != nil {
		return s.backend, nil
	}
	b, err := backend.Open(ctx, backend.Options{Name: s.options.Backend, Threads: s.options.Threads, Clients: s.options.Clients})
	if err != nil {
		return nil, err
	}
	s.backend, s.programs = b, pcl.NewPrograms(b)
	return b, nil
}

// Dataset returns the data set.
func (s *Session) Dataset(ctx context.Context) (*datasets.Dataset, error) {
	if s.set != nil {
		return s.set, nil
	}
	var err error
	s.set, err = datasets.Open(ctx, s.name, datasets.Options{Dir: s.options.DataDir})
	return s.set, err
}

// open opens both.
func (s *Session) open(ctx context.Context) error {
	if _, err := s.Dataset(ctx); err != nil {
		return err
	}
	_, err := s.Backend(ctx)
	return err
}

// Folder returns the folder of a run, the same that `pcl run` uses.
func (s *Session) Folder(c Config) string {
	return filepath.Join(s.options.Dir, c.Folder())
}

// Run returns the results of all configurations, in their order. It makes the runs that are not finished;
// when ctx ends it saves the one it is at, where the next call goes on, and returns ErrInterrupted.
// progress, if not nil, is told the steps done, those of all runs, and which run it is at.
func (s *Session) Run(ctx context.Context, configs []Config, progress func(done, total int, note string)) ([]*results.Run, error) {
	var runs []*results.Run
	for r, err := range s.Each(ctx, configs, progress) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// Each is [Session.Run] that yields each result as soon as there is one, for pictures that grow. The first
// error ends it. All mistakes in configurations are told before the first run begins.
func (s *Session) Each(ctx context.Context, configs []Config, progress func(done, total int, note string)) iter.Seq2[*results.Run, error] {
	return func(yield func(*results.Run, error) bool) {
		finished, steps, err := s.plan(ctx, configs)
		if err != nil {
			yield(nil, err)
			return
		}
		total, before := 0, 0
		for _, n := range steps {
			total += n
		}
		for i, c := range configs {
			tell := func(step int) {
				if progress != nil {
					progress(before+step, total, fmt.Sprintf("run %d of %d: %s, %s-incremental, seed %d", i+1, len(configs), c.Method, c.Increment, c.Seed))
				}
			}
			r := finished[i]
			if r == nil {
				r, err = Run(ctx, c, RunOptions{
					Backend: s.backend, Dataset: s.set, Programs: s.programs,
					Dir: s.Folder(c), Resume: true, Replace: s.unrecorded(c), Record: s.options.Record,
					Progress: func(p Progress) { tell(p.Step) },
				})
			}
			if !yield(r, err) || err != nil {
				return
			}
			tell(steps[i])
			before += steps[i]
		}
	}
}

// plan loads what is finished, and opens what the rest needs. steps is the length of each run.
func (s *Session) plan(ctx context.Context, configs []Config) (finished []*results.Run, steps []int, err error) {
	seen := map[string]int{}
	for i, c := range configs {
		if err := c.Validate(); err != nil {
			return nil, nil, err
		}
		if first, ok := seen[c.ID()]; ok {
			return nil, nil, fmt.Errorf("experiment: configurations %d and %d are the same run (%s, seed %d): it would count twice", first+1, i+1, c.Method, c.Seed)
		}
		seen[c.ID()] = i
		r, err := s.load(c)
		if err != nil {
			return nil, nil, err
		}
		finished = append(finished, r)
		if r != nil {
			steps = append(steps, r.Steps)
			continue
		}
		if err := s.open(ctx); err != nil {
			return nil, nil, err
		}
		played, err := NewScenario(c, s.set)
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, played.LastStep()+1)
	}
	return finished, steps, nil
}

// load reads the result of a run; nil if it is not finished, or lacks the records that are asked for.
func (s *Session) load(c Config) (*results.Run, error) {
	if s.unrecorded(c) {
		return nil, nil
	}
	return Finished(s.Folder(c), c)
}

// unrecorded says that a finished run is to be made anew, because it lacks the records that are asked for.
func (s *Session) unrecorded(c Config) bool {
	if !s.options.Record {
		return false
	}
	if r, err := Finished(s.Folder(c), c); r == nil || err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(s.Folder(c), RecordFile))
	return err != nil
}

// Records returns the steps of a finished run of a session with Options.Record.
func (s *Session) Records(c Config) ([]results.Record, error) {
	f, err := os.Open(filepath.Join(s.Folder(c), RecordFile))
	if err != nil {
		return nil, fmt.Errorf("experiment: no records of this run, make it with Options.Record: %w", err)
	}
	defer f.Close()
	return results.ReadRecords(f)
}

// ErrStop ends [Session.Play] early, without an error.
var ErrStop = errors.New("experiment: stop")

// Play makes the run of a configuration with a learner of its own, which after each step is handed to
// the caller: to measure, to draw, to keep what no result file holds. Nothing is written. The
// parameters are those of [Run], to the bit; the learner is closed when Play returns.
func (s *Session) Play(ctx context.Context, c Config, after func(*pcl.Learner, *pcl.StepReport) error) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	played, err := NewScenario(c, s.set)
	if err != nil {
		return err
	}
	l, err := c.NewLearner(s.backend, s.programs, s.set, Outputs(played, s.set))
	if err != nil {
		return err
	}
	defer l.Close()
	task := func(id int) (pcl.Task, error) { return c.NewTask(s.set, id, played.Tasks[id-1].Classes...) }
	for r, err := range play(ctx, played, l, task) {
		if err != nil {
			return err
		}
		if err := after(l, r); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Learner returns a learner of a configuration for the session's data set, with an output for each of its
// classes and no task yet. Of the configuration's scenario it knows nothing.
func (s *Session) Learner(ctx context.Context, c Config) (*pcl.Learner, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return c.NewLearner(s.backend, s.programs, s.set, len(s.set.Classes))
}

// Task returns the training and test images of some classes, ready to be attached to a learner of the
// configuration as its task id (from 1, by arrival).
func (s *Session) Task(ctx context.Context, c Config, id int, classes ...int) (pcl.Task, error) {
	set, err := s.Dataset(ctx)
	if err != nil {
		return pcl.Task{}, err
	}
	return c.NewTask(set, id, classes...)
}
