package cli

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/tempdir"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/toy"
	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/report"
)

// demoCmd trains several methods on built-in data and draws one page about them.
type demoCmd struct {
	Out    string   `short:"o" default:"pcl-demo.html" type:"path" placeholder:"FILE.html" help:"Page to write (default: ${default})."`
	Cover  string   `type:"path" placeholder:"FILE.png" help:"Draw the overview picture too."`
	Runs   string   `type:"path" placeholder:"DIR" help:"Keep results and records in this folder, and reuse those that are already there."`
	Method []string `default:"emgd,der-pp,emgd-gmc,avggrad,mgda" placeholder:"NAME,…" help:"Methods to compare (${default})."`
	Seed   []uint64 `placeholder:"N,…" help:"Run seeds (default 1234,1235,1236; on the pure-Go backend, which is slower, 1234)."`

	machineFlags
}

// Validate checks the names of the files.
func (c *demoCmd) Validate() error {
	return cmp.Or(checkEnding("--out", c.Out, ".html", ".htm"), checkEnding("--cover", c.Cover, ".png"))
}

func (c *demoCmd) Run(rc *runContext) error {
	for _, file := range []string{c.Out, cmp.Or(c.Cover, c.Out)} { // otherwise it would show after the training
		if err := atomicfile.Check(file); err != nil {
			return err
		}
	}
	if c.Runs == "" {
		temp, err := tempdir.Make("pcl-demo-")
		if err != nil {
			return err
		}
		defer temp.Remove()
		c.Runs = temp.Path
	}
	in := report.RunsInput{Title: "Parallel continual learning", Origin: thisCommand(), Brief: true}
	for _, name := range c.Method {
		trace, err := usage(descend(name, nil, toy.Figure2()))
		if err != nil {
			return err
		}
		in.Toy = append(in.Toy, trace)
	}
	var err error
	if in.Files, err = c.train(rc); err != nil {
		return err
	}
	in.Next = c.general()
	runs := runsOf(in.Files)
	if err := printTable(rc.stdout, runs); err != nil {
		return err
	}
	if err := atomicfile.Write(c.Out, func(w io.Writer) error { return report.Runs(rc.ctx, w, in) }); err != nil {
		return err
	}
	if c.Cover != "" {
		if err := atomicfile.Write(c.Cover, func(w io.Writer) error { return viz.Cover(w, runs, in.Toy) }); err != nil {
			return err
		}
	}
	return cmp.Or(rc.done("\nThe page: %s", c.Out), diverged(runs))
}

// general returns the commands that repeat the demo in eight situations, which are enough for four
// comparisons at the 5 % level.
func (c *demoCmd) general() string {
	seeds := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Seed), " ", ","), "[]")
	return fmt.Sprintf("pcl run --dataset glyphs --increment class --eval-every 20 \\\n    --method %s --seed %s \\\n"+
		"    --labelset 0,1,2,3,4,5,6,7 --out general\n"+
		"pcl report general --out general.html", strings.Join(c.Method, ","), seeds)
}

// train makes the runs, and reads their files.
func (c *demoCmd) train(rc *runContext) ([]results.File, error) {
	m := c.machine(rc, "")
	defer m.Close()
	b, err := m.Backend(rc.ctx)
	if err != nil {
		return nil, err
	}
	if len(c.Seed) == 0 {
		c.Seed = []uint64{1234, 1235, 1236}
		if b.Info.Name == backend.Go {
			c.Seed = c.Seed[:1]
		}
	}
	base := experiment.DefaultConfig("glyphs")
	base.Increment, base.EvalEvery = "class", 20
	var configs []experiment.Checked
	var folders []string
	for _, config := range experiment.Vary(base, c.Method, nil, c.Seed...) {
		checked, err := config.Check()
		if err != nil {
			return nil, err
		}
		configs, folders = append(configs, checked), append(folders, filepath.Join(c.Runs, checked.Folder()))
	}
	store, schedule := experiment.Store{Dir: c.Runs, Record: true}, experiment.Schedule{Machine: m, Log: rc.say}
	if _, err := collect(rc, configs, store, schedule, ""); err != nil {
		return nil, err
	}
	return results.Find(folders...)
}
