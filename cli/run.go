package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
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
	Config string `short:"c" type:"existingfile" placeholder:"FILE.toml" help:"Read the configuration from a TOML file; flags override it. What it leaves out is as by default for the data set that is used."`

	Method    []string             `placeholder:"NAME,…" help:"Methods to train with (default emgd, the recommended one); pcl methods lists them."`
	Param     assigned             `placeholder:"NAME=VALUE" help:"Parameter of the methods; repeat it for more."`
	Increment []scenario.Increment `placeholder:"task,class" help:"task, class, or both (default task)."`
	Seed      []uint64             `placeholder:"N,…" help:"Run seeds (default 1234)."`
	settingFlags

	Out             string    `short:"o" default:"runs" type:"path" help:"Folder for results; each run has a folder of its own in it."`
	Record          bool      `help:"Write one line per step (losses, Gram, σ, λ, slacks) to records.jsonl."`
	Weights         bool      `help:"Leave the trained network in weights.safetensors, for pcl export weights."`
	RecordArrays    count     `rare:"" name:"record-arrays" placeholder:"N" help:"Write batches and parameters of the first N steps as .npz, so that another program can compute the same steps (bench/peers/replay.py)."`
	Resume          bool      `help:"Continue interrupted runs from their newest checkpoint. Finished runs are not repeated, with or without this flag."`
	Replace         bool      `xor:"again" help:"Repeat runs that are finished or saved already; the old files stay until the new result is complete."`
	Checkpoint      string    `rare:"" xor:"again" type:"existingfile" placeholder:"FILE" help:"Continue a single run from this checkpoint; later checkpoints are deleted when the next one is saved."`
	CheckpointEvery count     `rare:"" default:"500" placeholder:"N" help:"Steps between checkpoints; 0 saves only on Ctrl-C."`
	Keep            number    `rare:"" default:"3" placeholder:"N" help:"Checkpoints to keep."`
	Jobs            processes `default:"1" placeholder:"N" help:"Number of processes that make the runs; one per core is best for an MLP."`
	Shard           shard     `rare:"" placeholder:"I/N" help:"Make only every Nth run, beginning with run I (counted from 0), as one part of an array job."`
	JSON            bool      `name:"json" help:"Print the results as JSON lines instead of a table."`

	machineFlags
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

