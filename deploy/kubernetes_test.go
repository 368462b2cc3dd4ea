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

// TestKubernetesRefuses has a value for each check, and the words that must be in the error.
func TestKubernetesRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Kubernetes)
		want   string
	}{
		"no grid":         {func(k *Kubernetes) { k.Grid = "" }, "the grid's name is missing"},
		"flag as grid":    {func(k *Kubernetes) { k.Grid = "-q" }, "read as a flag"},
		"line break":      {func(k *Kubernetes) { k.Grid = "a\nb" }, "cannot be printed"},
		"capitals":        {func(k *Kubernetes) { k.Name = "Table" }, "the Job's name"},
		"injected name":   {func(k *Kubernetes) { k.Name = "a\"\nspec:" }, "the Job's name"},
		"long name":       {func(k *Kubernetes) { k.Name = strings.Repeat("a", 61) }, "longer than 60 characters"},
		"long name, 1001": {func(k *Kubernetes) { k.Name, k.Shards = strings.Repeat("a", 59), 1001 }, "longer than 58 characters"},
		"no image":        {func(k *Kubernetes) { k.Image = "" }, "the image is missing"},
		"image":           {func(k *Kubernetes) { k.Image = "a b" }, "the image"},
		"no claim":        {func(k *Kubernetes) { k.Claim = "" }, "the volume claim is missing"},
		"claim":           {func(k *Kubernetes) { k.Claim = "A_b" }, "the volume claim"},
		"claim of data":   {func(k *Kubernetes) { k.DataClaim = "a\n" }, "the claim of the data"},
		"absolute path":   {func(k *Kubernetes) { k.Path = "/grid" }, "the path in the volume"},
		"path outside":    {func(k *Kubernetes) { k.Path = "a/../../b" }, "the path in the volume"},
		"negative user":   {func(k *Kubernetes) { k.User = -1 }, "the user's ID"},
		"large group":     {func(k *Kubernetes) { k.Group = math.MaxInt32 + 1 }, "the group's ID"},
		"flags of XLA":    {func(k *Kubernetes) { k.XLAFlags = "a\nb" }, "XLA_FLAGS"},
		"relative file":   {func(k *Kubernetes) { k.Files = []string{"photos"} }, "write the whole path in the grid's file"},
		"file nowhere":    {func(k *Kubernetes) { k.Files = []string{"/home/me/photos"} }, "in no volume of a pod"},
		"file outside":    {func(k *Kubernetes) { k.Files = []string{"/grid/../photos"} }, "in no volume of a pod"},
		"file of no data": {func(k *Kubernetes) { k.Files = []string{"/data/photos"} }, "in no volume of a pod"},
		"no shards":       {func(k *Kubernetes) { k.Shards = 0 }, "number of shards"},
		"too many":        {func(k *Kubernetes) { k.Shards = 100_001 }, "number of shards"},
		"no processes":    {func(k *Kubernetes) { k.Jobs = 0 }, "processes of a pod"},
		"retries":         {func(k *Kubernetes) { k.Retries = -1 }, "retries"},
		"grace":           {func(k *Kubernetes) { k.Grace = 0 }, "grace"},
		"half a second":   {func(k *Kubernetes) { k.Grace = 1500 * time.Millisecond }, "whole number of seconds"},
		"no memory":       {func(k *Kubernetes) { k.Memory = "" }, "memory is missing"},
		"Slurm's memory":  {func(k *Kubernetes) { k.Memory = "4GB" }, "memory"},
		"processors":      {func(k *Kubernetes) { k.CPUs = 0 }, "processors"},
		"GPUs":            {func(k *Kubernetes) { k.GPUs = -1 }, "GPUs"},
	} {
		k := job()
		c.change(&k)
		var out bytes.Buffer
		if err := k.Write(&out); err == nil || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s: error %v, wrote %d bytes; want %q", name, err, out.Len(), c.want)
		}
	}
}
