package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// exportWeightsCmd writes the network of a run.
type exportWeightsCmd struct {
	Source  string `arg:"" name:"run" help:"Folder of a run made with --weights, or of an unfinished one; or a checkpoint, or a safetensors file."`
	Out     string `short:"o" required:"" type:"path" placeholder:"FILE" help:"File to write: FILE.safetensors or FILE.onnx."`
	DataDir string `type:"path" placeholder:"DIR" help:"Data folder, for an unfinished run (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

// Validate wants the network to be somewhere, and checks the name of the file to write.
func (c *exportWeightsCmd) Validate() error {
	if _, err := os.Stat(c.Source); c.Source != "" && err != nil {
		return err
	}
	return checkEnding("--out", c.Out, ".safetensors", ".onnx")
}

func (c *exportWeightsCmd) Run(rc *runContext) error {
	t, err := experiment.LoadNetwork(rc.ctx, c.Source, datasets.Options{Dir: c.DataDir})
	if errors.Is(err, experiment.ErrNoWeights) {
		err = fmt.Errorf("%w (pcl run … --weights, and --replace if it is finished)", err)
	}
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
