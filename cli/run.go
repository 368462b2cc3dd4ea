package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// runCmd trains every combination of the given methods, increments and seeds.
type runCmd struct {
	Config string `short:"c" type:"existingfile" placeholder:"FILE.toml" help:"Read the configuration from a TOML file; flags override it. What it leaves out is as by default for the data set that is used."`

	Method    []string `placeholder:"NAME,…" help:"Methods to train with (default emgd, the recommended one); pcl methods lists them."`
	Param     assigned `placeholder:"NAME=VALUE" help:"Parameter of the methods; repeat it for more."`
	Dataset   string   `placeholder:"NAME" help:"Image set (default glyphs, built in); pcl data list has them all. Files of your own: folder:PATH, npz:PATH, safetensors:PATH or csv:PATH (docs/data.md)."`
	Increment []string `placeholder:"task,class" help:"task, class, or both (default task)."`
	Seed      []uint64 `placeholder:"N,…" help:"Run seeds (default 1234)."`
	Scenario  string   `type:"existingfile" placeholder:"FILE.json" help:"Play this scenario instead of a drawn one: label sets and timeline as JSON (docs/data.md §5). Flags that say how one is drawn (--labelset to --overlap) are refused beside it."`
	LabelSet  *uint64  `name:"labelset" placeholder:"N" help:"Seed of the label sets."`
	Timeline  *uint64  `placeholder:"N" help:"Seed of the timeline."`
	Kind      *string  `placeholder:"KIND" help:"parallel, serial or all_at_once."`
	Tasks     *int     `placeholder:"T" help:"Number of tasks."`
	MinClass  *int     `name:"min-classes" placeholder:"N" help:"Fewest classes of a task."`
	MaxClass  *int     `name:"max-classes" placeholder:"N" help:"Most classes of a task."`
	Overlap   *int     `placeholder:"N" help:"Classes that each task has in common with the one before it (default 0)."`
	PerClass  *int     `name:"train-per-class" placeholder:"N" help:"Use at most N training images of each class."`
	TestPer   *int     `name:"test-per-class" placeholder:"N" help:"Evaluate on at most N test images of each class."`
	Batch     *int     `placeholder:"N" help:"Batch size of each stream."`
	Epochs    *int     `placeholder:"N" help:"Passes over each stream."`
	Optimizer *string  `placeholder:"NAME" help:"adam, adamw or sgd; a configuration file sets what else they have."`
	LR        *float64 `name:"lr" placeholder:"X" help:"Learning rate."`
	Policy    *string  `name:"memory-policy" placeholder:"P" help:"per_class or fixed_total."`
	Memory    *int     `placeholder:"N" help:"Memory budget, per class or in total."`
	Shared    *string  `placeholder:"WHICH" help:"Which parameters count as shared: shared, backbone or all."`
	Model     *string  `placeholder:"NAME" help:"mlp, linear, resnet18, or a network that the program has registered (default: the benchmark's model for the data set)."`
	Width     *int     `placeholder:"N" help:"Channels of the ResNet's stem (default 64)."`
	Release   *bool    `help:"Use the ResNet of the released code, with biases and one more ReLU in each block."`
	Init      string   `type:"existingfile" placeholder:"FILE.safetensors" help:"Begin with the parameters of a trained network, all but the classifier's."`
	Precision *string  `placeholder:"P" help:"Precision of the model's products: float32 or bfloat16 (default float32)."`

	Edit      *float64        `name:"edit" placeholder:"ETA" help:"Edit the memory with this step size, in units in which pixels lie in [0,1]; 0 turns editing off."`
	EditMode  *pcl.EditMode   `placeholder:"MODE" help:"batch or per_sample."`
	EditNorm  *pcl.EditNorm   `placeholder:"NORM" help:"rms, l2 or raw: how a sample's edit gradient is normalised."`
	EditAim   *pcl.EditAim    `placeholder:"AIM" help:"Where edits lead: toward (to the step's direction D), literal (the paper's Eq. 12 as printed) or ascend (away from D)."`
	EditTo    *pcl.EditTarget `name:"edit-target" placeholder:"T" help:"What edits aim at: d (the step's direction D) or mean (D/Σλ)."`
	EditAt    *pcl.EditAt     `placeholder:"WHEN" help:"Whether edits use the parameters before or after the update: pre or post."`
	EditEvery *int            `placeholder:"N" help:"Edit in every Nth step only."`
	EditDrift *float64        `name:"edit-max-drift" placeholder:"X" help:"Largest change of a pixel from its original; 0 means no limit."`
	Extra     *bool           `name:"extra-update" help:"Make a second update in each step with the same weights, as the control experiment for editing."`

	EvalEvery *int `placeholder:"N" help:"Evaluate every N steps too, not only when a task ends."`

	Out             string    `short:"o" default:"runs" type:"path" help:"Folder for results; each run has a folder of its own in it."`
	Record          bool      `help:"Write one line per step (losses, Gram, σ, λ, slacks) to records.jsonl."`
	Weights         bool      `help:"Leave the trained network in weights.safetensors, for pcl export weights."`
	RecordArrays    count     `name:"record-arrays" placeholder:"N" help:"Write batches and parameters of the first N steps as .npz, so that another program can compute the same steps (bench/peers/replay.py)."`
	Resume          bool      `help:"Continue interrupted runs from their newest checkpoint. Finished runs are not repeated, with or without this flag."`
	Replace         bool      `xor:"again" help:"Repeat runs that are finished or saved already; the old files stay until the new result is complete."`
	Checkpoint      string    `xor:"again" type:"existingfile" placeholder:"FILE" help:"Continue a single run from this checkpoint; later checkpoints are deleted when the next one is saved."`
	CheckpointEvery count     `default:"500" placeholder:"N" help:"Steps between checkpoints; 0 saves only on Ctrl-C."`
	Keep            number    `default:"3" placeholder:"N" help:"Checkpoints to keep."`
	Jobs            processes `default:"1" placeholder:"N" help:"Number of processes that make the runs; one per core is best for an MLP."`
	Shard           shard     `placeholder:"I/N" help:"Make only every Nth run, beginning with run I (counted from 0), as one part of an array job."`
	JSON            bool      `name:"json" help:"Print the results as JSON lines instead of a table."`

	machineFlags
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

// machineFlags say on which backend to compute.
type machineFlags struct {
	Backend string `default:"auto" enum:"auto,xla-cuda,xla-cpu,go" help:"Compute backend: ${enum}."`
	Threads count  `default:"0" help:"Threads of the XLA CPU backend; 0 stands for one, or one per core for a ResNet."`
	Clients count  `default:"1" placeholder:"N" help:"Compute the gradients of N streams at the same time on the XLA CPU backend; results are the same."`
	TF32    bool   `name:"tf32" help:"Let a GPU round the factors of products to 10 bits: faster, less exact."`
}

// open opens the backend and prints which one it is.
func (m machineFlags) open(rc *runContext) (*backend.Backend, error) {
	o := backend.Options{Name: m.Backend, Threads: int(m.Threads), Clients: int(m.Clients), TF32: m.TF32}
	if !rc.quiet {
		o.Progress = rc.stderr
	}
	b, err := backend.Open(rc.ctx, o)
	if err != nil {
		return nil, err
	}
	if !rc.quiet {
		fmt.Fprintln(rc.stderr, "Backend", b.Info)
	}
	return b, nil
}

func (c *runCmd) Run(rc *runContext) error {
	configs, err := c.configs()
	if err != nil {
		return usageError{err}
	}
	if c.Checkpoint != "" && len(configs) != 1 {
		return usageError{fmt.Errorf("--checkpoint continues a single run, but the flags name %d", len(configs))}
	}
	if configs, err = c.onData(rc, configs); err != nil {
		return err
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
func (c *runCmd) finished(configs []experiment.Config) ([]*results.Run, error) {
	finished := make([]*results.Run, len(configs))
	for i, config := range configs {
		var err error
		if finished[i], err = experiment.Ready(config, c.options(config)); err != nil {
			return nil, c.advise(err, config)
		}
	}
	return finished, nil
}

// inThisProcess makes the runs with what they need.
func (c *runCmd) inThisProcess(rc *runContext, configs []experiment.Config) ([]*results.Run, error) {
	m := &experiment.Machine{DataDir: c.DataDir, Open: func(context.Context) (*backend.Backend, error) { return c.open(rc) }}
	defer m.Close()
	set, err := c.dataset(rc, m, configs)
	if err != nil {
		return nil, err
	}
	if c.Threads == 0 && slices.ContainsFunc(configs, func(config experiment.Config) bool { return config.Model == "resnet18" }) {
		c.Threads = count(runtime.NumCPU()) // convolutions gain from every core, an MLP's steps do not
	}
	if _, err := m.Backend(rc.ctx); err != nil {
		return nil, err
	}
	return c.make(rc, configs, m, noteOf(set))
}

// onData returns the configurations with the checksum of the data set's files, where these are the user's own.
func (c *runCmd) onData(rc *runContext, configs []experiment.Config) ([]experiment.Config, error) {
	for i, config := range configs {
		var err error
		if configs[i], err = config.OnData(rc.ctx, datasets.Options{Dir: c.DataDir}); err != nil {
			return nil, setError(err)
		}
	}
	return configs, nil
}

// dataset opens the data set, and checks that it can be used with the scenarios.
func (c *runCmd) dataset(rc *runContext, m *experiment.Machine, configs []experiment.Config) (*datasets.Dataset, error) {
	set, err := m.Dataset(rc.ctx, configs[0].Dataset)
	if err != nil {
		return nil, setError(err)
	}
	for _, config := range configs {
		if _, err := experiment.NewScenario(config, set); err != nil {
			return nil, usageError{err}
		}
	}
	return set, nil
}

// make makes the runs that are not finished, one after another, and returns the results of all. m may be nil if all are
// finished; note is shown with the first run. An interrupt waits until the run in progress has been saved.
func (c *runCmd) make(rc *runContext, configs []experiment.Config, m *experiment.Machine, note string) (runs []*results.Run, err error) {
	var bar *progress // of the run in progress
	release := func() {}
	label := func(i int) string {
		return fmt.Sprintf("[%d/%d] %s, %s-incremental, seed %d", i+1, len(configs), configs[i].Method, configs[i].Increment, configs[i].Seed)
	}
	w := experiment.Where{
		Machine: m, Options: c.options, Progress: func(_ int, p experiment.Progress) { bar.show(p) },
		Begin: func(i int, _ experiment.Config) {
			release, bar, note = rc.hold(), newProgress(rc, label(i)+note), ""
		},
	}
	for e, err := range experiment.Each(rc.ctx, configs, w) {
		if bar != nil {
			bar.close()
			release()
		} else if err == nil && !rc.quiet {
			fmt.Fprintf(rc.stderr, "%s: finished already (%s)\n", label(e.Index), filepath.Join(c.dir(configs[e.Index]), experiment.ResultFile))
		}
		bar = nil
		if err != nil {
			return nil, c.advise(err, configs[e.Index])
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
func (c *runCmd) configs() ([]experiment.Config, error) {
	base, err := c.base()
	if err != nil {
		return nil, err
	}
	methods, increments, seeds := c.Method, c.Increment, c.Seed
	if len(methods) == 0 {
		methods = []string{base.Method}
	}
	if len(increments) == 0 {
		increments = []string{string(base.Increment)}
	}
	if len(seeds) == 0 {
		seeds = []uint64{base.Seed}
	}
	if err := errors.Join(once("--method", methods), once("--increment", increments), once("--seed", seeds)); err != nil {
		return nil, err
	}
	var out []experiment.Config
	for _, increment := range increments {
		for _, name := range methods {
			for _, seed := range seeds {
				config := base.WithIncrement(scenario.Increment(increment))
				config.Method, config.Seed = name, seed
				if err := config.Validate(); err != nil {
					return nil, c.ofAnotherMethod(err, config, base)
				}
				if _, err := method.New(name, config.Params); err != nil {
					return nil, err
				}
				out = append(out, config)
			}
		}
	}
	return out, nil
}

// ofAnotherMethod adds to an error, if it is about parameters in the configuration file, that these are for the method
// which the file names, in whose place the flags have put another.
func (c *runCmd) ofAnotherMethod(err error, config, base experiment.Config) error {
	config.Params = nil
	if c.Config == "" || config.Method == base.Method || len(base.Params) <= len(c.Param) || config.Validate() != nil {
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
func (c *runCmd) base() (experiment.Config, error) {
	var played *scenario.Scenario
	dataset := c.Dataset
	if c.Scenario != "" {
		var err error
		if played, err = scenario.Load(c.Scenario); err != nil {
			return experiment.Config{}, err
		}
		dataset = cmp.Or(dataset, played.Dataset)
	}
	var config experiment.Config
	if c.Config == "" {
		config = experiment.DefaultConfig(cmp.Or(dataset, "glyphs"))
	} else {
		var err error
		if config, err = experiment.LoadConfigOn(c.Config, dataset); err != nil {
			return config, err
		}
	}
	if played != nil {
		config.Play(played)
	}
	if c.Init != "" {
		config.Init = "" // of the configuration file
		if err := config.UseWeights(c.Init); err != nil {
			return config, err
		}
	}
	for name, value := range c.Param {
		if config.Params == nil {
			config.Params = map[string]any{}
		}
		config.Params[name] = value
	}
	if err := c.drawn(config); err != nil {
		return config, err
	}
	set(&config.LabelSet, c.LabelSet)
	set(&config.Timeline, c.Timeline)
	set((*string)(&config.Kind), c.Kind)
	set(&config.Tasks, c.Tasks)
	set(&config.MinClasses, c.MinClass)
	set(&config.MaxClasses, c.MaxClass)
	set(&config.Overlap, c.Overlap)
	set(&config.TrainPerClass, c.PerClass)
	set(&config.TestPerClass, c.TestPer)
	set(&config.Batch, c.Batch)
	set(&config.Epochs, c.Epochs)
	set(&config.Optimizer.Name, c.Optimizer)
	set(&config.Optimizer.LR, c.LR)
	set((*string)(&config.Memory.Policy), c.Policy)
	set(&config.Memory.Budget, c.Memory)
	set((*string)(&config.Shared), c.Shared)
	set(&config.EvalEvery, c.EvalEvery)
	c.network(&config)
	set(&config.Edit.Eta, c.Edit)
	set(&config.Edit.Mode, c.EditMode)
	set(&config.Edit.Norm, c.EditNorm)
	set(&config.Edit.Aim, c.EditAim)
	set(&config.Edit.Target, c.EditTo)
	set(&config.Edit.At, c.EditAt)
	set(&config.Edit.Every, c.EditEvery)
	set(&config.Edit.MaxDrift, c.EditDrift)
	set(&config.ExtraUpdate, c.Extra)
	if c.Edit == nil && !config.Edit.On() {
		return config, c.howToEdit()
	}
	return config, nil
}

// howToEdit returns an error if a flag says how the memory is edited. It is for runs that do not edit it, although no flag
// says so.
func (c *runCmd) howToEdit() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"mode", c.EditMode != nil}, {"norm", c.EditNorm != nil}, {"aim", c.EditAim != nil}, {"target", c.EditTo != nil},
		{"at", c.EditAt != nil}, {"every", c.EditEvery != nil}, {"max-drift", c.EditDrift != nil},
	} {
		if flag.given {
			return fmt.Errorf("--edit-%s says how the memory is edited, which is turned off: add a step size, such as --edit 0.003", flag.name)
		}
	}
	return nil
}

// drawn returns an error if a flag says how a scenario is to be drawn, but one is played.
func (c *runCmd) drawn(config experiment.Config) error {
	if config.Scenario == nil {
		return nil
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--labelset", c.LabelSet != nil}, {"--timeline", c.Timeline != nil}, {"--kind", c.Kind != nil}, {"--tasks", c.Tasks != nil},
		{"--min-classes", c.MinClass != nil}, {"--max-classes", c.MaxClass != nil}, {"--overlap", c.Overlap != nil},
	} {
		if flag.given {
			return fmt.Errorf("%s is for scenarios that are drawn; beside a scenario that is played it would do nothing: leave it out", flag.name)
		}
	}
	return nil
}

// network changes the model as the flags say. If the kind of model changes, the sizes of the old one are dropped.
func (c *runCmd) network(config *experiment.Config) {
	if c.Model != nil && *c.Model != config.ModelName() {
		config.SetModel(*c.Model)
	}
	set(&config.Base, c.Width)
	set(&config.Release, c.Release)
	set(&config.Precision, c.Precision)
}

// set replaces a value by that of a flag, if the flag was given.
func set[T any](to *T, flag *T) {
	if flag != nil {
		*to = *flag
	}
}
