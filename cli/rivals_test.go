//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

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

// startTwo begins two runs at the same time, of some thousand steps each, and waits until both have
// been saved.
func startTwo(t *testing.T, out string) *exec.Cmd {
	t.Helper()
	cmd := pclCommand(small(t, "--backend", "go", "--seed", "1,2", "--epochs", "40", "--checkpoint-every", "5", "--jobs",
		"2", "-o", out)...)
	must.Do(t, cmd.Start())
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

// TestJobsThatCannotSave takes the folders of the runs away, so that nothing can be saved: that is
// a failure, names the run, and gives no advice that would not work.
func TestJobsThatCannotSave(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	cmd := startTwo(t, out)
	interrupt(t, cmd, syscall.SIGSTOP) // so that the next thing it does is to save
	must.Do(t, os.Rename(out, out+"-away"))
	must.Do(t, os.WriteFile(out, nil, 0o644))
	interrupt(t, cmd, syscall.SIGTERM)
	interrupt(t, cmd, syscall.SIGCONT)
	ended(t, cmd, exitFailure)
	if said := stderrOf(cmd); strings.Contains(said, "go on with") || !strings.Contains(said, "was not saved") {
		t.Errorf("want a run named as not saved, and no advice to resume: %s", said)
	}
}

// TestOneSignalIsEnough sends one signal to commands that wait for input or are busy.
func TestOneSignalIsEnough(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	t.Run("commands", func(t *testing.T) {
		for name, args := range map[string][]string{
			"weights":       {"weigh", "--method", "mgda"},
			"weights state": {"weigh", "--method", "gradvac", "--state", state},
			"toy":           {"toy", "--steps", "600000", "--method", "emgd-gs,emgd-gmc,nash-mtl,cagrad,fairgrad"},
			"bench":         {"-q", "bench", "step", "--backend", "go", "--steps", "1000000"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				oneSignal(t, args)
			})
		}
	})
	if data, err := os.ReadFile(state); err != nil || !strings.Contains(string(data), `"method":"gradvac"`) {
		t.Errorf("the state after what was answered was not saved: %s, %v", data, expect.Text(err))
	}
}

func oneSignal(t *testing.T, args []string) {
	cmd := pclCommand(args...)
	in := must.Get(cmd.StdinPipe())(t)
	defer in.Close()
	must.Do(t, cmd.Start())
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