// settingFlags are the flags that set a value of the configuration each: that of their key.
type settingFlags struct {
	Dataset   string  `key:"dataset" placeholder:"NAME" help:"Image set (default glyphs, built in); pcl data list has them all. Files of your own: folder:PATH, npz:PATH, safetensors:PATH or csv:PATH (docs/data.md)."`
	Scenario  string  `rare:"" key:"scenario" type:"existingfile" placeholder:"FILE.json" help:"Play this scenario instead of a drawn one: label sets and timeline as JSON (docs/data.md §5). Flags that say how one is drawn (--labelset to --overlap) are refused beside it."`
	LabelSet  uint64  `key:"labelset" name:"labelset" placeholder:"N" help:"Seed of the label sets."`
	Timeline  uint64  `key:"timeline" placeholder:"N" help:"Seed of the timeline."`
	Kind      string  `rare:"" key:"kind" placeholder:"KIND" help:"parallel, serial or all_at_once."`
	Tasks     int     `key:"tasks" placeholder:"T" help:"Number of tasks."`
	MinClass  int     `rare:"" key:"min_classes" name:"min-classes" placeholder:"N" help:"Fewest classes of a task."`
	MaxClass  int     `rare:"" key:"max_classes" name:"max-classes" placeholder:"N" help:"Most classes of a task."`
	Overlap   int     `rare:"" key:"overlap" placeholder:"N" help:"Classes that each task has in common with the one before it (default 0)."`
	PerClass  int     `rare:"" key:"train_per_class" name:"train-per-class" placeholder:"N" help:"Use at most N training images of each class."`
	TestPer   int     `rare:"" key:"test_per_class" name:"test-per-class" placeholder:"N" help:"Evaluate on at most N test images of each class."`
	Batch     int     `key:"batch" placeholder:"N" help:"Batch size of each stream."`
	Epochs    int     `key:"epochs" placeholder:"N" help:"Passes over each stream."`
	Optimizer string  `key:"optimizer.name" placeholder:"NAME" help:"adam, adamw or sgd; a configuration file sets what else they have."`
	LR        float64 `key:"optimizer.lr" name:"lr" placeholder:"X" help:"Learning rate."`
	Policy    string  `rare:"" key:"memory.policy" name:"memory-policy" placeholder:"P" help:"per_class or fixed_total."`
	Memory    int     `key:"memory.budget" placeholder:"N" help:"Memory budget, per class or in total."`
	Shared    string  `rare:"" key:"shared" placeholder:"WHICH" help:"Which parameters count as shared: shared, backbone or all."`
	Model     string  `key:"model" placeholder:"NAME" help:"mlp, linear, resnet18, or a network that the program has registered (default: the benchmark's model for the data set)."`
	Width     int     `key:"width" placeholder:"N" help:"Channels of the ResNet's stem (default 64)."`
	Release   bool    `rare:"" key:"release" help:"Use the ResNet of the released code, with biases and one more ReLU in each block."`
	Init      string  `rare:"" key:"init" type:"existingfile" placeholder:"FILE.safetensors" help:"Begin with the parameters of a trained network, all but the classifier's."`
	Precision string  `rare:"" key:"precision" placeholder:"P" help:"Precision of the model's products: float32 or bfloat16 (default float32)."`

	Edit      float64 `key:"edit.eta" placeholder:"ETA" help:"Edit the memory with this step size, in units in which pixels lie in [0,1]; 0 turns editing off."`
	EditMode  string  `rare:"" key:"edit.mode" placeholder:"MODE" help:"batch or per_sample."`
	EditNorm  string  `rare:"" key:"edit.norm" placeholder:"NORM" help:"rms, l2 or raw: how a sample's edit gradient is normalised."`
	EditAim   string  `rare:"" key:"edit.aim" placeholder:"AIM" help:"Where edits lead: toward (to the step's direction D), literal (the paper's Eq. 12 as printed) or ascend (away from D)."`
	EditTo    string  `rare:"" key:"edit.target" name:"edit-target" placeholder:"T" help:"What edits aim at: d (the step's direction D) or mean (D/Σλ)."`
	EditAt    string  `rare:"" key:"edit.at" placeholder:"WHEN" help:"Whether edits use the parameters before or after the update: pre or post."`
	EditEvery int     `rare:"" key:"edit.every" placeholder:"N" help:"Edit in every Nth step only."`
	EditDrift float64 `rare:"" key:"edit.max_drift" name:"edit-max-drift" placeholder:"X" help:"Largest change of a pixel from its original; 0 means no limit."`
	Extra     bool    `rare:"" key:"extra_update" name:"extra-update" help:"Make a second update in each step with the same weights, as the control experiment for editing."`

	EvalEvery int `rare:"" key:"eval_every" placeholder:"N" help:"Evaluate every N steps too, not only when a task ends."`
}

// machineFlags say on which backend to compute.
type machineFlags struct {
	Backend string `default:"auto" enum:"auto,xla-cuda,xla-cpu,go" help:"Compute backend: ${enum}."`
	Threads count  `default:"0" help:"Threads of the XLA CPU backend; 0 stands for one, and for pcl run with a ResNet for one per core."`
	Clients count  `rare:"" default:"0" placeholder:"N" help:"Compute the gradients of N streams at the same time on the XLA CPU backend; results are the same. 0 stands for one per core that the processes of --jobs share, or one where --threads is set."`
	Vectors string `rare:"" default:"native" enum:"native,avx2" help:"Vector instructions of the XLA CPU backend, native or avx2: the widest, or those with which processors of one kind of cache give the same results."`
	TF32    bool   `rare:"" name:"tf32" help:"Let a GPU round the factors of products to 10 bits: faster, less exact."`
}

