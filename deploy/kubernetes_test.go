package deploy_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/deploy"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

func job() deploy.Kubernetes {
	return deploy.Kubernetes{
		Job:   deploy.Job{Grid: "table1-smoke", Shards: 40, CPUs: 1},
		Image: "registry.example/lab/parallelcl:1.0", Claim: "grids", User: "65532:65532",
		Jobs: 1, Grace: 2 * time.Minute, Memory: "4Gi",
	}
}

func manifest(t *testing.T, k deploy.Kubernetes) string {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, k.Write(&out))
	return out.String()
}

func TestKubernetesGolden(t *testing.T) {
	golden(t, "plain.yaml", manifest(t, job()))
	full := job()
	full.Path, full.DataClaim, full.Concurrent = "lab/grid", "image-sets", 4
	full.GPUs, full.CPUs, full.Jobs, full.Memory = 1, 3, 3, "16Gi"
	full.User, full.XLAFlags = "1000:100", "--xla_a=$(HOME) --xla_b"
	full.Files = []string{"/data/photos", "/grid/net.safetensors"}
	golden(t, "gpu.yaml", manifest(t, full))
	odd := job()
	odd.Grid = awkwardName
	golden(t, "awkward.yaml", manifest(t, odd))
}

// awkwardName would be something else in YAML, in a shell, and to Kubernetes, if it were not
// quoted.
const awkwardName = `a: 'b' "c" $(JOB_COMPLETION_INDEX) $$ # {x} é`

// TestFiles: files that a grid reads have to be in a volume of the pods.
func TestFiles(t *testing.T) {
	for _, file := range []string{"photos", "/home/me/photos", "/grid/../photos", "/data/photos"} {
		t.Run(file, func(t *testing.T) {
			k := job()
			k.Files = []string{file}
			expect.Refusal(t, "Write", k.Write(new(bytes.Buffer)), "which is in no volume of a pod: put it below /grid, or")
		})
	}
}
