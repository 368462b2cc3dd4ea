//go:build unix

package cli

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// gridOf writes a grid of one run, that of small with the arguments unhurried.
func gridOf(t *testing.T) (dir string, args []string) {
	t.Helper()
	text := `
		title = "One run"
		datasets = ["M"]
		methods = ["GMC"]
		increments = ["task"]
		labelsets = [0]
		timelines = [0]
		seeds = [1234]
		[set]
		batch = 8
		epochs = 15
		hidden = [32, 16]
		memory = {budget = 2}
		[dataset.M]
		dataset = "mnist-test80"
		[method.GMC]
		method = "emgd-gmc"
	`
	file := filepath.Join(t.TempDir(), "one.toml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	data := tinySet(t)
	return dir, []string{"-q", "grid", "run", file, "--backend", "go", "--dir", dir, "--data-dir", data, "--checkpoint-every", "5"}
}

// TestGridSignal sends what schedulers send: the run is saved, and in the end has the bits of a run that nobody disturbed.
func TestGridSignal(t *testing.T) {
	dir, args := gridOf(t)
	cmd := pclCommand(args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	until(t, "a checkpoint", func() bool { return len(files(t, dir, ".pcl")) > 0 })
	interrupt(t, cmd, syscall.SIGUSR1)
	ended(t, cmd, exitInterrupted)
	again := pclCommand(append(args, "--jobs", "2")...)
	if err := again.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(again))
	}
	if model, want := exportedModel(t, dir, args), baseline(t, unhurried...).Model; model != want {
		t.Errorf("the model is %s, undisturbed it is %s", model, want)
	}
}

// exportedModel returns the hash of the only model that a grid has.
func exportedModel(t *testing.T, dir string, args []string) string {
	t.Helper()
	cmd := pclCommand("-q", "export", "csv", args[3], "--dir", dir, "--data-dir", args[9])
	if err := cmd.Run(); err != nil {
		t.Fatal(stderrOf(cmd))
	}
	lines, err := csv.NewReader(cmd.Stdout.(*bytes.Buffer)).ReadAll()
	if err != nil || len(lines) != 2 {
		t.Fatalf("lines %v (%v)", lines, err)
	}
	return lines[1][slices.Index(lines[0], "model_sha256")]
}