// open opens the backend and prints which one it is.
func (m machineFlags) open(rc *runContext) (*backend.Backend, error) {
	if part, isPart, _ := ownPart(); isPart && m.Clients == 0 && m.Threads == 0 {
		m.Clients = count(max(1, runtime.GOMAXPROCS(0)/max(1, part.N)))
	}
	b, err := backend.Open(rc.ctx, backend.Options{Name: m.Backend, Threads: int(m.Threads), Clients: int(m.Clients), Vectors: m.Vectors, TF32: m.TF32, Progress: progressWriter(rc)})
	if err != nil {
		return nil, err
	}
	if !rc.quiet {
		fmt.Fprintln(rc.stderr, "Backend", b.Info)
	}
	return b, nil
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
	if c.Checkpoint != "" && len(configs) != 1 {
		return usageError{fmt.Errorf("--checkpoint continues a single run, but the flags name %d", len(configs))}
	}
	for i, config := range configs {
		if configs[i].Config, err = config.OnData(rc.ctx, datasets.Options{Dir: c.DataDir}); err != nil {
			return setError(err)
		}
	}
	part, isPart, err := ownPart()
	if err != nil {
		return usageError{err}
	}
	rc.quiet = rc.quiet || isPart
	if configs = part.every(c.Shard.every(configs)); len(configs) == 0 {
		return nil // there are fewer runs than parts, and this part has none
	}
	finished, err := c.finished(configs)
	if err != nil {
		return err
	}
	var runs []*results.Run
	switch {
	case !slices.Contains(finished, nil):
		runs, err = c.make(rc, configs, nil, "")
	case c.Jobs > 1 && !isPart:
		runs, err = c.inProcesses(rc, configs, finished)
	default:
		runs, err = c.inThisProcess(rc, configs)
	}
	if err != nil {
		return err
	}
	if !c.JSON {
		if err := printTable(rc.stdout, runs); err != nil {
			return err
		}
	}
	if isPart {
		return nil // the process that started this one checks all runs
	}
	return diverged(runs)
}

// finished returns the results of the runs that are finished, and nil for those that are to be made. If something in
// a run's folder prevents the run, finished returns that error, before any run is made.
func (c *runCmd) finished(configs []experiment.Checked) ([]*results.Run, error) {
	finished := make([]*results.Run, len(configs))
	for i, config := range configs {
		var err error
		if finished[i], err = experiment.Ready(config, c.options(config.Config)); err != nil {
			return nil, c.advise(err, config.Config)
		}
	}
	return finished, nil
}

// inThisProcess makes the runs with what they need.
func (c *runCmd) inThisProcess(rc *runContext, configs []experiment.Checked) ([]*results.Run, error) {
	m := c.machine(rc, c.DataDir)
	defer m.Close()
	set, err := c.dataset(rc, m, configs)
	if err != nil {
		return nil, err
	}
	if c.Threads == 0 && slices.ContainsFunc(configs, func(config experiment.Checked) bool { return config.Model == "resnet18" }) {
		c.Threads = count(runtime.NumCPU()) // convolutions gain from every core, an MLP's steps do not
	}
	if _, err := m.Backend(rc.ctx); err != nil {
		return nil, err
	}
	return c.make(rc, configs, m, noteOf(set))
}

// dataset opens the data set, and checks that it can be used with the scenarios.
func (c *runCmd) dataset(rc *runContext, m *experiment.Machine, configs []experiment.Checked) (*datasets.Dataset, error) {
	set, err := m.Dataset(rc.ctx, configs[0].Dataset)
	if err != nil {
		return nil, setError(err)
	}
	for _, config := range configs {
		if _, err := config.NewScenario(set); err != nil {
			return nil, usageError{err}
		}
	}
	return set, nil
}

// make makes the runs that are not finished, one after another, and returns the results of all. m may be nil if all are finished;
// note is shown with the first run.
func (c *runCmd) make(rc *runContext, configs []experiment.Checked, m *experiment.Machine, note string) (runs []*results.Run, err error) {
	for e, err := range shownRuns(rc, configs, experiment.Where{Machine: m, Dir: c.Out, Options: c.options}, note) {
		if err != nil {
			return nil, c.advise(err, configs[e.Index].Config)
		}
		runs = append(runs, e.Run)
		if c.JSON {
			if err := printJSONLines(rc.stdout, runs[len(runs)-1:]); err != nil {
				return nil, err
			}
		}
	}
	return runs, nil
}

