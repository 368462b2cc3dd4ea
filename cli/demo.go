package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
	"github.com/parallelcl/parallelcl/toy"
	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/report"
)

// demoCmd trains several methods on built-in data and draws one page about them.
type demoCmd struct {
	Out       string   `short:"o" default:"pcl-demo.html" type:"path" placeholder:"FILE.html" help:"Page to write (default: ${default})."`
	Cover     string   `type:"path" placeholder:"FILE.png" help:"Draw the overview picture too."`
	Runs      string   `type:"path" placeholder:"DIR" help:"Keep results and records in this folder, and reuse those that are already there."`
	Method    []string `default:"emgd,der-pp,emgd-gmc,avggrad,mgda" placeholder:"NAME,…" help:"Methods to compare (${default})."`
	Increment string   `default:"class" enum:"task,class" help:"Whether predictions choose among the classes of the sample's task or among all classes: ${enum}."`
	Seed      []uint64 `placeholder:"N,…" help:"Run seeds (default 1234,1235,1236; on the pure-Go backend, which is slower, 1234)."`

	machineFlags
}

func (c *demoCmd) Run(rc *runContext) error {
	for _, name := range c.Method {
		if _, err := method.Lookup(name); err != nil {
			return usageError{err}
		}
	}
	if err := errors.Join(once("--method", c.Method), once("--seed", c.Seed)); err != nil {
		return usageError{err}
	}
	if err := c.checkOut(); err != nil {
		return err
	}
	folder := c.Runs
	if folder == "" {
		temporary, err := os.MkdirTemp("", "pcl-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		folder = temporary
	}
	b, err := c.open(rc)
	if err != nil {
		return err
	}
	defer b.Close()
	if len(c.Seed) == 0 {
		c.Seed = []uint64{1234, 1235, 1236}
		if b.Info.Name == backend.Go {
			c.Seed = c.Seed[:1]
		}
	}
	in := report.DemoInput{Command: madeBy(), Records: map[string][]results.Record{}, Backend: b.Info.String()}
	o := experiment.RunOptions{Backend: b, Programs: pcl.NewPrograms(b), Record: true}
	defer o.Programs.Close()
	if o.Dataset, err = datasets.Open(rc.ctx, "glyphs", datasets.Options{}); err != nil {
		return err
	}
	for _, name := range c.Method {
		for _, seed := range c.Seed {
			if err := c.train(rc, &in, name, seed, folder, o); err != nil {
				return err
			}
		}
		trace, err := toyTrace(name, nil, toy.Figure2())
		if err != nil {
			return err
		}
		in.Toy = append(in.Toy, viz.NewTrace(trace, title(name)))
	}
	if err := printTable(rc.stdout, in.Runs); err != nil {
		return err
	}
	if err := c.draw(rc, in); err != nil {
		return err
	}
	return diverged(in.Runs)
}

// checkOut returns an error if the page or the picture cannot be written, which otherwise would show after the training.
func (c *demoCmd) checkOut() error {
	if err := checkPage(c.Out); err != nil || c.Cover == "" {
		return err
	}
	if filepath.Ext(c.Cover) != ".png" {
		return usageError{fmt.Errorf("--cover %s: the picture is a PNG: give the file the ending .png", c.Cover)}
	}
	return atomicfile.Check(c.Cover)
}

// train makes one run, and keeps the records of the first run of each method.
func (c *demoCmd) train(rc *runContext, in *report.DemoInput, name string, seed uint64, folder string, o experiment.RunOptions) error {
	config := experiment.DefaultConfig("glyphs")
	config.Method, config.Seed, config.Increment = name, seed, scenario.Increment(c.Increment)
	config.EvalEvery = 20
	bar := newProgress(rc, fmt.Sprintf("[%d/%d] %s, seed %d", len(in.Runs)+1, len(c.Method)*len(c.Seed), name, seed))
	defer bar.close()
	defer rc.hold()()
	o.Dir, o.Progress, o.Resume = filepath.Join(folder, config.Folder()), bar.show, true
	r, err := experiment.Run(rc.ctx, config, o)
	if err != nil {
		return err
	}
	in.Runs = append(in.Runs, r)
	if in.Records[name] != nil {
		return nil
	}
	f, err := os.Open(filepath.Join(o.Dir, experiment.RecordFile))
	if err != nil {
		return err
	}
	defer f.Close()
	in.Records[name], err = results.ReadRecords(f)
	return err
}

func (c *demoCmd) draw(rc *runContext, in report.DemoInput) error {
	if err := atomicfile.Write(c.Out, func(w io.Writer) error { return report.Demo(w, in) }); err != nil {
		return err
	}
	if c.Cover != "" {
		if err := atomicfile.Write(c.Cover, func(w io.Writer) error { return report.Cover(w, in) }); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(rc.stdout, "\nThe page: %s\n", c.Out)
	return err
}
