package grid

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// Cell is one run, which any number of rows of any number of grids may have in common.
type Cell struct {
	ID     string            `json:"id"`
	Config experiment.Config `json:"config"`
	// InitFile is the file whose checksum the configuration has, if the run begins with a trained network.
	InitFile string `json:"init_file,omitempty"`
	// Seconds is the time that the run was expected to take when the manifest was made; 0 if nothing was known.
	Seconds float64 `json:"seconds,omitempty"`
}

// Compute says how the cells of a grid are computed, as far as their results depend on it.
type Compute struct {
	Backend string `json:"backend"`           // "xla-cuda", "xla-cpu" or "go"
	Threads int    `json:"threads,omitempty"` // of the XLA CPU backend
	TF32    bool   `json:"tf32,omitempty"`    // of a GPU
	Flags   string `json:"xla_flags,omitempty"`
}

// settled returns an error if the environment has a backend compute in another way.
func (c Compute) settled() error {
	if c.Backend == backend.Go {
		return nil
	}
	if now := backend.XLAFlags(); now != c.Flags {
		return fmt.Errorf("XLA_FLAGS is %q here, and was %q when the grid was planned: results may differ", now, c.Flags)
	}
	if c.Backend == backend.XLACUDA && !c.TF32 && os.Getenv("NVIDIA_TF32_OVERRIDE") == "1" {
		return errors.New("NVIDIA_TF32_OVERRIDE=1 has products rounded, and the grid was planned without --tf32: unset it")
	}
	return nil
}

// checked leaves out what the backend ignores, so that it does not tell cells apart.
func (c Compute) checked() (Compute, error) {
	switch c.Backend {
	case backend.XLACPU:
		c.Threads, c.TF32 = max(1, c.Threads), false
	case backend.XLACUDA:
		c.Threads = 0
	case backend.Go:
		c.Threads, c.TF32, c.Flags = 0, false, ""
	default:
		return c, fmt.Errorf("grid: the backend %q is none of %s, %s and %s", c.Backend, backend.XLACUDA, backend.XLACPU, backend.Go)
	}
	return c, nil
}

// cellID returns the hash of all that the result of a run depends on: its configuration, the program, how it
// computes, and the published checksums of the data. What is missing is the machine: backends round differently on
// different processors.
func cellID(c experiment.Config, program string, how Compute) (string, error) {
	return hash(struct {
		Config  experiment.Config `json:"config"`
		Program string            `json:"program"`
		Compute Compute           `json:"compute"`
		Data    []datasets.File   `json:"data"`
	}{c, program, how, dataFiles(c.Dataset)})
}

// ready returns the configuration with the file that its run begins with.
func (c Cell) ready() experiment.Config {
	out := c.Config
	out.InitFile = c.InitFile
	return out
}

// hash returns the first 16 hexadecimal digits of the SHA-256 of a value's JSON.
func hash(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("grid: %w", err)
	}
	return sumOf(data), nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum[:8])
}

// dataFiles returns the files of a data set with their checksums; a generated set has none.
func dataFiles(name string) []datasets.File {
	for _, info := range datasets.List() {
		if info.Name == name {
			return info.Files
		}
	}
	return nil
}
