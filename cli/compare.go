package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/internal/pyrule"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
)

// compareCmd trains methods in the same situations and says which differ from the first.
type compareCmd struct {
	Dataset      string   `arg:"" name:"data" help:"Image set: a name of pcl data list, or files of your own (folder:PATH, npz:PATH, …)."`
	Methods      []string `arg:"" name:"method" help:"Methods, with values if need be (emgd:tau=3,momentum=0.5). The others are compared with the first."`
	Increment    []string `placeholder:"task,class" help:"task or class (default: both)."`
	Situations   int      `range:"whole [1,1000]" default:"9" placeholder:"N" help:"Situations (default ${default}): label sets, each with a timeline and a run seed of its own."`
	Seeds        []uint64 `placeholder:"N,…" help:"Run seeds of every situation, which is their average (default: one, different in each)."`
	Paper        bool     `help:"Use the memory, the 3 × 3 situations and the three seeds of the paper's tables; these situations are not independent."`
	kong.Plugins          // the flags of settings, see [settingFlags]

	Out             string `short:"o" default:"runs" type:"path" placeholder:"DIR" help:"Folder of the runs (default ${default}). The same command continues what is there."`
	Jobs            int    `range:"whole [0,1024]" short:"j" default:"0" placeholder:"N" help:"Runs to make at the same time (default: one per core; one on a GPU)."`
	CheckpointEvery int    `range:"whole [0,inf)" rare:"" default:"500" placeholder:"N" help:"Steps between checkpoints; 0 saves only on Ctrl-C."`
	JSON            bool   `name:"json" help:"Print the comparison as JSON."`
	machineFlags
	dataFlag
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
	began := time.Now()
	if _, err := m.Pictures(rc.ctx, configs[0].Config()); err != nil {
		return err
	}
	opened := time.Since(began).Seconds()
	set, b, err := c.ready(rc, m, configs, c.Jobs)
	if err != nil {
		return err
	}
	if everyCore && b.Info.Name == backend.XLACUDA {
		c.Jobs = 1
	}
	beside, err := atOnce(configs)
	if err != nil {
		return err
	}
	rc.note("%d runs in %s, %d at a time%s%s", len(configs)+len(beside), c.Out, c.Jobs, noteOfBeside(beside), noteOf(set))
	store := experiment.Store{Dir: c.Out, CheckpointEvery: c.CheckpointEvery}
	schedule := experiment.Schedule{Machine: m, Jobs: c.Jobs, Log: rc.say}
	runs, err := collect(rc, slices.Concat(configs, beside), store, schedule, "")
	if err := advised(err); err != nil {
		return err
	}
	o := onFeatures{
		machine: m, store: store, schedule: schedule, data: c.options(), command: withFeatures(os.Args[1:]), opened: opened,
	}
	lda, known, err := o.make(rc, set, configs, besideSeconds(runs))
	if err := advised(err); err != nil {
		return err
	}
	all := versus.Of(rows.Columns(rows.Of(slices.Concat(runs, lda))), "")
	for _, t := range all {
		t.Advise(known)
		if !slices.ContainsFunc(beside, func(c experiment.Checked) bool { return c.Config().Increment == t.Increment }) {
			t.Notes = append(t.Notes, fewForAtOnce)
		}
	}
	return rc.print(c.JSON, all, func(out io.Writer) error { return versus.Text(out, all) })
}

// Validate checks the methods, which are found unknown when their runs are.
func (c *compareCmd) Validate() error {
	switch {
	case len(c.Methods) < 2:
		return fmt.Errorf("%s is alone; want at least two methods: the first is what the others are compared with",
			strings.Join(c.Methods, ""))
	case c.Paper && c.Situations != 9:
		return errors.New("--paper takes the nine situations of the paper's tables: leave out --situations")
	}
	return once("the command", reflect.ValueOf(c.Methods))
}

// configs lists the runs: all methods in a situation before the next one.
func (c *compareCmd) configs(k *kong.Context, rc *runContext) (all []experiment.Checked, err error) {
	base, err := usage(configOf(k, c.Paper, experiment.Layer{Values: map[string]any{"dataset": c.Dataset}}, nil))
	if err != nil {
		return nil, err
	}
	if base.Tasks == 1 {
		return nil, usagef("%s", oneTask(c.Dataset, base.MaxClasses))
	}
	if base, err = base.OnData(rc.ctx, c.options()); err != nil {
		return nil, err
	}
	if len(c.Increment) == 0 {
		c.Increment = []string{"task", "class"}
	}
	for _, config := range experiment.Vary(base, nil, c.Increment) {
		for _, at := range c.repetitions() {
			for _, m := range c.Methods {
				config.LabelSet, config.Timeline, config.Seed = at[0], at[1], at[2]
				if config.Method, config.Params, err = methodAndValues(m); err != nil {
					return nil, err
				}
				checked, err := usage(config.Check())
				if err != nil {
					return nil, err
				}
				all = append(all, checked)
			}
		}
	}
	return all, nil
}

// repetitions are the label sets, timelines and seeds of a method's runs, situation by situation. A
// seed that all situations shared would make them depend on one first network.
func (c *compareCmd) repetitions() (out [][3]uint64) {
	for i := range uint64(c.Situations) {
		labelSet, timeline, seeds := i, i, []uint64{1234 + i}
		if c.Paper {
			labelSet, timeline, seeds = i/3, i%3, []uint64{1234, 1235, 1236}
		}
		if len(c.Seeds) > 0 {
			seeds = c.Seeds
		}
		for _, seed := range seeds {
			out = append(out, [3]uint64{labelSet, timeline, seed})
		}
	}
	return out
}

// methodAndValues reads "emgd:tau=3,momentum=0.5".
func methodAndValues(text string) (name string, values map[string]any, err error) {
	if strings.HasPrefix(text, pyrule.Prefix) { // whose file's name has no values behind it
		return text, nil, nil
	}
	name, list, given := strings.Cut(text, ":")
	if !given {
		return name, nil, nil
	}
	var read assigned
	for _, one := range strings.Split(list, ",") {
		if err := read.add(one); err != nil {
			return "", nil, usagef("%s: %w", text, err)
		}
	}
	return name, parameters(read), nil
}

// oneTask says that a set is too small to be learnt as streams in parallel.
func oneTask(dataset string, classes int) string {
	if classes >= 4 {
		return fmt.Sprintf("%s in one task: nothing arrives beside it; want --tasks 2 or more", dataset)
	}
	return fmt.Sprintf("%s has %d classes, which make one task: nothing arrives beside it; want at least 4 classes (two "+
		"tasks of two), or tasks of single classes, told apart among all: --tasks %d --min-classes 1 --max-classes 1 "+
		"--increment class",
		dataset, classes, classes)
}
