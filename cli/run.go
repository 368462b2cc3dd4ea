package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// runCmd trains every combination of the given methods, increments and seeds.
type runCmd struct {
	Config string `short:"c" type:"existingfile" placeholder:"FILE.toml" help:"Read the configuration from a TOML file; flags override it, and the data set's defaults fill in the rest."`

	Method       []string             `placeholder:"NAME,…" help:"Methods to train with (default emgd, the recommended one); pcl methods lists them."`
	Param        assigned             `placeholder:"NAME=VALUE" help:"Parameter of the methods; may be repeated."`
	Increment    []scenario.Increment `placeholder:"task,class" help:"task, class, or both (default task; for files of your own class)."`
	LabelSet     []uint64             `name:"labelset" placeholder:"N,…" help:"Seeds of the label sets (default 0)."`
	Timeline     []uint64             `placeholder:"N,…" help:"Seeds of the timelines (default 0)."`
	Seed         []uint64             `placeholder:"N,…" help:"Run seeds (default 1234)."`
	Paper        bool                 `rare:"" help:"Use the settings of the paper's tables, such as their memory (docs/protocol.md §2.4)."`
	kong.Plugins                      // the flags of settings, see [settingFlags]

	Out             string `short:"o" default:"runs" type:"path" help:"Folder for results; each run gets a folder of its own in it."`
	Record          bool   `help:"Write one line per step (losses, Gram, σ, λ, slacks) to records.jsonl."`
	Weights         bool   `help:"Save the trained network as weights.safetensors, for pcl export weights."`
	RecordArrays    int    `range:"whole [0,inf)" rare:"" name:"record-arrays" placeholder:"N" help:"Write batches and parameters of the first N steps as .npz, so that another program can repeat them (bench/peers/replay.py)."`
	Resume          bool   `help:"Continue interrupted runs from their newest checkpoint. Finished runs are not repeated, with or without this flag."`
	Replace         bool   `xor:"again" help:"Repeat runs that are finished or saved already; what they left is removed first."`
	Checkpoint      string `rare:"" xor:"again" type:"existingfile" placeholder:"FILE" help:"Continue a single run from this checkpoint; later checkpoints are deleted when the next one is saved."`
	CheckpointEvery int    `range:"whole [0,inf)" rare:"" default:"500" placeholder:"N" help:"Steps between checkpoints; 0 saves only on Ctrl-C."`
	Keep            int    `range:"whole [1,inf)" rare:"" default:"3" placeholder:"N" help:"Checkpoints to keep."`
	Jobs            int    `range:"whole [1,1024]" default:"1" placeholder:"N" help:"Runs to make at the same time; one per core is best for an MLP."`
	Shard           shard  `rare:"" placeholder:"I/N" help:"Make only part I of N of the runs, counted from 0, as one task of an array job. A run's id decides which part it is in."`
	JSON            bool   `name:"json" help:"Print the results as JSON lines instead of a table."`

	machineFlags
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`

	increment bool // whether the user chose one
}

// machineFlags say on which backend to compute.
type machineFlags struct {
	Backend string `default:"auto" enum:"auto,xla-cuda,xla-cpu,go" help:"Compute backend: ${enum}."`
	Threads int    `range:"whole [0,inf)" default:"0" help:"Threads of the XLA CPU backend; 0 stands for one, or, for pcl run with a ResNet, one per core."`
	Clients int    `range:"whole [0,inf)" rare:"" default:"0" placeholder:"N" help:"Compute the gradients of N streams at the same time on the XLA CPU backend; the results stay the same. 0 stands for one per core, shared by --jobs, or for one if --threads is set."`
	Vectors string `rare:"" default:"native" enum:"native,avx2" help:"Vector instructions of the XLA CPU backend: native, the widest, or avx2, with which processors with equal caches give the same results."`
	TF32    bool   `rare:"" name:"tf32" help:"Let a GPU round the factors of products to 10 bits: faster, less exact."`
}

// open opens the backend and prints which one it is.
func (m machineFlags) open(rc *runContext) (*backend.Backend, error) {
	b, err := backend.Open(rc.ctx, backend.Options{Name: m.Backend, Threads: m.Threads, Clients: m.Clients, Vectors: m.Vectors, TF32: m.TF32, Progress: rc.progress()})
	if err == nil {
		rc.named.Do(func() { rc.note("Backend %v", b.Info) })
	}
	return b, err
}

// share gives each of several runs at the same time its part of the cores, unless the flags say what each has.
func (m *machineFlags) share(jobs int) {
	if jobs > 1 && m.Clients == 0 && m.Threads == 0 {
		m.Clients = max(1, runtime.GOMAXPROCS(0)/jobs)
	}
}

// machine opens the backend, and data sets in the folder dataDir, when a run needs them.
func (m *machineFlags) machine(rc *runContext, dataDir string) *experiment.Machine {
	return &experiment.Machine{DataDir: dataDir, Open: func(context.Context) (*backend.Backend, error) { return m.open(rc) }}
}

func (c *runCmd) Run(k *kong.Context, rc *runContext) error {
	configs, err := c.configs(k)
	if err != nil {
		return usageError{err}
	}
	configs = slices.DeleteFunc(configs, func(config experiment.Checked) bool { return !c.Shard.Has(config.Config) })
	if c.Checkpoint != "" && len(configs) != 1 {
		return usagef("--checkpoint continues a single run, but the flags name %d", len(configs))
	}
	for i, config := range configs {
		if configs[i].Config, err = config.OnData(rc.ctx, datasets.Options{Dir: c.DataDir}); err != nil {
			return err
		}
	}
	left, err := c.left(configs)
	if err != nil || len(configs) == 0 { // there may be more shards than runs
		return err
	}
	m := c.machine(rc, c.DataDir)
	defer m.Close()
	note := ""
	if left {
		if note, err = c.prepare(rc, m, configs); err != nil {
			return err
		}
	}
	runs, err := c.make(rc, configs, m, note)
	if err != nil {
		return err
	}
	if !c.JSON {
		if err := errors.Join(printTable(rc.stdout, runs), printSituations(rc, runs)); err != nil {
			return err
		}
	}
	return diverged(runs)
}

// left says whether runs are left to be made. It returns an error if something in a run's folder prevents the run.
func (c *runCmd) left(configs []experiment.Checked) (left bool, err error) {
	for _, config := range configs {
		finished, err := experiment.Ready(config, c.options(config.Config))
		if err != nil {
			return false, c.advise(err, config.Config)
		}
		left = left || finished == nil
	}
	return left, nil
}

// prepare opens the data set and the backend, and checks that the scenarios fit the data set. note is about that.
func (c *runCmd) prepare(rc *runContext, m *experiment.Machine, configs []experiment.Checked) (note string, err error) {
	set, err := m.Dataset(rc.ctx, configs[0].Dataset)
	if err != nil {
		return "", err
	}
	for _, config := range configs {
		if _, err := config.NewScenario(set); err != nil {
			return "", usageError{err}
		}
	}
	if c.Threads == 0 && slices.ContainsFunc(configs, func(config experiment.Checked) bool { return config.Model == "resnet18" }) {
		c.Threads = runtime.NumCPU() // convolutions gain from every core, an MLP's steps do not
	}
	c.share(c.Jobs)
	_, err = m.Backend(rc.ctx)
	note = noteOf(set)
	if first := configs[0]; datasets.Own(first.Dataset) {
		if !c.increment {
			note += fmt.Sprintf("\n%s-incremental: predictions choose among all classes that have arrived (--increment task: among those of the sample's task, which is then known)", first.Increment)
		}
		if first.Tasks == 1 {
			note += "\n" + oneTask(first.Dataset, len(set.Classes))
		}
	}
	return note, err
}

// make makes the runs that are not finished, and returns the results of all in their order. note is shown with the first
// run.
func (c *runCmd) make(rc *runContext, configs []experiment.Checked, m *experiment.Machine, note string) ([]*results.Run, error) {
	runs, printed, stopped := make([]*results.Run, len(configs)), 0, error(nil)
	for e, err := range shownRuns(rc, configs, experiment.Where{Machine: m, Jobs: c.Jobs, Dir: c.Out, Options: c.options}, note) {
		if errors.Is(err, experiment.ErrInterrupted) { // others may not have been saved, which counts more
			stopped = c.advise(err, configs[e.Index].Config)
			continue
		}
		if err != nil {
			return nil, c.advise(err, configs[e.Index].Config)
		}
		for runs[e.Index] = e.Run; c.JSON && printed < len(runs) && runs[printed] != nil; printed++ {
			if err := json.NewEncoder(rc.stdout).Encode(runs[printed]); err != nil {
				return nil, err
			}
		}
	}
	return runs, stopped
}

// shownRuns makes runs as [experiment.Each] does, and shows how far they are. An interrupt waits until the runs in progress
// have been saved. note is shown with the first that is made.
func shownRuns(rc *runContext, configs []experiment.Checked, w experiment.Where, note string) iter.Seq2[experiment.Ended, error] {
	return func(yield func(experiment.Ended, error) bool) {
		defer rc.hold()()
		begun := make([]bool, len(configs))
		end := follow(rc, &w, func(i int, config experiment.Config) string {
			text := label(i, len(configs), config) + note
			begun[i], note = true, ""
			return text
		})
		defer end()
		for e, err := range experiment.Each(rc.ctx, configs, w) {
			if end(); !begun[e.Index] && err == nil {
				config := configs[e.Index].Config
				rc.note("%s: finished already (%s)", label(e.Index, len(configs), config), filepath.Join(w.Dir, config.Folder(), experiment.ResultFile))
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// label is a line above the progress of a run, which is one of several.
func label(i, of int, config experiment.Config) string {
	return fmt.Sprintf("[%d/%d] %s, %s-incremental, seed %d", i+1, of, config.Method, config.Increment, config.Seed)
}

// options returns the options of a run that follow from the flags.
func (c *runCmd) options(config experiment.Config) experiment.RunOptions {
	return experiment.RunOptions{
		Dir: c.dir(config), Resume: c.Resume, Replace: c.Replace, Checkpoint: c.Checkpoint,
		CheckpointEvery: c.CheckpointEvery, Keep: c.Keep,
		Record: c.Record, RecordArrays: c.RecordArrays, Weights: c.Weights,
	}
}

// diverged returns an error if some runs ended with a network that no longer learnt.
func diverged(runs []*results.Run) error {
	n := results.RunGroup{Runs: runs}.Diverged()
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d runs diverged; a smaller learning rate (--lr) is the usual remedy", n, len(runs))
}

func (c *runCmd) dir(config experiment.Config) string {
	return filepath.Join(c.Out, config.Folder())
}

// configs expands the flags into one configuration per run.
func (c *runCmd) configs(k *kong.Context) (all []experiment.Checked, err error) {
	if err := errors.Join(once("--method", c.Method), once("--increment", c.Increment), once("--labelset", c.LabelSet), once("--timeline", c.Timeline), once("--seed", c.Seed)); err != nil {
		return nil, err
	}
	file := experiment.Layer{}
	if c.Config != "" {
		if file, err = experiment.ReadLayer(c.Config); err != nil {
			return nil, err
		}
	}
	base, err := configOf(k, c.Paper, file, c.Param)
	if err != nil {
		return nil, err
	}
	if base.Scenario != nil && len(c.LabelSet)+len(c.Timeline) > 0 {
		return nil, errors.New("--labelset and --timeline say how a scenario is drawn, and do nothing beside one that is played: leave them out")
	}
	_, c.increment = file.Values["increment"]
	c.increment = c.increment || len(c.Increment) > 0 || base.Scenario != nil
	for _, increment := range orOwn(c.Increment, base.Increment) {
		for _, labelSet := range orOwn(c.LabelSet, base.LabelSet) {
			for _, timeline := range orOwn(c.Timeline, base.Timeline) {
				at := base.WithIncrement(increment)
				at.LabelSet, at.Timeline = labelSet, timeline
				for _, config := range experiment.Vary(at, c.Method, nil, c.Seed...) {
					checked, err := config.Check()
					if err != nil && config.Method != base.Method && len(base.Params) > len(c.Param) {
						err = fmt.Errorf("%w (the params in %s are for its method, %s)", err, c.Config, base.Method)
					}
					if err != nil {
						return nil, err
					}
					all = append(all, checked)
				}
			}
		}
	}
	return all, nil
}

// orOwn returns the values of a flag, or the one of the configuration if there are none.
func orOwn[T any](values []T, own T) []T {
	if len(values) == 0 {
		return []T{own}
	}
	return values
}

// once returns an error if a value is given twice. A run with the same seed would be the same run, not another one.
func once[T comparable](flag string, values []T) error {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("%s names %v twice: that is the same run again, and would count as another", flag, v)
		}
	}
	return nil
}
