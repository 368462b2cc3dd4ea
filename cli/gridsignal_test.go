//go:build unix

package cli

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
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

// TestGridSignals sends what schedulers send, and what nobody can catch: the run is saved where that is possible,
// and in the end has the bits of a run that nobody disturbed.
func TestGridSignals(t *testing.T) {
	want := baseline(t, unhurried...)
	for _, s := range []os.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			dir, args := gridOf(t)
			cmd := pclCommand(args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitForCheckpoint(t, dir, cmd)
			interrupt(t, cmd, s)
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); s != syscall.SIGKILL && code != exitInterrupted {
				t.Errorf("exit code %d, said %s", code, stderrOf(cmd))
			}
			again := pclCommand(append(args, "--jobs", "2")...)
			if err := again.Run(); err != nil {
				t.Fatalf("%v\n%s", err, stderrOf(again))
			}
			if model := exportedModel(t, dir, args); model != want.Model {
				t.Errorf("the model is %s, undisturbed it is %s", model, want.Model)
			}
		})
	}
}

// waitForCheckpoint waits until a run has been saved once.
func waitForCheckpoint(t *testing.T, dir string, cmd *exec.Cmd) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		saved, err := filepath.Glob(filepath.Join(dir, "*", "checkpoint-*.pcl"))
		if err != nil {
			t.Fatal(err)
		}
		if len(saved) > 0 {
			return
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			t.Fatalf("no checkpoint after a minute: %v\n%s", cmd.Wait(), stderrOf(cmd))
		}
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
