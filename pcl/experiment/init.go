package experiment

import (
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/parallelcl/parallelcl/pcl"
)

// UseWeights has runs begin with the parameters of the trained network in a safetensors file, all but those of the
// classifier, and with its statistics. The configuration holds the file's SHA-256; a configuration that is read from a
// result has to be told the file again.
func (c *Config) UseWeights(path string) error {
	sum, _, err := weights(path)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if c.Init != "" && c.Init != sum {
		return fmt.Errorf("init: %s has the SHA-256 %s, want %s", path, sum, c.Init)
	}
	c.Init, c.InitFile = sum, path
	return nil
}

// weights reads a trained network, and returns the checksum of its file.
func weights(path string) (sum string, t *pcl.Trained, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		t, err = pcl.LoadTrained(path)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), t, err
}

// pretrain gives a new learner the parameters that the run begins with.
func (c Config) pretrain(l *pcl.Learner) error {
	if c.InitFile == "" {
		return fmt.Errorf("config: init: %w: the run begins with the network whose file has the SHA-256 %s: say which file that is, by UseWeights, init in the TOML file, or --init", ErrData, c.Init)
	}
	sum, t, err := weights(c.InitFile)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrData, err)
	case sum != c.Init:
		err = fmt.Errorf("%w: the file has changed since the configuration was made", ErrData)
	default:
		err = l.SetTrained(t, pcl.Take{Backbone: true})
	}
	if err != nil {
		err = fmt.Errorf("config: init: %s: %w", c.InitFile, err)
	}
	return err
}
