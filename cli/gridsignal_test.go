//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
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
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	dir = t.TempDir()
	data := tinySet(t)
	return dir, []string{"-q", "grid", "run", file, "--backend", "go", "--dir", dir, "--data-dir", data,
		"--checkpoint-every", "5"}
}

// TestGridSignal sends what schedulers send: the run is saved, and in the end has the bits of a run
// that nobody disturbed.
func TestGridSignal(t *testing.T) {
	dir, args := gridOf(t)
	cmd := pclCommand(args...)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	until(t, "a checkpoint", func() bool { return len(files(t, dir, ".pcl")) > 0 })
	interrupt(t, cmd, syscall.SIGUSR1)
	ended(t, cmd, exitInterrupted)
	again := pclCommand(append(args, "--jobs", "2")...)
	if err := again.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(again))
	}
	result := must.Get(os.ReadFile(filepath.Join(onlyFolder(t, dir), "result.json")))(t)
	if want := baseline(t, unhurried...).Result; withoutMeasured(t, string(result)) != want {
		t.Errorf("the result is %s, undisturbed it is %s", result, want)
	}
}
