package deploy_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/deploy"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

var regen = flag.Bool("regen", false, "rewrite the golden files")

func array() deploy.Slurm {
	return deploy.Slurm{
		Job: deploy.Job{Grid: "table1-smoke", Shards: 40, CPUs: 1},
		Dir: "/home/me/grid", Program: "/home/me/bin/pcl", PerTask: 1, Limit: time.Hour, Grace: time.Minute,
	}
}

// awkward is a text that does harm wherever it is not quoted.
const awkward = `/a 'b' "c" $(touch pwned) ${HOME} ; touch pwned # \ *: {x}`

// golden compares a rendered file with the one in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *regen {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	if got != string(want) {
		t.Errorf("%s differs; go test ./deploy -regen rewrites it. Now it is\n%s", path, got)
	}
}

func text(t *testing.T, s deploy.Slurm) string {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, s.Write(&out))
	return out.String()
}

func TestSlurmGolden(t *testing.T) {
	golden(t, "plain.sbatch", text(t, array()))
	full := array()
	full.DataDir, full.PerTask, full.Concurrent, full.GPUs, full.CPUs = "/data/sets", 3, 4, 1, 3
	full.XLAFlags = "--xla_a=$(HOME) --xla_b"
	golden(t, "gpu.sbatch", text(t, full))
}

// TestNoTime: of a short limit nothing is left to work in.
func TestNoTime(t *testing.T) {
	s := array()
	s.Limit = 150*time.Second - 1
	expect.Refusal(t, "Write", s.Write(new(bytes.Buffer)), "time limit: of 2m0s nothing is left to work in. Workers end")
}
