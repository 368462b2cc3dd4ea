package deploy

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var regen = flag.Bool("regen", false, "rewrite the golden files")

func array() Slurm {
	return Slurm{
		Grid: "table1-smoke", Dir: "/home/me/grid", Program: "/home/me/bin/pcl",
		Shards: 40, PerTask: 1, Limit: time.Hour, Grace: time.Minute, CPUs: 1,
	}
}

// awkward is a text that does harm wherever it is not quoted.
const awkward = `/a 'b' "c" $(touch pwned) ${HOME} ; touch pwned # \ *: {x}`

// golden compares a rendered file with the one in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *regen {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./deploy -regen rewrites it. Now it is\n%s", path, got)
	}
}

func text(t *testing.T, s Slurm) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSlurmGolden(t *testing.T) {
	golden(t, "plain.sbatch", text(t, array()))
	full := array()
	full.DataDir, full.PerTask, full.Concurrent, full.GPUs, full.CPUs = "/data/sets", 3, 4, 1, 3
	full.Memory, full.Partition, full.Account, full.QOS = "16G", "gpu", "lab_1", "high"
	full.XLAFlags = "--xla_a=$(HOME) --xla_b"
	golden(t, "gpu.sbatch", text(t, full))
}

// TestSlurmRefuses has a value for each check.
func TestSlurmRefuses(t *testing.T) {
	for name, change := range map[string]func(*Slurm){
		"no grid":             func(s *Slurm) { s.Grid = "" },
		"flag as grid":        func(s *Slurm) { s.Grid = "--dir" },
		"path as grid":        func(s *Slurm) { s.Grid = "../x" },
		"line break":          func(s *Slurm) { s.Dir = "/a\n#SBATCH --wrap=x" },
		"relative folder":     func(s *Slurm) { s.Dir = "grid" },
		"relative program":    func(s *Slurm) { s.Program = "pcl" },
		"relative data":       func(s *Slurm) { s.DataDir = "data" },
		"flags of XLA":        func(s *Slurm) { s.XLAFlags = "a\nb" },
		"not UTF-8":           func(s *Slurm) { s.Dir = "/\xff" },
		"no shards":           func(s *Slurm) { s.Shards = 0 },
		"no shards of a task": func(s *Slurm) { s.PerTask = 0 },
		"negative limit":      func(s *Slurm) { s.Concurrent = -1 },
		"half a minute":       func(s *Slurm) { s.Limit = 90 * time.Minute / 4 },
		"no time to work":     func(s *Slurm) { s.Limit = 2 * time.Minute },
		"negative time":       func(s *Slurm) { s.Limit = -time.Hour },
		"endless":             func(s *Slurm) { s.Limit = 1e5 * time.Hour },
		"no grace":            func(s *Slurm) { s.Grace = 0 },
		"memory":              func(s *Slurm) { s.Memory = "4 GB" },
		"partition":           func(s *Slurm) { s.Partition = "a --wrap=x" },
		"partition, line":     func(s *Slurm) { s.Partition = "a\n#SBATCH -x" },
		"account":             func(s *Slurm) { s.Account = "$(x)" },
		"QOS":                 func(s *Slurm) { s.QOS = "'" },
		"processors":          func(s *Slurm) { s.CPUs = 0 },
		"GPUs":                func(s *Slurm) { s.GPUs = -1 },
	} {
		s := array()
		change(&s)
		var out bytes.Buffer
		if err := s.Write(&out); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v, wrote %d bytes", name, err, out.Len())
		}
	}
}
