package deploy

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

func job() Kubernetes {
	return Kubernetes{
		Grid: "table1-smoke", Image: "registry.example/lab/parallelcl:1.0", Claim: "grids",
		Shards: 40, Jobs: 1, Retries: 10, Grace: 2 * time.Minute, CPUs: 1, Memory: "4Gi",
	}
}

func manifest(t *testing.T, k Kubernetes) string {
	t.Helper()
	var out bytes.Buffer
	if err := k.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestKubernetesGolden(t *testing.T) {
	golden(t, "plain.yaml", manifest(t, job()))
	full := job()
	full.Name, full.Path, full.DataClaim, full.Concurrent = "table-1", "lab/grid", "image-sets", 4
	full.GPUs, full.CPUs, full.Jobs, full.Memory = 1, 3, 3, "16Gi"
	full.User, full.Group, full.XLAFlags = 1000, 100, "--xla_a=$(HOME) --xla_b"
	full.Files = []string{"/data/photos", "/grid/net.safetensors"}
	golden(t, "gpu.yaml", manifest(t, full))
	odd := job()
	odd.Grid = awkwardName
	golden(t, "awkward.yaml", manifest(t, odd))
}

// awkwardName would be something else in YAML, in a shell, and to Kubernetes, if it were not quoted.
const awkwardName = `a: 'b' "c" $(JOB_COMPLETION_INDEX) $$ # {x} é`

// TestKubernetesRefuses has a value for each check.
func TestKubernetesRefuses(t *testing.T) {
	for name, change := range map[string]func(*Kubernetes){
		"no grid":         func(k *Kubernetes) { k.Grid = "" },
		"flag as grid":    func(k *Kubernetes) { k.Grid = "-q" },
		"line break":      func(k *Kubernetes) { k.Grid = "a\nb" },
		"capitals":        func(k *Kubernetes) { k.Name = "Table" },
		"injected name":   func(k *Kubernetes) { k.Name = "a\"\nspec:" },
		"long name":       func(k *Kubernetes) { k.Name = strings.Repeat("a", 61) },
		"long name, 1001": func(k *Kubernetes) { k.Name, k.Shards = strings.Repeat("a", 59), 1001 },
		"no image":        func(k *Kubernetes) { k.Image = "" },
		"image":           func(k *Kubernetes) { k.Image = "a b" },
		"no claim":        func(k *Kubernetes) { k.Claim = "" },
		"claim":           func(k *Kubernetes) { k.Claim = "A_b" },
		"claim of data":   func(k *Kubernetes) { k.DataClaim = "a\n" },
		"absolute path":   func(k *Kubernetes) { k.Path = "/grid" },
		"path outside":    func(k *Kubernetes) { k.Path = "a/../../b" },
		"negative user":   func(k *Kubernetes) { k.User = -1 },
		"large group":     func(k *Kubernetes) { k.Group = math.MaxInt32 + 1 },
		"flags of XLA":    func(k *Kubernetes) { k.XLAFlags = "a\nb" },
		"relative file":   func(k *Kubernetes) { k.Files = []string{"photos"} },
		"file nowhere":    func(k *Kubernetes) { k.Files = []string{"/home/me/photos"} },
		"file outside":    func(k *Kubernetes) { k.Files = []string{"/grid/../photos"} },
		"file of no data": func(k *Kubernetes) { k.Files = []string{"/data/photos"} },
		"no shards":       func(k *Kubernetes) { k.Shards = 0 },
		"too many":        func(k *Kubernetes) { k.Shards = 100_001 },
		"no processes":    func(k *Kubernetes) { k.Jobs = 0 },
		"retries":         func(k *Kubernetes) { k.Retries = -1 },
		"grace":           func(k *Kubernetes) { k.Grace = 0 },
		"half a second":   func(k *Kubernetes) { k.Grace = 1500 * time.Millisecond },
		"no memory":       func(k *Kubernetes) { k.Memory = "" },
		"Slurm's memory":  func(k *Kubernetes) { k.Memory = "4GB" },
		"processors":      func(k *Kubernetes) { k.CPUs = 0 },
		"GPUs":            func(k *Kubernetes) { k.GPUs = -1 },
	} {
		k := job()
		change(&k)
		var out bytes.Buffer
		if err := k.Write(&out); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v, wrote %d bytes", name, err, out.Len())
		}
	}
}
