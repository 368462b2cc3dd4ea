package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// gridAgainCmd is `pcl grid reproduce`, which makes one run of exported results again.
type gridAgainCmd struct {
	File string `arg:"" type:"existingfile" help:"Results of grids that pcl export csv wrote."`

	Method    *string  `placeholder:"NAME" help:"The method, as the file calls it."`
	Dataset   *string  `placeholder:"NAME" help:"The data set, as the file calls it."`
	Increment *string  `placeholder:"task|class" help:"The increment."`
	LabelSet  *uint64  `name:"labelset" placeholder:"N" help:"Seed of the label sets."`
	Timeline  *uint64  `placeholder:"N" help:"Seed of the timeline."`
	Seed      *uint64  `placeholder:"N" help:"Seed of the run."`
	Where     assigned `placeholder:"NAME=VALUE" help:"A value of a setting that the grid varies, such as memory.budget=500; may be repeated."`
	Cell      string   `placeholder:"ID" help:"The cell, or the beginning of its ID."`

	Grid      string `type:"existingfile" placeholder:"FILE.toml" help:"The grid, if it is not a built-in one."`
	TunedFrom string `type:"existingfile" placeholder:"FILE" help:"The tuned values of a grid …-tuned, if they did not come with the program."`
	Out       string `short:"o" type:"path" placeholder:"DIR" help:"Keep the run in a folder of its own in this one; an interrupted run continues from there."`

	Backend string `default:"same" enum:"same,xla-cuda,xla-cpu,go" help:"Compute backend: ${enum}. One that did not make the result rounds differently."`
	TF32    bool   `name:"tf32" help:"Let a GPU round the factors of products to 10 bits, if the result was made so."`
	dataFlag
}

func (c *gridAgainCmd) Run(rc *runContext) error {
	then, err := c.row(rc)
	if err != nil {
		return err
	}
	config, err := c.config(then)
	if err != nil {
		return err
	}
	run, err := c.make(rc, then, config)
	if err != nil {
		return err
	}
	return c.compare(rc, then, run)
}

// row returns the row of the file that is to be made again: the first of those that the flags name.
func (c *gridAgainCmd) row(rc *runContext) (*rows.Row, error) {
	all, err := usage(rows.Files(c.File))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r *rows.Row) bool { return r.State != rows.Done || !c.names(r) })
	if len(all) == 0 {
		return nil, usagef("%s has no finished run that the flags name", c.File)
	}
	r := all[0]
	rc.note("%s, %s, label set %d, timeline %d, seed %d (cell %s of %s, made in %.0f s), the first of %s that the flags "+
		"name",
		r.Line(), r.Benchmark(), r.LabelSet, r.Timeline, r.Seed, r.Cell, r.Grid, r.Seconds, plural.Of(len(all), "run"))
	return r, nil
}

// names says whether the flags name a row.
func (c *gridAgainCmd) names(r *rows.Row) bool {
	for name, value := range c.Where {
		if !slices.ContainsFunc(r.Vary, func(s rows.Setting) bool { return s.Name == name && sameValue(s.Value, value) }) {
			return false
		}
	}
	return is(c.Method, r.Method) && is(c.Dataset, r.Dataset) && is(c.Increment, r.Increment) &&
		is(c.LabelSet, r.LabelSet) &&
		is(c.Timeline, r.Timeline) && is(c.Seed, r.Seed) && strings.HasPrefix(r.Cell, c.Cell)
}

// sameValue says whether two texts are equal, or stand for the same number.
func sameValue(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// is says whether a flag names a value, or was not given.
func is[T comparable](flag *T, value T) bool { return flag == nil || *flag == value }

// config returns the configuration of the run behind a row.
func (c *gridAgainCmd) config(r *rows.Row) (experiment.Checked, error) {
	var values *grid.Tuned
	if c.TunedFrom != "" {
		var err error
		if values, err = usage(grid.LoadTuned(c.TunedFrom)); err != nil {
			return experiment.Checked{}, err
		}
	}
	g, err := usage(grid.Named(r.Grid, c.Grid, values))
	if err != nil {
		return experiment.Checked{}, err
	}
	g.DataDir = c.DataDir
	return usage(g.ConfigOf(r))
}

// make makes the run. Its backend, threads and vectors are those of the result, unless the flags
// say otherwise.
func (c *gridAgainCmd) make(rc *runContext, then *rows.Row, config experiment.Checked) (*results.Run, error) {
	old := then.Run.Measured
	how := machineFlags{Backend: old.Backend, Threads: old.Threads, Vectors: backend.VectorsOf(old.Device), TF32: c.TF32}
	if c.Backend != "same" {
		how.Backend = c.Backend
	}
	m := how.machine(rc, c.DataDir)
	defer m.Close()
	store := experiment.Store{Dir: c.Out}
	run, err := store.Finished(config)
	if run != nil || errors.Is(err, experiment.ErrForeign) {
		return nil, usagef("--out %s has a finished run, which would not be made again: name another folder", c.Out)
	}
	if err != nil {
		return nil, err
	}
	runs, err := collect(rc, []experiment.Checked{config}, store, experiment.Schedule{Machine: m, Log: rc.say}, "")
	if err != nil {
		return nil, err
	}
	return runs[0], nil
}

// compare prints the result beside that of the file. It returns an error if they differ.
func (c *gridAgainCmd) compare(rc *runContext, then *rows.Row, run *results.Run) error {
	figures, text, same := grid.Compare(then, run)
	t := newTable("", "IN THE FILE", "NOW", "")
	for _, f := range figures {
		verdict := "equal"
		if f.Then != f.Now {
			verdict = "DIFFERENT"
		}
		t.row(f.Name, brief(f.Then), brief(f.Now), verdict)
	}
	if err := t.print(rc.stdout); err != nil {
		return err
	}
	fmt.Fprintln(rc.stdout, text)
	if !same {
		return fmt.Errorf("the run does not have the result that is in %s", c.File)
	}
	return nil
}

// brief is a value that fits a line; of a hash it is the beginning.
func brief(value string) string {
	switch {
	case value == "":
		return "-"
	case len(value) == 64:
		return value[:16] + "…"
	}
	return value
}
