package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/grid"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/tables"
	"github.com/parallelcl/parallelcl/pcl/results/tensorboard"
)

type exportCmd struct {
	CSV     exportCSVCmd         `cmd:"" name:"csv" help:"Runs as CSV: a line for each run, for each accuracy that was measured, or for each row of each step."`
	LaTeX   exportLaTeXCmd       `cmd:"" name:"latex" help:"The means as a table for LaTeX."`
	TB      exportTensorBoardCmd `cmd:"" name:"tensorboard" help:"Event files for TensorBoard: accuracies, and losses of runs made with --record."`
	Weights exportWeightsCmd     `cmd:"" help:"The network of a run as safetensors or ONNX."`
}

// exportedRuns are the runs that a command writes.
type exportedRuns struct {
	Paths []string `arg:"" optional:"" default:"runs" name:"path" help:"Result files or folders of runs (default: ${default}); or grids, as for pcl grid run."`
	gridFlags
}

// find reads the runs that the paths name, and the grids if they name these.
func (e exportedRuns) find(rc *runContext) (files []results.File, grids []*grid.Results, err error) {
	folders := e.Paths
	if slices.ContainsFunc(e.Paths, grid.IsName) {
		if slices.ContainsFunc(e.Paths, func(path string) bool { return !grid.IsName(path) }) {
			return nil, nil, usagef("these are grids and runs: export them by commands of their own")
		}
		folders = nil
		if grids, err = e.results(e.Paths); err != nil {
			return nil, nil, err
		}
	}
	for _, r := range grids {
		own := r.Folders()
		if folders = append(folders, own...); len(own) < len(r.Runs) {
			rc.note("%s: %d of %d runs have no result yet", r.Name, len(r.Runs)-len(own), len(r.Runs))
		}
	}
	if len(folders) == 0 {
		return nil, grids, nil
	}
	files, err = results.Find(folders...)
	if errors.Is(err, fs.ErrNotExist) {
		err = usageError{err}
	}
	return files, grids, err
}

func runsOf(files []results.File) (runs []*results.Run) {
	for _, f := range files {
		runs = append(runs, f.Run)
	}
	return runs
}

// exportedText is where a command writes what it makes of runs.
type exportedText struct {
	Out string `short:"o" type:"stdout" default:"-" placeholder:"FILE" help:"File to write (default: standard output)."`
}

type exportCSVCmd struct {
	exportedRuns
	exportedText
	Table string `default:"runs" enum:"runs,accuracy,steps" help:"${enum}: a line for each run (of a grid, for each place in it); for each task at each evaluation, which is the accuracy matrix; or for each row of each step of runs made with --record (default ${default})."`
}

func (c *exportCSVCmd) Run(rc *runContext) error {
	files, grids, err := c.find(rc)
	if err != nil {
		return err
	}
	runs := runsOf(files)
	return rc.writeTo(c.Out, func(out io.Writer) error {
		if grids == nil || c.Table != "runs" {
			return tables.CSV(out, c.Table, runs, func(i int) ([]results.Record, error) { return files[i].ReadRecords() })
		}
		var all []*rows.Row
		for _, r := range grids {
			all = append(all, r.Table()...)
		}
		return rows.Write(out, all)
	})
}

type exportLaTeXCmd struct {
	exportedRuns
	exportedText
}

func (c *exportLaTeXCmd) Run(rc *runContext) error {
	files, grids, err := c.find(rc)
	if err != nil {
		return err
	}
	return rc.writeTo(c.Out, func(out io.Writer) error {
		if grids == nil {
			return tables.LaTeX(out, rows.Columns(rows.Of(runsOf(files))))
		}
		for _, r := range grids {
			fmt.Fprintf(out, "%% %s: %s\n", r.Name, r.Title)
			if err := tables.LaTeX(out, rows.Columns(r.Table())); err != nil {
				return err
			}
		}
		return nil
	})
}

type exportTensorBoardCmd struct {
	exportedRuns
	Out string `short:"o" default:"tensorboard" type:"path" placeholder:"DIR" help:"Folder for the event files (default: ${default})."`
}

func (c *exportTensorBoardCmd) Run(rc *runContext) error {
	files, _, err := c.find(rc)
	if err != nil {
		return err
	}
	for _, f := range files {
		records, err := f.ReadRecords()
		if err != nil {
			return err
		}
		if err := tensorboard.Save(c.Out, f.Run, records); err != nil {
			return err
		}
	}
	return rc.done("%s in %s, for: tensorboard --logdir %s", plural.Of(len(files), "event file"), c.Out, quoted(c.Out))
}

type exportWeightsCmd struct {
	Source   string `arg:"" name:"run" help:"Folder of a run made with --weights, or of an unfinished one; or a checkpoint, or a safetensors file."`
	Out      string `short:"o" required:"" type:"path" placeholder:"FILE" help:"File to write: FILE.safetensors or FILE.onnx."`
	Backbone bool   `help:"Put the backbone of a run on features in front of its network: the ONNX file then takes pictures of the data set's size."`
	dataFlag
}

// Validate wants the network to be somewhere, and checks the name of the file to write.
func (c *exportWeightsCmd) Validate() error {
	if _, err := os.Stat(c.Source); c.Source != "" && err != nil {
		return err
	}
	if c.Backbone && filepath.Ext(c.Out) == ".safetensors" {
		return errors.New("--backbone belongs to an ONNX file: give --out FILE.onnx")
	}
	return checkEnding("--out", c.Out, ".safetensors", ".onnx")
}

func (c *exportWeightsCmd) Run(rc *runContext) error {
	t, err := experiment.LoadNetwork(rc.ctx, c.Source, c.options())
	if err != nil {
		return err
	}
	if c.Backbone {
		if t.Backbone, err = experiment.LoadBackbone(rc.ctx, c.Source, c.options(), rc.progress()); err != nil {
			return err
		}
	}
	if filepath.Ext(c.Out) == ".onnx" {
		if err := t.SaveONNX(c.Out, nil); err != nil {
			return err
		}
	} else {
		if err := t.Save(c.Out); err != nil {
			return err
		}
	}
	return rc.done("%s: %s, after %d steps, %d outputs of classes", c.Out, t.Model, t.Steps, len(t.Outputs()))
}
