package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/tensorboard"
	"github.com/parallelcl/parallelcl/viz/report"
)

// tensorBoardCmd is `pcl tensorboard`, which writes runs as event files.
type tensorBoardCmd struct {
	Paths []string `arg:"" optional:"" default:"runs" name:"path" help:"Result files or folders of runs (default: ${default})."`
	Out   string   `short:"o" default:"tensorboard" type:"path" placeholder:"DIR" help:"Folder for the event files (default: ${default})."`
}

func (c *tensorBoardCmd) Run(rc *runContext) error {
	files, err := findRuns(c.Paths)
	if err != nil {
		return err
	}
	for _, f := range files {
		records, err := stepsOf(f)
		if err != nil {
			return err
		}
		r := f.Run
		name := tensorboard.Folder(fmt.Sprintf("%s-%s-%s-s%d-%s", r.Dataset, r.Increment, r.Method, r.Seed, r.ID))
		if err := tensorboard.Save(filepath.Join(c.Out, name), r, records); err != nil {
			return err
		}
	}
	return eventFiles(rc, len(files), c.Out)
}

// stepsOf reads the records of a run's steps; none if the run kept no records.
func stepsOf(f report.RunFile) ([]results.Record, error) {
	if f.Records == "" {
		return nil, nil
	}
	in, err := os.Open(f.Records)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	records, err := results.ReadRecords(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Records, err)
	}
	return records, nil
}
