package experiment

import (
	"crypto/sha256"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl"
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
	return l.SetBackbone(t)
}
