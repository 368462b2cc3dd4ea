package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// runCmd trains every combination of the given methods, increments and seeds.
type runCmd struct {
	Config string `short:"c" type:"existingfile" placeholder:"FILE.toml" help:"Read the configuration from a TOML file; flags override it."`

	Method    []string          `placeholder:"NAME,…" help:"Methods to train with (default emgd-gmc); pcl methods lists them."`
	Param     map[string]string `placeholder:"NAME=VALUE" help:"Parameter of the methods; repeat it for more."`
	Dataset   string            `placeholder:"NAME" help:"Image set (default glyphs, built in); pcl data list has them all."`
	Increment []string          `placeholder:"task,class" help:"task, class, or both (default task)."`
	Seed      []uint64          `placeholder:"N,…" help:"Run seeds (default 1234)."`
	Scenario  string            `type:"existingfile" placeholder:"FILE.json" help:"Play this published scenario instead of a drawn one."`
	LabelSet  *uint64           `name:"labelset" placeholder:"N" help:"Seed of the label sets."`
	Timeline  *uint64           `placeholder:"N" help:"Seed of the timeline."`
	Kind      *string           `placeholder:"KIND" help:"parallel, serial or all_at_once."`
	Tasks     *int              `placeholder:"T" help:"Number of tasks."`
	MinClass  *int              `name:"min-classes" placeholder:"N" help:"Fewest classes of a task."`
	MaxClass  *int              `name:"max-classes" placeholder:"N" help:"Most classes of a task."`
	PerClass  *int              `name:"train-per-class" placeholder:"N" help:"Use at most N training images of each class."`
	Batch     *int              `placeholder:"N" help:"Batch size of each stream."`
	Epochs    *int              `placeholder:"N" help:"Passes over each stream."`
	Optimizer *string           `placeholder:"NAME" help:"adam or sgd."`
	LR        *float64          `name:"lr" placeholder:"X" help:"Learning rate."`
	Policy    *string           `name:"memory-policy" placeholder:"P" help:"per_class or fixed_total."`
	Memory    *int              `placeholder:"N" help:"Memory budget, per class or in total."`
	Shared    *string           `placeholder:"WHICH" help:"Parameters in J: shared, backbone or all."`
	Model     *string           `placeholder:"NAME" help:"mlp or resnet18 (default: as the benchmark's, by data set)."`
	Width     *int              `placeholder:"N" help:"Channels of the ResNet's stem (default 64)."`
	Release   *bool             `help:"The released code's ResNet: biases, and a ReLU more in each block."`
	Precision *string           `placeholder:"P" help:"Of the model's products: float32 or bfloat16 (default float32)."`

	Edit      *float64 `name:"edit" placeholder:"ETA" help:"Edit the memory by steps of this size, of the pixel range; 0 does not."`
	EditMode  *string  `placeholder:"MODE" help:"batch or per_sample."`
	EditNorm  *string  `placeholder:"NORM" help:"rms, l2 or raw: how a sample's edit gradient is normalised."`
	EditAim   *string  `placeholder:"AIM" help:"toward the step's direction D, literal (the paper's Eq. 12 as printed) or ascend."`
	EditTo    *string  `name:"edit-target" placeholder:"T" help:"d, or mean for D/Σλ."`
	EditAt    *string  `placeholder:"WHEN" help:"pre or post: at θ before or after the update."`
	EditEvery *int     `placeholder:"N" help:"Edit in every Nth step only."`
	EditDrift *float64 `name:"edit-max-drift" placeholder:"X" help:"Bound of a pixel's distance from its original; 0: none."`
	Extra     *bool    `name:"extra-update" help:"Make a second update per step with the same weights: the control for editing."`

	EvalEvery *int `placeholder:"N" help:"Evaluate every N steps too, not only at task ends."`

	Out             string `short:"o" default:"runs" type:"path" help:"Folder for results; each run has a folder of its own in it."`
	Record          bool   `help:"Write one line per step (losses, Gram, σ, λ, slacks) to records.jsonl."`
	RecordArrays    int    `name:"record-arrays" placeholder:"N" help:"Write batches and parameters of the first N steps as .npz, to be computed again elsewhere (bench/peers/replay.py)."`
	Resume          bool   `help:"Take up interrupted runs at their newest checkpoint, and skip finished ones."`
	Checkpoint      string `type:"existingfile" placeholder:"FILE" help:"Take the (single) run up at this checkpoint."`
	CheckpointEvery int    `default:"500" placeholder:"N" help:"Steps between checkpoints; 0 saves only on Ctrl-C."`
	Keep            int    `default:"3" placeholder:"N" help:"Checkpoints to keep."`
	Jobs            int    `default:"1" placeholder:"N" help:"Processes to make the runs in; one per core is best for an MLP."`
	Shard           shard  `placeholder:"I/N" help:"Make only every Nth run, from the Ith on (from 0): one part of an array job."`
	JSON            bool   `name:"json" help:"Print the results as JSON lines instead of a table."`

	machineFlags
}

