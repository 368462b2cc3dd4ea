//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// contents is what lies in a folder, by path, without the locks of those who work there.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".lock" {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// until waits for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after a minute", what)
		}
	}
}

// ended waits for a process and checks its exit code.
func ended(t *testing.T, cmd *exec.Cmd, code int) {
	t.Helper()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != code {
		t.Fatalf("%v: %v, want exit code %d\n%s", cmd.Args, err, code, stderrOf(cmd))
	}
}

// TestRivals begins a run twice: the second is told who has the folder, and touches nothing; the first ends as
// if it had been alone. A third finds it finished.
func TestRivals(t *testing.T) {
	out := t.TempDir()
	args := small(t, append(unhurried, "--checkpoint-every", "5")...)
	first := start(t, out, 1, args...)
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := contents(t, out)
	for _, more := range [][]string{nil, {"--resume"}, {"--replace"}, {"--jobs", "2"}} {
		second := pclCommand(slices.Concat(args, more, []string{"-o", out})...)
		if err := second.Run(); second.ProcessState.ExitCode() != exitFailure {
			t.Errorf("%v beside another: %v", more, err)
		}
		if said := stderrOf(second); !strings.Contains(said, fmt.Sprintf("in use by process %d on ", first.Process.Pid)) {
			t.Errorf("%v: the holder is not named: %s", more, said)
		}
	}
	for path, data := range contents(t, out) {
		if before[path] != data {
			t.Errorf("%s was changed", path)
		}
		delete(before, path)
	}
	if len(before) > 0 {
		t.Errorf("removed: %d files", len(before))
	}
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	ended(t, first, 0)
	left(t, out).same(t, baseline(t, unhurried...))
	third := pclCommand(append(args, "-o", out)...)
	if err := third.Run(); err != nil {
		t.Errorf("the finished run again: %v\n%s", err, stderrOf(third))
	}
}

// TestRerunKeepsProgress begins an interrupted run again without a word about it, and then with each.
func TestRerunKeepsProgress(t *testing.T) {
	out := t.TempDir()
	args := small(t, append(unhurried, "--checkpoint-every", "5")...)
	cmd := start(t, out, 2, args...)
	interrupt(t, cmd, os.Interrupt)
	ended(t, cmd, exitInterrupted)
	before := contents(t, out)
	for _, more := range [][]string{nil, {"--jobs", "2"}} {
		again := pclCommand(slices.Concat(args, more, []string{"-o", out})...)
		if err := again.Run(); again.ProcessState.ExitCode() != exitUsage {
			t.Errorf("%v: %v, want exit code %d", more, err, exitUsage)
		}
		if said := stderrOf(again); !regexp.MustCompile(`an unfinished run, saved at step \d+.*--resume.*--replace`).MatchString(said) {
			t.Errorf("%v: the choice is not named: %s", more, said)
		}
	}
	anew := pclCommand(append(args, "--replace", "-o", out)...)
	if err := anew.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "a checkpoint of the replacement", func() bool {
		saved, err := filepath.Glob(filepath.Join(out, "*", "replacement", "*.pcl"))
		return err == nil && len(saved) > 0
	})
	if err := anew.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	anew.Wait()
	now := contents(t, out)
	for path, data := range before {
		if now[path] != data {
			t.Errorf("--replace, killed, had changed %s", path)
		}
	}
	if err := pclCommand(append(args, "--replace", "--resume", "-o", out)...).Run(); err != nil {
		t.Fatal(err)
	}
	left(t, out).same(t, baseline(t, unhurried...))
	if after := contents(t, out); len(after) != 3 {
		t.Errorf("%d files are left, want three", len(after))
	}
}

// startTwo begins two runs at the same time, of some thousand steps each, and waits until both have been saved.
func startTwo(t *testing.T, out string) *exec.Cmd {
	t.Helper()
	cmd := pclCommand(small(t, "--backend", "go", "--seed", "1,2", "--epochs", "40", "--checkpoint-every", "5", "--jobs", "2", "-o", out)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	until(t, "checkpoints of two runs", func() bool {
		for seed := 1; seed <= 2; seed++ {
			saved, err := filepath.Glob(filepath.Join(out, fmt.Sprintf("*-s%d-*", seed), "*.pcl"))
			if err != nil || len(saved) == 0 {
				return false
			}
		}
		return true
	})
	return cmd
}

// TestJobsInterrupted: one signal saves all runs in progress.
func TestJobsInterrupted(t *testing.T) {
	out := t.TempDir()
	cmd := startTwo(t, out)
	interrupt(t, cmd, os.Interrupt)
	ended(t, cmd, exitInterrupted)
	if said := stderrOf(cmd); !strings.Contains(said, "go on with: pcl -q run") {
		t.Errorf("no advice: %s", said)
	}
}

// TestJobsThatCannotSave takes the folders of the runs away, so that nothing can be saved: that is a failure, names
// the run, and gives no advice that would not work.
func TestJobsThatCannotSave(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	cmd := startTwo(t, out)
	interrupt(t, cmd, syscall.SIGSTOP) // so that the next thing it does is to save
	if err := os.Rename(out, out+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	interrupt(t, cmd, syscall.SIGTERM)
	interrupt(t, cmd, syscall.SIGCONT)
	ended(t, cmd, exitFailure)
	if said := stderrOf(cmd); strings.Contains(said, "--resume") || !strings.Contains(said, "was not saved") {
		t.Errorf("want a run named as not saved, and no advice to resume: %s", said)
	}
}

// TestOneSignalIsEnough sends one signal to commands that wait for input or are busy.
func TestOneSignalIsEnough(t *testing.T) {
	silent := filepath.Join(t.TempDir(), "silent.ipynb") // a pipe that nobody writes to
	if err := syscall.Mkfifo(silent, 0o644); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state.json")
	t.Run("commands", func(t *testing.T) {
		for name, args := range map[string][]string{
			"weights":       {"weights", "--method", "mgda"},
			"weights state": {"weights", "--method", "gradvac", "--state", state},
			"toy":           {"toy", "--steps", "600000", "--method", "emgd-gs,emgd-gmc,nash-mtl,cagrad,fairgrad"},
			"report":        {"report", silent, "-o", silent + ".html"},
			"bench":         {"-q", "bench", "step", "--backend", "go", "--steps", "1000000"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				oneSignal(t, args)
			})
		}
	})
	if data, err := os.ReadFile(state); err != nil || !strings.Contains(string(data), `"method":"gradvac"`) {
		t.Errorf("the state after what was answered was not saved: %s, %v", data, err)
	}
}

func oneSignal(t *testing.T, args []string) {
	cmd := pclCommand(args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	fmt.Fprintln(in, base)
	time.Sleep(time.Second) // it is at work, or waits
	began := time.Now()
	interrupt(t, cmd, syscall.SIGTERM)
	ended(t, cmd, exitInterrupted)
	if said, took := stderrOf(cmd), time.Since(began); took > 20*time.Second || said != "pcl: interrupted\n" {
		t.Errorf("ended after %v, said %q", took, said)
	}
}
