//go:build unix

package cli

import (
	"encoding/json"
	"errors"
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

// workers are the processes that work in the folders of runs below a folder.
func workers(t *testing.T, out string) []int {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(out, "*", ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, path := range locks {
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // ended in the meantime
		}
		var holder struct{ PID int }
		if err == nil && len(data) > 1 {
			err = json.Unmarshal(data[1:], &holder)
		}
		if err != nil {
			t.Fatal(err)
		}
		if holder.PID > 0 && syscall.Kill(holder.PID, 0) == nil {
			pids = append(pids, holder.PID)
		}
	}
	return pids
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

// long are the arguments of two runs in two processes, of some thousand steps each.
func long(t *testing.T, out string, more ...string) []string {
	return append(small(t, "--backend", "go", "--seed", "1,2", "--epochs", "40", "--checkpoint-every", "5", "--jobs", "2", "-o", out), more...)
}

// startLong begins them and waits until both have saved something.
func startLong(t *testing.T, out string) *exec.Cmd {
	t.Helper()
	cmd := pclCommand(long(t, out)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	until(t, "checkpoints of two processes", func() bool {
		for seed := 1; seed <= 2; seed++ {
			saved, err := filepath.Glob(filepath.Join(out, fmt.Sprintf("*-s%d-*", seed), "*.pcl"))
			if err != nil || len(saved) == 0 {
				return false
			}
		}
		return len(workers(t, out)) == 2
	})
	return cmd
}

// TestJobsInterrupted sends one signal, as to a service, and one to each process, as a terminal does.
func TestJobsInterrupted(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		out := t.TempDir()
		cmd := startLong(t, out)
		interrupt(t, cmd, os.Interrupt)
		if terminal {
			for _, pid := range workers(t, out) {
				syscall.Kill(pid, syscall.SIGINT)
			}
		}
		ended(t, cmd, exitInterrupted)
		if said := stderrOf(cmd); !strings.Contains(said, "go on with: pcl -q run") || len(workers(t, out)) > 0 {
			t.Errorf("no advice, or workers are left: %s", said)
		}
	}
}

// TestJobsWithoutTheirParent kills the process that began the others: they end, and write no more.
func TestJobsWithoutTheirParent(t *testing.T) {
	out := t.TempDir()
	cmd := startLong(t, out)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	until(t, "the end of all processes", func() bool { return len(workers(t, out)) == 0 })
	before := contents(t, out)
	time.Sleep(200 * time.Millisecond)
	after := contents(t, out)
	for path, data := range after {
		if before[path] != data {
			t.Errorf("%s was written to", path)
		}
	}
	if results, _ := filepath.Glob(filepath.Join(out, "*", "result.json")); len(results) > 0 || len(after) == 0 {
		t.Errorf("the runs went on to their end: %v", results)
	}
}

// TestJobsKilledChild ends with a failure that says how to go on.
func TestJobsKilledChild(t *testing.T) {
	out := t.TempDir()
	cmd := startLong(t, out)
	pids := workers(t, out)
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	interruptSoon := time.AfterFunc(300*time.Millisecond, func() { syscall.Kill(pids[1], syscall.SIGTERM) })
	defer interruptSoon.Stop()
	ended(t, cmd, exitFailure)
	if said := stderrOf(cmd); !strings.Contains(said, "signal: killed") || !strings.Contains(said, "go on with: pcl -q run") {
		t.Errorf("the error does not say how to go on: %s", said)
	}
}

// TestJobsThatCannotSave takes the folders of the runs away, so that nothing can be saved: that is a failure, names
// the run, and gives no advice that would not work.
func TestJobsThatCannotSave(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	cmd := startLong(t, out)
	pids := workers(t, out)
	for _, pid := range pids { // so that the next thing they do is to save
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	if err := os.Rename(out, out+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	interrupt(t, cmd, syscall.SIGTERM)
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGCONT)
	}
	ended(t, cmd, exitFailure)
	said := stderrOf(cmd)
	if strings.Contains(said, "--resume") || strings.Count(said, "was not saved") != 2 || !strings.Contains(said, "-s1-") || !strings.Contains(said, "-s2-") {
		t.Errorf("want both runs named as not saved, and no advice to resume: %s", said)
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
