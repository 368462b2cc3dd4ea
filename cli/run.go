package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/experiment"
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
		if c.Threads == 0 && slices.ContainsFunc(configs, func(config experiment.Checked) bool { return config.Model == "resnet18" }) {
			c.Threads = runtime.NumCPU() // convolutions gain from every core, an MLP's steps do not
		}
		set, _, err := c.ready(rc, m, configs, c.Jobs)
		if err != nil {
			return err
		}
		note = c.about(set, configs[0].Config)
	}
	runs, err := collect(rc, configs, experiment.Where{Machine: m, Jobs: c.Jobs, Dir: c.Out, Options: c.options}, note, c.advise)
	if err != nil {
		return err
	}
	if c.JSON {
		out := json.NewEncoder(rc.stdout)
		for _, r := range runs {
			if err := out.Encode(r); err != nil {
				return err
			}
		}
		return diverged(runs)
	}
	return cmp.Or(printTable(rc.stdout, runs), printSituations(rc, runs), diverged(runs))
}

// about is what the user should know of the data set and of how it is learnt.
func (c *runCmd) about(set *datasets.Dataset, first experiment.Config) string {
	note := noteOf(set)
	if !datasets.Own(first.Dataset) {
		return note
	}
	if !c.increment {
		note += fmt.Sprintf("\n%s-incremental: predictions choose among all classes that have arrived (--increment task: among those of the sample's task, which is then known)", first.Increment)
	}
	if first.Tasks == 1 {
		note += "\n" + oneTask(first.Dataset, len(set.Classes))
	}
	return note
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

// options returns the options of a run that follow from the flags.
func (c *runCmd) options(config experiment.Config) experiment.RunOptions {
	return experiment.RunOptions{
		Dir: c.dir(config), Resume: c.Resume, Replace: c.Replace, Checkpoint: c.Checkpoint,
		CheckpointEvery: c.CheckpointEvery, Keep: c.Keep,
		Record: c.Record, RecordArrays: c.RecordArrays, Weights: c.Weights,
	}
}

func (c *runCmd) dir(config experiment.Config) string {
	return filepath.Join(c.Out, config.Folder())
}

// configs expands the flags into one configuration per run.
func (c *runCmd) configs(k *kong.Context) (all []experiment.Checked, err error) {
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
