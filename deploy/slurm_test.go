package deploy

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
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

// TestSlurmRefuses has a value for each check, and the words that must be in the error.
func TestSlurmRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Slurm)
		want   string
	}{
		"no grid":             {func(s *Slurm) { s.Grid = "" }, "the grid's name is missing"},
		"flag as grid":        {func(s *Slurm) { s.Grid = "--dir" }, "read as a flag"},
		"path as grid":        {func(s *Slurm) { s.Grid = "../x" }, "a path"},
		"line break":          {func(s *Slurm) { s.Dir = "/a\n#SBATCH --wrap=x" }, "cannot be printed"},
		"relative folder":     {func(s *Slurm) { s.Dir = "grid" }, "not an absolute path"},
		"relative program":    {func(s *Slurm) { s.Program = "pcl" }, "not an absolute path"},
		"relative data":       {func(s *Slurm) { s.DataDir = "data" }, "not an absolute path"},
		"flags of XLA":        {func(s *Slurm) { s.XLAFlags = "a\nb" }, "XLA_FLAGS"},
		"not UTF-8":           {func(s *Slurm) { s.Dir = "/\xff" }, "UTF-8"},
		"no shards":           {func(s *Slurm) { s.Shards = 0 }, "number of shards: 0"},
		"no shards of a task": {func(s *Slurm) { s.PerTask = 0 }, "shards of a task: 0"},
		"negative limit":      {func(s *Slurm) { s.Concurrent = -1 }, "tasks at the same time"},
		"half a minute":       {func(s *Slurm) { s.Limit = 90 * time.Minute / 4 }, "whole number of minutes"},
		"no time to work":     {func(s *Slurm) { s.Limit = 2 * time.Minute }, "nothing is left to work in"},
		"negative time":       {func(s *Slurm) { s.Limit = -time.Hour }, "nothing is left to work in"},
		"endless":             {func(s *Slurm) { s.Limit = 1e5 * time.Hour }, "more than a year"},
		"no grace":            {func(s *Slurm) { s.Grace = 0 }, "grace"},
		"memory":              {func(s *Slurm) { s.Memory = "4 GB" }, "memory"},
		"partition":           {func(s *Slurm) { s.Partition = "a --wrap=x" }, "partition"},
		"partition, line":     {func(s *Slurm) { s.Partition = "a\n#SBATCH -x" }, "partition"},
		"account":             {func(s *Slurm) { s.Account = "$(x)" }, "account"},
		"QOS":                 {func(s *Slurm) { s.QOS = "'" }, "QOS"},
		"processors":          {func(s *Slurm) { s.CPUs = 0 }, "processors"},
		"GPUs":                {func(s *Slurm) { s.GPUs = -1 }, "GPUs"},
	} {
		s := array()
		c.change(&s)
		var out bytes.Buffer
		if err := s.Write(&out); err == nil || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s: error %v, wrote %d bytes; want %q", name, err, out.Len(), c.want)
		}
	}
}
