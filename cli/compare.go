package cli

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// compareCmd trains methods in the same situations and says which differ from the first.
type compareCmd struct {
	Dataset      string               `arg:"" name:"data" help:"Image set: a name of pcl data list, or files of your own (folder:PATH, npz:PATH, …)."`
	Methods      []string             `arg:"" name:"method" help:"Methods, with values if need be (emgd:tau=3,momentum=0.5). The others are compared with the first."`
	Increment    []scenario.Increment `placeholder:"task,class" help:"task or class (default: both)."`
	Situations   int                  `range:"whole [1,1000]" default:"9" placeholder:"N" help:"Situations (default ${default}): label sets, each with a timeline and a run seed of its own."`
	Seeds        []uint64             `placeholder:"N,…" help:"Run seeds of every situation, which is their average (default: one, different in each)."`
	Paper        bool                 `help:"Use the memory, the 3 × 3 situations and the three seeds of the paper's tables; these situations are not independent."`
	kong.Plugins                      // the flags of settings, see [settingFlags]

	Out             string `short:"o" default:"runs" type:"path" placeholder:"DIR" help:"Folder of the runs (default ${default}). The same command continues what is there."`
	Jobs            int    `range:"whole [0,1024]" short:"j" default:"0" placeholder:"N" help:"Runs to make at the same time (default: one per core; one on a GPU)."`
	CheckpointEvery int    `range:"whole [0,inf)" rare:"" default:"500" placeholder:"N" help:"Steps between checkpoints; 0 saves only on Ctrl-C."`
	JSON            bool   `name:"json" help:"Print the comparison as JSON."`
	machineFlags
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

func (c *compareCmd) Run(k *kong.Context, rc *runContext) error {
	configs, err := c.configs(k, rc)
	if err != nil {
		return err
	}
	m := c.machine(rc, c.DataDir)
	defer m.Close()
	everyCore := c.Jobs == 0
	if everyCore {
		c.Jobs = runtime.NumCPU()
	}
	set, b, err := c.ready(rc, m, configs, c.Jobs)
	if err != nil {
		return err
	}
	if everyCore && b.Info.Name == backend.XLACUDA {
		c.Jobs = 1
	}
	rc.note("%d runs in %s, %d at a time%s", len(configs), c.Out, c.Jobs, noteOf(set))
	w := experiment.Where{Machine: m, Jobs: c.Jobs, Dir: c.Out, CheckpointEvery: c.CheckpointEvery, Say: rc.say}
	runs, err := collect(rc, configs, w, "", func(err error, config experiment.Config) error {
		switch {
		case errors.Is(err, experiment.ErrInterrupted):
			return fmt.Errorf("%w; the runs are kept; %s", experiment.ErrInterrupted, goOn())
		case errors.Is(err, experiment.ErrForeign):
			return fmt.Errorf("%w (make the runs of this program elsewhere, with --out)", err)
		}
		return fmt.Errorf("%s, %s-incremental, label set %d: %w; finished runs are kept", config.Method, config.Increment, config.LabelSet, err)
	})
	if err != nil {
		return err
	}
	all := versus.Of(findings.Columns(rows.Of(runs)), "")
	return rc.print(c.JSON, all, func(out io.Writer) error { return versus.Text(out, all) })
}

// configs lists the runs: all methods in a situation before the next one.
func (c *compareCmd) configs(k *kong.Context, rc *runContext) (all []experiment.Checked, err error) {
	if len(c.Methods) < 2 {
		return nil, usagef("%s is alone; want at least two methods: the first is what the others are compared with", strings.Join(c.Methods, ""))
	}
	if c.Paper && c.Situations != 9 {
		return nil, usagef("--paper takes the nine situations of the paper's tables: leave out --situations")
	}
	if err := once("the command", reflect.ValueOf(c.Methods)); err != nil {
		return nil, usageError{err}
	}
	base, err := configOf(k, c.Paper, experiment.Layer{Values: map[string]any{"dataset": c.Dataset}}, nil)
	if err == nil {
		err = c.enough(rc, base)
	}
	if err != nil {
		return nil, usageError{err}
	}
	if base, err = base.OnData(rc.ctx, datasets.Options{Dir: c.DataDir}); err != nil {
		return nil, err
	}
	if len(c.Increment) == 0 {
		c.Increment = []scenario.Increment{scenario.TaskIncremental, scenario.ClassIncremental}
	}
	for _, increment := range c.Increment {
		for i := range c.Situations {
			for _, seed := range c.seeds(i) {
				for _, m := range c.Methods {
					config := base.WithIncrement(increment)
					config.LabelSet, config.Timeline, config.Seed = c.situation(i)[0], c.situation(i)[1], seed
					if config.Method, config.Params, err = methodAndValues(m); err != nil {
						return nil, usageError{err}
					}
					checked, err := config.Check()
					if err != nil {
						return nil, usageError{err}
					}
					all = append(all, checked)
				}
			}
		}
	}
	return all, nil
}

// situation returns the seeds of the label set and the timeline.
func (c *compareCmd) situation(i int) [2]uint64 {
	if c.Paper {
		return [2]uint64{uint64(i / 3), uint64(i % 3)}
	}
	return [2]uint64{uint64(i), uint64(i)}
}

// seeds returns those of the runs in a situation. A seed that all situations shared would make them depend on one first
// network.
func (c *compareCmd) seeds(i int) []uint64 {
	switch {
	case len(c.Seeds) > 0:
		return c.Seeds
	case c.Paper:
		return []uint64{1234, 1235, 1236}
	}
	return []uint64{1234 + uint64(i)}
}

// methodAndValues reads "emgd:tau=3,momentum=0.5".
func methodAndValues(text string) (name string, values map[string]any, err error) {
	name, list, given := strings.Cut(text, ":")
	if !given {
		return name, nil, nil
	}
	values = map[string]any{}
	for _, one := range strings.Split(list, ",") {
		key, value, ok := strings.Cut(one, "=")
		if _, twice := values[key]; !ok || key == "" || twice {
			return "", nil, fmt.Errorf("%s: want METHOD:NAME=VALUE,…, each name once", text)
		}
		values[key] = value
	}
	return name, values, nil
}

// enough refuses a set that makes a single task.
func (c *compareCmd) enough(rc *runContext, base experiment.Config) error {
	if base.Tasks > 1 {
		return nil
	}
	info, err := datasets.Inspect(rc.ctx, c.Dataset, datasets.Options{Dir: c.DataDir})
	if err != nil {
		return nil // opening the set says what is wrong with it
	}
	return errors.New(oneTask(c.Dataset, info.Classes))
}

// oneTask says that a set is too small to be learnt as streams in parallel.
func oneTask(dataset string, classes int) string {
	if classes >= 4 {
		return fmt.Sprintf("%s in one task: nothing arrives beside it; want --tasks 2 or more", dataset)
	}
	return fmt.Sprintf("%s has %d classes, which make one task: nothing arrives beside it; want at least 4 classes (two tasks of two), or tasks of single classes, told apart among all: --tasks %d --min-classes 1 --max-classes 1 --increment class",
		dataset, classes, classes)
}
