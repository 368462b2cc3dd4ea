package experiment

import (
	"cmp"
	"crypto/sha256"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// begin has runs begin with the parameters of the trained network in a safetensors file, all but
// those of the classifier, and with its statistics.
func (c *Config) begin(path string) error {
	sum, _, err := weights(path)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	c.Init, c.InitFile = sum, path
	return nil
}

// weights reads a trained network, and returns the checksum of its file.
func weights(path string) (sum string, t *pcl.Network, err error) {
	data, err := regular.ReadFile(path)
	if err == nil {
		t, err = pcl.LoadNetwork(path)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), t, err
}

// stemOf returns the stem of a ResNet, which the size of its kernel tells.
func stemOf(t *pcl.Network) string {
	for _, x := range t.Tensors {
		if x.Name == "stem/conv/weights" && x.Dims[0] == 7 {
			return model.StemImageNet
		}
	}
	return ""
}

// pretrain gives a new learner the parameters that the run begins with.
func (c Config) pretrain(l *pcl.Learner) (err error) {
	if c.Init == "" {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("config: init: %w", err)
		}
	}()
	if c.InitFile == "" {
		return fmt.Errorf(
			"%w: the run begins with the network whose file has the SHA-256 %s: say which file that is, by InitFile, init in "+
				"the TOML file, or --init", ErrData, c.Init)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", c.InitFile, err)
		}
	}()
	sum, t, err := weights(c.InitFile)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrData, err)
	}
	if sum != c.Init {
		return fmt.Errorf("%w: the file has changed since the configuration was made", ErrData)
	}
	if stem := stemOf(t); c.Model == "resnet18" && stem != c.stem() {
		return fmt.Errorf("its stem is %q, and the configuration has %q: set stem",
			cmp.Or(stem, "small"), cmp.Or(c.Stem, "small"))
	}
	return l.SetBackbone(t)
}
