package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// exportWeightsCmd writes the network of a run.
type exportWeightsCmd struct {
	Source  string `arg:"" name:"run" help:"Folder of a run made with --weights, or of an unfinished one; or a checkpoint, or a safetensors file."`
	Out     string `short:"o" required:"" type:"path" placeholder:"FILE" help:"File to write: FILE.safetensors or FILE.onnx."`
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder, for an unfinished run (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

// Validate checks the file's name.
func (c *exportWeightsCmd) Validate() error {
	return checkEnding("--out", c.Out, ".safetensors", ".onnx")
}

func (c *exportWeightsCmd) Run(rc *runContext) error {
	t, err := c.network(rc)
	if err != nil {
		return err
	}
	if filepath.Ext(c.Out) == ".onnx" {
		err = t.SaveONNX(c.Out, nil)
	} else {
		err = t.Save(c.Out)
	}
	if err != nil || rc.quiet {
		return err
	}
	outputs, err := t.Outputs()
	if err != nil {
		return err
	}
	return rc.done("%s: %s, after %d steps, %d outputs of classes", c.Out, t.Model, t.Steps, len(outputs))
}

// network reads the network from where it is.
func (c *exportWeightsCmd) network(rc *runContext) (*pcl.Trained, error) {
	info, err := os.Stat(c.Source)
	if err != nil {
		return nil, usageError{err}
	}
	path, whole := c.Source, filepath.Ext(c.Source) == ".safetensors"
	if info.IsDir() {
		path, whole, err = experiment.FindWeights(c.Source)
		if errors.Is(err, experiment.ErrNoWeights) {
			return nil, fmt.Errorf("%w (pcl run … --weights, and --replace if it is finished)", err)
		}
		if err != nil {
			return nil, err
		}
	}
	if whole {
		return pcl.LoadTrained(path)
	}
	config, err := experiment.SavedConfig(path)
	if err != nil {
		return nil, err
	}
	set, err := datasets.Open(rc.ctx, config.Dataset, datasets.Options{Dir: c.DataDir})
	if err != nil {
		return nil, err
	}
	b, err := backend.Open(rc.ctx, backend.Options{Name: backend.Go})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return experiment.SavedNetwork(path, b, set)
}
