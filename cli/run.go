package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// runCmd trains every combination of the given methods, increments and seeds.
type runCmd struct {
	Config string `short:"c" type:"existingfile" placeholder:"FILE.toml" help:"Read the configuration from a TOML file; flags override it, and the data set's defaults fill in the rest."`

	Method       []string `placeholder:"NAME,…" help:"Methods to train with (default emgd, the recommended one, or lda on features); pcl methods lists them."`
	Param        assigned `placeholder:"NAME=VALUE" help:"Parameter of the methods; may be repeated."`
	Increment    []string `placeholder:"task,class" help:"task, class, or both (default task; for files of your own class)."`
	LabelSet     []uint64 `name:"labelset" placeholder:"N,…" help:"Seeds of the label sets (default 0)."`
	Timeline     []uint64 `placeholder:"N,…" help:"Seeds of the timelines (default 0)."`
	Seed         []uint64 `placeholder:"N,…" help:"Run seeds (default 1234)."`
	Paper        bool     `rare:"" help:"Use the settings of the paper's tables, such as their memory (docs/protocol.md §2.4)."`
	kong.Plugins          // the flags of settings, see [settingFlags]

	Out             string `short:"o" default:"runs" type:"path" help:"Folder for results; each run gets a folder of its own in it. Finished runs there are not repeated, and unfinished ones are continued."`
	Replace         bool   `help:"Make the runs from their beginning, also where they are finished or saved; what they left is removed first."`
	Record          bool   `help:"Write one line per step (losses, Gram, σ, λ, slacks) to records.jsonl."`
	Weights         bool   `help:"Save the trained network as weights.safetensors, for pcl export weights."`
	RecordArrays    int    `range:"whole [0,inf)" rare:"" name:"record-arrays" placeholder:"N" help:"Write batches and parameters of the first N steps as .npz, so that another program can repeat them (bench/peers/replay.py)."`
	CheckpointEvery int    `range:"whole [0,inf)" rare:"" default:"500" placeholder:"N" help:"Steps between checkpoints; 0 saves only on Ctrl-C."`
	Jobs            int    `range:"whole [1,1024]" default:"1" placeholder:"N" help:"Runs to make at the same time; one per core is best for an MLP."`
	Shard           shard  `rare:"" placeholder:"I/N" help:"Make only part I of N of the runs, counted from 0, as one task of an array job. A run's id decides which part it is in."`
	JSON            bool   `name:"json" help:"Print the results as JSON lines instead of a table."`

	machineFlags
	dataFlag

	Resume     goneFlag `hidden:"" now:"leave it out, since the command goes on with what is unfinished by itself"`
	Checkpoint goneFlag `hidden:"" now:"leave it out, since a run goes on from the newest checkpoint in its folder that is whole"`
	Keep       goneFlag `hidden:"" now:"leave it out, since a run keeps two checkpoints"`

	increment bool // whether the user chose one
}

func (c *runCmd) Run(k *kong.Context, rc *runContext) error {
	configs, err := usage(c.configs(k))
	if err != nil {
		return err
	}
	configs = slices.DeleteFunc(configs, func(config experiment.Checked) bool { return !c.Shard.Has(config.Config()) })
	if len(configs) == 0 { // there may be more shards than runs
		return nil
	}
	store := experiment.Store{
		Dir: c.Out, CheckpointEvery: c.CheckpointEvery, Record: c.Record, RecordArrays: c.RecordArrays, Weights: c.Weights,
	}
	schedule := experiment.Schedule{
		Machine: c.machine(rc, c.DataDir), Jobs: c.Jobs, Log: rc.say, Found: make([]*results.Run, len(configs)),
	}
	defer schedule.Machine.Close()
	note, err := c.prepare(rc, configs, store, schedule)
	if err != nil {
		return err
	}
	runs, err := collect(rc, configs, store, schedule, note)
	if err := advised(err); err != nil {
		return err
	}
	if !c.JSON {
		return cmp.Or(printTable(rc.stdout, runs), printSituations(rc, runs), diverged(runs))
	}
	out := json.NewEncoder(rc.stdout)
	for _, r := range runs {
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return diverged(runs)
}

// prepare opens what the runs need if some are left to be made, and then returns what is shown with
// the first. It removes what is to be replaced.
func (c *runCmd) prepare(
	rc *runContext, configs []experiment.Checked, store experiment.Store, schedule experiment.Schedule,
) (note string, err error) {
	left := c.Replace
	for i, config := range configs {
		if configs[i], err = config.OnData(rc.ctx, c.options()); err != nil {
			return "", err
		}
		if !c.Replace {
			run, err := store.Finished(configs[i])
			if err := advised(err); err != nil {
				return "", err
			}
			schedule.Found[i], left = run, left || run == nil
		}
	}
	if !left {
		return "", nil
	}
	if c.Threads == 0 && slices.ContainsFunc(configs, func(config experiment.Checked) bool {
		return config.Config().Model == "resnet18"
	}) {
		c.Threads = runtime.NumCPU() // convolutions gain from every core, an MLP's steps do not
	}
	set, _, err := c.ready(rc, schedule.Machine, configs, c.Jobs)
	if err != nil {
		return "", err
	}
	for i := 0; c.Replace && i < len(configs); i++ {
		if err := store.Discard(configs[i]); err != nil {
			return "", err
		}
	}
	return c.about(set, configs[0].Config()), nil
}

// about is what the user should know of the data set and of how it is learnt.
func (c *runCmd) about(set *datasets.Dataset, first experiment.Config) string {
	note := noteOf(set)
	if datasets.OwnPath(first.Dataset) == "" {
		return note
	}
	if !c.increment {
		note += fmt.Sprintf("\n%s-incremental: predictions choose among all classes that have arrived (--increment task: "+
			"among those of the sample's task, which is then known)", first.Increment)
	}
	if first.Tasks == 1 {
		note += "\n" + oneTask(first.Dataset, len(set.Classes))
	}
	return note
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
		return nil, errors.New(
			"--labelset and --timeline say how a scenario is drawn, and do nothing beside one that is played: leave them out")
	}
	_, c.increment = file.Values["increment"]
	c.increment = c.increment || len(c.Increment) > 0 || base.Scenario != nil
	for _, increment := range orOwn(c.Increment, base.Increment) {
		for _, labelSet := range orOwn(c.LabelSet, base.LabelSet) {
			for _, timeline := range orOwn(c.Timeline, base.Timeline) {
				at := base
				at.LabelSet, at.Timeline = labelSet, timeline
				for _, config := range experiment.Vary(at, c.Method, []string{increment}, c.Seed...) {
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
