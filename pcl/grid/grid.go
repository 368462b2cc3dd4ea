// Package grid makes several runs on one data set, and remembers which are finished:
//
//	g := grid.New("glyphs", grid.Options{})
//	configs := grid.Vary(pcl.DefaultConfig("glyphs"), []string{"emgd-gmc", "avggrad"}, nil, 1234, 1235)
//	runs, err := g.Run(ctx, configs, nil)
//
// A second call, also in a later program, reads the four results from their folders; `pcl run` uses the same
// folders. [Grid.Play] makes a run whose learner can be inspected after each step; [Grid.Learner] and
// [Grid.Task] are its parts.
package grid

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// EnvBackend is the environment variable that names the backend if [Options] do not.
const EnvBackend = "PARALLELCL_BACKEND"

// Options say where runs are made and kept. The zero value is ready to use.
type Options struct {
	Dir     string // folder of the results, with a folder for each run in it; empty: "runs"
	Record  bool   // write one line per step to each run's folder, for [Grid.Records]
	DataDir string // data folder; empty: datasets.DefaultDir
	Backend string // "auto", "xla-cuda", "xla-cpu" or "go"; empty: $PARALLELCL_BACKEND, else "auto"
	Threads int    // of the XLA CPU backend; 0: one
}

// Grid makes runs on one data set. Backend and data set are opened when they are first needed, and never if
// all runs are finished. It is not safe for concurrent use.
type Grid struct {
	options  Options
	name     string
	backend  *backend.Backend
	set      *datasets.Dataset
	programs *pcl.Programs
}

// New returns a grid on the data set of that name. Close it if the program goes on without it.
func New(dataset string, o Options) *Grid {
	if o.Dir == "" {
		o.Dir = "runs"
	}
	if o.Backend == "" {
		o.Backend = os.Getenv(EnvBackend)
	}
	return &Grid{options: o, name: dataset}
}

// Close releases what was opened.
func (g *Grid) Close() error {
	if g.programs != nil {
		g.programs.Close()
	}
	err := g.backend.Close()
	g.backend, g.programs = nil, nil
	return err
}

// Backend returns the backend, which belongs to the grid.
func (g *Grid) Backend(ctx context.Context) (*backend.Backend, error) {
	if g.backend != nil {
		return g.backend, nil
	}
	b, err := backend.Open(ctx, backend.Options{Name: g.options.Backend, Threads: g.options.Threads})
	if err != nil {
		return nil, err
	}
	g.backend, g.programs = b, pcl.NewPrograms(b.Backend)
	return b, nil
}

// Dataset returns the data set.
func (g *Grid) Dataset(ctx context.Context) (*datasets.Dataset, error) {
	if g.set != nil {
		return g.set, nil
	}
	var err error
	g.set, err = datasets.Open(ctx, g.name, datasets.Options{Dir: g.options.DataDir})
	return g.set, err
}

// open opens both.
func (g *Grid) open(ctx context.Context) error {
	if _, err := g.Dataset(ctx); err != nil {
		return err
	}
	_, err := g.Backend(ctx)
	return err
}

// Vary returns base in every combination of methods, increments and seeds, in that order. Where a list is
// empty, the value of base is used.
func Vary(base pcl.Config, methods []string, increments []scenario.Increment, seeds ...uint64) []pcl.Config {
	if len(methods) == 0 {
		methods = []string{base.Method}
	}
	if len(increments) == 0 {
		increments = []scenario.Increment{base.Increment}
	}
	if len(seeds) == 0 {
		seeds = []uint64{base.Seed}
	}
	var configs []pcl.Config
	for _, name := range methods {
		for _, increment := range increments {
			for _, seed := range seeds {
				c := base
				c.Method, c.Increment, c.Seed = name, increment, seed
				configs = append(configs, c)
			}
		}
	}
	return configs
}

// Folder returns the folder of a run, the same that `pcl run` uses.
func (g *Grid) Folder(c pcl.Config) string {
	return filepath.Join(g.options.Dir, c.Folder())
}

// Run returns the results of all configurations, in their order. It makes the runs that are not finished.
// When ctx ends, it saves the current run, which the next call continues, and returns pcl.ErrInterrupted.
// progress, if not nil, is called with the steps done, the steps of all runs, and a note that says which run
// is being made.
func (g *Grid) Run(ctx context.Context, configs []pcl.Config, progress func(done, total int, note string)) ([]*results.Run, error) {
	var runs []*results.Run
	for r, err := range g.Each(ctx, configs, progress) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// Each is [Grid.Run], but yields each result as soon as it is there, for figures that grow. It ends at the
// first error. All configurations are checked, and their mistakes reported, before the first run begins.
func (g *Grid) Each(ctx context.Context, configs []pcl.Config, progress func(done, total int, note string)) iter.Seq2[*results.Run, error] {
	return func(yield func(*results.Run, error) bool) {
		finished, steps, err := g.plan(ctx, configs)
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
				r, err = pcl.Run(ctx, c, pcl.RunOptions{
					Backend: g.backend, Dataset: g.set, Programs: g.programs,
					Dir: g.Folder(c), Resume: true, Replace: g.unrecorded(c), Record: g.options.Record,
					Progress: func(p pcl.Progress) { tell(p.Step) },
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
func (g *Grid) plan(ctx context.Context, configs []pcl.Config) (finished []*results.Run, steps []int, err error) {
	seen := map[string]int{}
	for i, c := range configs {
		if err := c.Validate(); err != nil {
			return nil, nil, err
		}
		if first, ok := seen[c.ID()]; ok {
			return nil, nil, fmt.Errorf("grid: configurations %d and %d are the same run (%s, seed %d): it would count twice", first+1, i+1, c.Method, c.Seed)
		}
		seen[c.ID()] = i
		r, err := g.load(c)
		if err != nil {
			return nil, nil, err
		}
		finished = append(finished, r)
		if r != nil {
			steps = append(steps, r.Steps)
			continue
		}
		if err := g.open(ctx); err != nil {
			return nil, nil, err
		}
		s, err := pcl.NewScenario(c, g.set)
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, s.LastStep()+1)
	}
	return finished, steps, nil
}

// load reads the result of a run; nil if it is not finished, or lacks the records that are asked for.
func (g *Grid) load(c pcl.Config) (*results.Run, error) {
	if g.unrecorded(c) {
		return nil, nil
	}
	return pcl.Finished(g.Folder(c), c)
}

// unrecorded says that a finished run has to be made again, because it lacks the records that are asked for.
func (g *Grid) unrecorded(c pcl.Config) bool {
	if !g.options.Record {
		return false
	}
	if r, err := pcl.Finished(g.Folder(c), c); r == nil || err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(g.Folder(c), pcl.RecordFile))
	return err != nil
}

// Records returns the steps of a finished run of a grid with Options.Record.
func (g *Grid) Records(c pcl.Config) ([]results.Record, error) {
	f, err := os.Open(filepath.Join(g.Folder(c), pcl.RecordFile))
	if err != nil {
		return nil, fmt.Errorf("grid: no records of this run, make it with Options.Record: %w", err)
	}
	defer f.Close()
	return results.ReadRecords(f)
}
