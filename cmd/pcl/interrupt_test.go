//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// start begins a run and waits for its first checkpoint.
func start(t *testing.T, out string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := pclCommand(append(args, "-o", out)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); len(files(t, out, ".pcl")) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			t.Fatalf("no checkpoint after a minute: %v\n%s", cmd.Wait(), stderrOf(cmd))
		}
	}
	return cmd
}

func interrupt(t *testing.T, cmd *exec.Cmd, s os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestInterrupt sends what Ctrl-C and `kill` send: the run is saved, and the last line is a command
// that takes it to the end that it would have had.
func TestInterrupt(t *testing.T) {
	want := baseline(t, "--backend", "go")
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "it's $HOME")
			cmd := start(t, out, small(t, "--backend", "go", "--checkpoint-every", "5")...)
			interrupt(t, cmd, s)
			if cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
				t.Fatalf("%v, want exit code %d\n%s", cmd.ProcessState, exitInterrupted, stderrOf(cmd))
			}
			if len(files(t, out, ".pcl")) == 0 {
				t.Error("no checkpoint is left")
			}
			lines := strings.Split(strings.TrimSpace(stderrOf(cmd)), "\n")
			advice := regexp.MustCompile(`^pcl: the run was interrupted and saved in .*; go on with: (pcl .* --resume)$`).FindStringSubmatch(lines[len(lines)-1])
			if advice == nil {
				t.Fatalf("the last line does not say how to go on: %s", lines[len(lines)-1])
			}
			if text, err := exec.Command("sh", "-c", advice[1]).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", advice[1], err, text)
			}
			left(t, out).same(t, want)
		})
	}
}

// TestSecondInterruptEndsAtOnce interrupts a run whose steps take a second.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	config := filepath.Join(t.TempDir(), "slow.toml")
	if err := os.WriteFile(config, []byte("hidden = [1024, 1024]\nbatch = 512\nepochs = 100\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := start(t, t.TempDir(), "run", "--backend", "go", "--config", config, "--checkpoint-every", "1")
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	interrupt(t, cmd, os.Interrupt)
	for {
		select {
		case err := <-done:
			if err == nil || err.Error() != "signal: interrupt" {
				t.Errorf("the run ended with %v, want it ended by the signal\n%s", err, stderrOf(cmd))
			}
			return
		case <-time.After(20 * time.Millisecond):
			cmd.Process.Signal(os.Interrupt)
		}
	}
}
