package cli

import (
	"errors"
	"io"
	"io/fs"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/tables"
	"github.com/parallelcl/parallelcl/viz/report"
)

// exportCmd writes runs in other forms.
type exportCmd struct {
	CSV     exportCSVCmd     `cmd:"" name:"csv" help:"Runs as CSV: a line for each run, for each accuracy that was measured, or for each row of each step."`
	LaTeX   exportLaTeXCmd   `cmd:"" name:"latex" help:"The means over the seeds as a table for LaTeX."`
	TB      tensorBoardCmd   `cmd:"" name:"tensorboard" help:"Event files for TensorBoard: accuracies, and losses of runs made with --record."`
	Weights exportWeightsCmd `cmd:"" help:"The network of a run as safetensors or ONNX."`
}

// exportedRuns are the runs that a command writes.
type exportedRuns struct {
	Paths []string `arg:"" optional:"" default:"runs" name:"path" help:"Result files or folders of runs (default: ${default})."`
	Out   string   `short:"o" type:"stdout" default:"-" placeholder:"FILE" help:"File to write (default: standard output)."`
}

func (e exportedRuns) find() (runs []*results.Run, files []report.RunFile, err error) {
	files, err = findRuns(e.Paths)
	for _, f := range files {
		runs = append(runs, f.Run)
	}
	return runs, files, err
}

// findRuns reads the runs that paths name. A path at which there is nothing is wrong usage.
func findRuns(paths []string) ([]report.RunFile, error) {
	files, err := report.FindRuns(paths...)
	if errors.Is(err, fs.ErrNotExist) {
		err = usageError{err}
	}
	return files, err
}

type exportCSVCmd struct {
	exportedRuns
	Table string `default:"runs" enum:"runs,accuracy,steps" help:"${enum}: a line for each run; for each task at each evaluation, which is the accuracy matrix; or for each row of each step of runs made with --record (default ${default})."`
}

func (c *exportCSVCmd) Run(rc *runContext) error {
	runs, files, err := c.find()
	if err != nil {
		return err
	}
	write := func(out io.Writer) error { return tables.Runs(out, runs) }
	switch c.Table {
	case "accuracy":
		write = func(out io.Writer) error { return tables.Accuracy(out, runs) }
	case "steps":
		write = func(out io.Writer) error {
			return tables.Steps(out, runs, func(i int) ([]results.Record, error) { return stepsOf(files[i]) })
		}
	}
	return rc.writeTo(c.Out, write)
}

type exportLaTeXCmd struct{ exportedRuns }

func (c *exportLaTeXCmd) Run(rc *runContext) error {
	runs, _, err := c.find()
	if err != nil {
		return err
	}
	return rc.writeTo(c.Out, func(out io.Writer) error { return tables.LaTeX(out, runs) })
}