// shownRuns makes runs as [experiment.Each] does, and shows how far they are. An interrupt waits until the run in progress has
// been saved. note is shown with the first that is made.
func shownRuns(rc *runContext, configs []experiment.Checked, w experiment.Where, note string) iter.Seq2[experiment.Ended, error] {
	return func(yield func(experiment.Ended, error) bool) {
		var bar *progress // of the run in progress
		release := func() {}
		label := func(i int) string {
			return fmt.Sprintf("[%d/%d] %s, %s-incremental, seed %d", i+1, len(configs), configs[i].Method, configs[i].Increment, configs[i].Seed)
		}
		w.Progress = func(_ int, p experiment.Progress) { bar.show(p) }
		w.Begin = func(i int, _ experiment.Config) {
			release, bar, note = rc.hold(), newProgress(rc, label(i)+note), ""
		}
		for e, err := range experiment.Each(rc.ctx, configs, w) {
			if bar != nil {
				bar.close()
				release()
			} else if err == nil && !rc.quiet {
				fmt.Fprintf(rc.stderr, "%s: finished already (%s)\n", label(e.Index), filepath.Join(w.Dir, configs[e.Index].Folder(), experiment.ResultFile))
			}
			bar = nil
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// options returns the options of a run that follow from the flags.
func (c *runCmd) options(config experiment.Config) experiment.RunOptions {
	return experiment.RunOptions{
		Dir: c.dir(config), Resume: c.Resume, Replace: c.Replace, Checkpoint: c.Checkpoint,
		CheckpointEvery: int(c.CheckpointEvery), Keep: int(c.Keep),
		Record: c.Record, RecordArrays: int(c.RecordArrays), Weights: c.Weights,
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
	base, err := c.base(k)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(once("--method", c.Method), once("--increment", c.Increment), once("--seed", c.Seed)); err != nil {
		return nil, err
	}
	if len(c.Increment) == 0 {
		c.Increment = []scenario.Increment{base.Increment}
	}
	for _, increment := range c.Increment {
		for _, config := range experiment.Vary(base.WithIncrement(increment), c.Method, nil, c.Seed...) {
			checked, err := config.Check()
			if err != nil {
				return nil, c.ofAnotherMethod(err, config, base)
			}
			all = append(all, checked)
		}
	}
	return all, nil
}

// ofAnotherMethod adds to an error, if it is about parameters in the configuration file, that these are for the method
// which the file names, in whose place the flags have put another.
func (c *runCmd) ofAnotherMethod(err error, config, base experiment.Config) error {
	config.Params = nil
	if _, other := config.Check(); c.Config == "" || config.Method == base.Method || len(base.Params) <= len(c.Param) || other != nil {
		return err
	}
	return fmt.Errorf("%w (the params in %s are for its method, %s: use a file without them)", err, c.Config, base.Method)
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

// base returns the configuration of the file, or the defaults of the data set, changed as the flags say. The data set is
// that of --dataset, of the scenario, or of the file, whichever of them names one first.
func (c *runCmd) base(k *kong.Context) (experiment.Config, error) {
	values, flags := map[string]any{}, map[string]string{}
	for _, p := range k.Path {
		if p.Flag != nil && p.Flag.Tag.Has("key") {
			key := p.Flag.Tag.Get("key")
			values[key], flags[key] = k.FlagValue(p.Flag), p.Flag.Name
		}
	}
	config, err := experiment.LoadConfigWith(c.Config, values)
	if idle := new(experiment.IdleError); errors.As(err, &idle) && flags[idle.Key] != "" {
		err = fmt.Errorf("--%s %s", flags[idle.Key], idle.Why)
	}
	if len(c.Param) > 0 && config.Params == nil {
		config.Params = map[string]any{}
	}
	maps.Copy(config.Params, parameters(c.Param))
	return config, err
}