// machineFlags say what to compute on, and where data lies.
type machineFlags struct {
	Backend string `default:"auto" enum:"auto,xla-cuda,xla-cpu,go" help:"Compute backend: ${enum}."`
	Threads int    `default:"0" help:"Threads of the XLA CPU backend; 0: one, and for a ResNet one per core."`
	TF32    bool   `name:"tf32" help:"Let a GPU round the factors of products to 10 bits: faster, less exact."`
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

// open opens the backend and says which it is.
func (m machineFlags) open(rc *runContext) (*backend.Backend, error) {
	o := backend.Options{Name: m.Backend, Threads: m.Threads, TF32: m.TF32}
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
		return usageError{fmt.Errorf("--checkpoint takes up one run, the flags name %d", len(configs))}
	}
	set, err := datasets.Open(rc.ctx, configs[0].Dataset, datasets.Options{Dir: c.DataDir})
	if err != nil {
		return setError(configs[0].Dataset, err)
	}
	for _, config := range configs { // all mistakes are told before the first run begins
		if _, err := pcl.NewScenario(config, set); err != nil {
			return usageError{err}
		}
	}
	if configs = c.Shard.of(configs); len(configs) == 0 {
		return nil // fewer runs than parts
	}
	if c.Jobs < 1 || c.Jobs > 1024 {
		return usageError{fmt.Errorf("--jobs %d: want 1 to 1024 processes", c.Jobs)}
	}
	if c.Jobs > 1 {
		runs, err := c.inProcesses(rc, configs)
		if err != nil {
			return err
		}
		return c.print(rc, runs)
	}
	if c.Threads == 0 && slices.ContainsFunc(configs, func(config pcl.Config) bool { return config.Model == "resnet18" }) {
		c.Threads = runtime.NumCPU() // convolutions gain from every core, an MLP's steps do not
	}
	b, err := c.open(rc)
	if err != nil {
		return err
	}
	defer b.Close()
	programs := pcl.NewPrograms(b.Backend)
	defer programs.Close()
	var runs []*results.Run
	for i, config := range configs {
		label := fmt.Sprintf("[%d/%d] %s, %s-incremental, seed %d", i+1, len(configs), config.Method, config.Increment, config.Seed)
		r, err := c.one(rc, config, label, pcl.RunOptions{Backend: b, Dataset: set, Programs: programs})
		if err != nil {
			return c.explain(err, config)
		}
		runs = append(runs, r)
		if c.JSON {
			if err := c.print(rc, runs[i:]); err != nil {
				return err
			}
		}
	}
	if c.JSON {
		return nil
	}
	return c.print(rc, runs)
}

