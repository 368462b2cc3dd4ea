package experiment

import (
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl"
)

// begin has runs begin with the parameters of the trained network in a safetensors file, all but those of the classifier, and
// with its statistics.
func (c *Config) begin(path string) {
	sum, _, err := weights(path)
	fail.When(err != nil, "init: %w", err)
	c.Init, c.InitFile = sum, path
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
func (c Config) pretrain(l *pcl.Learner) {
	if c.Init == "" {
		return
	}
	defer fail.At("config: init")
	fail.When(c.InitFile == "", "%w: the run begins with the network whose file has the SHA-256 %s: say which file that is, by InitFile, init in the TOML file, or --init", ErrData, c.Init)
	defer fail.At(c.InitFile)
	sum, t, err := weights(c.InitFile)
	fail.When(err != nil, "%w: %w", ErrData, err)
	fail.When(sum != c.Init, "%w: the file has changed since the configuration was made", ErrData)
	fail.If(l.SetTrained(t, pcl.Take{Backbone: true}))
}