// print shows the results as a table or as JSON lines.
func (c *runCmd) print(rc *runContext, runs []*results.Run) error {
	if !c.JSON {
		return printTable(rc.stdout, runs)
	}
	for _, r := range runs {
		if err := json.NewEncoder(rc.stdout).Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// one makes a single run, or loads its result where it is finished already.
func (c *runCmd) one(rc *runContext, config pcl.Config, label string, o pcl.RunOptions) (*results.Run, error) {
	dir := c.dir(config)
	file := filepath.Join(dir, pcl.ResultFile)
	if c.Resume {
		if r, err := results.Load(file); err == nil {
			if !rc.quiet {
				fmt.Fprintf(rc.stderr, "%s: finished already (%s)\n", label, file)
			}
			return r, nil
		}
	}
	bar := newProgress(rc, label)
	defer bar.close()
	o.Dir, o.Resume, o.Checkpoint, o.CheckpointEvery = dir, c.Resume, c.Checkpoint, c.CheckpointEvery
	o.Keep, o.Record, o.RecordArrays, o.Progress = c.Keep, c.Record, c.RecordArrays, bar.show
	return pcl.Run(rc.ctx, config, o)
}

func (c *runCmd) dir(config pcl.Config) string {
	return filepath.Join(c.Out, config.Folder())
}

// explain adds to an interruption how to go on.
func (c *runCmd) explain(err error, config pcl.Config) error {
	switch {
	case !errors.Is(err, pcl.ErrInterrupted):
		return err
	case err != pcl.ErrInterrupted: // joined with why it could not save, which makes it a failure
		return fmt.Errorf("not saved: %v", err)
	}
	saved := "before its first step"
	if files, err := fs.Glob(os.DirFS(c.dir(config)), "checkpoint-*.pcl"); err == nil && len(files) > 0 {
		saved = "and saved in " + c.dir(config)
	}
	return fmt.Errorf("%w %s; go on with: pcl %s --resume", err, saved, strings.Join(quoted(os.Args[1:]), " "))
}

// plain matches arguments that a shell takes as they are.
var plain = regexp.MustCompile(`^[\w%+,./:=@-]+$`)

// quoted returns the arguments as a shell would need them, without --resume, and without
// --checkpoint, because there is a newer one by now.
func quoted(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--resume", strings.HasPrefix(a, "--checkpoint="):
		case a == "--checkpoint":
			i++ // its value
		case plain.MatchString(a):
			out = append(out, a)
		default:
			out = append(out, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
		}
	}
	return out
}

// configs expands the flags into one configuration per run.
func (c *runCmd) configs() ([]pcl.Config, error) {
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
	var out []pcl.Config
	for _, increment := range increments {
		for _, name := range methods {
			for _, seed := range seeds {
				config := base
				config.Increment, config.Method, config.Seed = scenario.Increment(increment), name, seed
				if err := config.Validate(); err != nil {
					return nil, err
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

// base is the file's configuration, or the data set's defaults, with the flags over it.
func (c *runCmd) base() (pcl.Config, error) {
	dataset := c.Dataset
	if dataset == "" {
		dataset = "glyphs"
	}
	config := pcl.DefaultConfig(dataset)
	if c.Config != "" {
		var err error
		if config, err = pcl.LoadConfig(c.Config); err != nil {
			return config, err
		}
		if c.Dataset != "" {
			config.Dataset = c.Dataset
		}
	}
	if c.Scenario != "" {
		if err := config.UseScenario(c.Scenario); err != nil {
			return config, err
		}
	}
	for name, value := range c.Param {
		if config.Params == nil {
			config.Params = map[string]any{}
		}
		config.Params[name] = value
	}
	set(&config.LabelSet, c.LabelSet)
	set(&config.Timeline, c.Timeline)
	set((*string)(&config.Kind), c.Kind)
	set(&config.Tasks, c.Tasks)
	set(&config.MinClasses, c.MinClass)
	set(&config.MaxClasses, c.MaxClass)
	set(&config.TrainPerClass, c.PerClass)
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
	return config, nil
}

// network overrides the model; another one than the data set's comes without its sizes.
func (c *runCmd) network(config *pcl.Config) {
	if c.Model != nil && *c.Model != config.Model {
		config.Model, config.Hidden, config.Width, config.Release = *c.Model, nil, 0, false
		if *c.Model == "mlp" {
			config.Hidden = []int{128, 64}
		}
	}
	set(&config.Width, c.Width)
	set(&config.Release, c.Release)
	set(&config.Precision, c.Precision)
}

// set overrides a value by a flag that was given.
func set[T any](to *T, flag *T) {
	if flag != nil {
		*to = *flag
	}
}
