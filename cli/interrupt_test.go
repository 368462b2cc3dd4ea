//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// unhurried are the arguments of a small run that goes on for half a second after its first
// checkpoint, so that it is still at work when a busy machine comes to look.
var unhurried = []string{"--backend", "go", "--epochs", "15"}

// start begins a run and waits until it has made some checkpoints.
func start(t *testing.T, out string, checkpoints int, args ...string) *exec.Cmd {
	t.Helper()
	cmd := pclCommand(append(args, "-o", out)...)
	must.Do(t, cmd.Start())
	for deadline := time.Now().Add(time.Minute); len(files(t, out, ".pcl")) < checkpoints; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			t.Fatalf("too few checkpoints after a minute: %v\n%s", cmd.Wait(), stderrOf(cmd))
		}
	}
	return cmd
}

func interrupt(t *testing.T, cmd *exec.Cmd, s os.Signal) {
	t.Helper()
	must.Do(t, cmd.Process.Signal(s))
}

// catchHangUp makes the programs that a test begins receive SIGHUP, also where nohup began the test
// itself.
func catchHangUp(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(c) })
}

// TestNohup: a run that nohup began goes on when its terminal closes.
func TestNohup(t *testing.T) {
	want := baseline(t, unhurried...)
	out := t.TempDir()
	signal.Ignore(syscall.SIGHUP) // which programs inherit
	defer signal.Reset(syscall.SIGHUP)
	cmd := start(t, out, 1, small(t, append(unhurried, "--checkpoint-every", "5")...)...)
	interrupt(t, cmd, syscall.SIGHUP)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(cmd))
	}
	left(t, out).same(t, want)
}

// TestInterrupt sends what Ctrl-C, `kill` and a terminal that closes send: the run is saved, and
// the last line is a command that takes it to the end that it would have had.
func TestInterrupt(t *testing.T) {
	want := baseline(t, unhurried...)
	catchHangUp(t)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "it's $HOME")
			cmd := start(t, out, 1, small(t, append(unhurried, "--checkpoint-every", "5")...)...)
			interrupt(t, cmd, s)
			if s == syscall.SIGHUP { // the second one, of the shell
				time.Sleep(time.Millisecond)
				cmd.Process.Signal(s)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
				t.Fatalf("%v, want exit code %d\n%s", err, exitInterrupted, stderrOf(cmd))
			}
			if len(files(t, out, ".pcl")) == 0 {
				t.Error("no checkpoint is left")
			}
			lines := strings.Split(strings.TrimSpace(stderrOf(cmd)), "\n")
			advice := regexp.MustCompile(`^pcl: the run was interrupted; go on with: (pcl .*)$`).FindStringSubmatch(
				lines[len(lines)-1])
			if advice == nil {
				t.Fatalf("the last line does not say how to go on: %s", lines[len(lines)-1])
			}
			if s != os.Interrupt {
				return // the same way from here on
			}
			if text, err := exec.Command("sh", "-c", advice[1]).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", advice[1], err, text)
			}
			left(t, out).same(t, want)
		})
	}
}

// TestInterruptedBeforeItBegan: there is nothing to save yet, and the message says no more than
// that.
func TestInterruptedBeforeItBegan(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGUSR2)
	defer stop()
	must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGUSR2))
	<-ctx.Done()
	var stdout, stderr bytes.Buffer
	rc := &runContext{ctx: ctx, stdout: &stdout, stderr: &stderr}
	args := []string{"data", "preview", "glyphs", "--out", filepath.Join(t.TempDir(), "x.png")}
	if code := execute(rc, args); code != exitInterrupted || stderr.String() != "pcl: interrupted\n" {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}

// TestSecondInterruptEndsAtOnce interrupts a run whose steps take a second.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	config := filepath.Join(t.TempDir(), "slow.toml")
	must.Do(t, os.WriteFile(config, []byte("hidden = [1024, 1024]\nbatch = 512\nepochs = 100\n"), 0o644))
	cmd := start(t, t.TempDir(), 1, "run", "--backend", "go", "--config", config, "--checkpoint-every", "1")
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	interrupt(t, cmd, os.Interrupt)
	for {
		select {
		case err := <-done:
			if err == nil || err.Error() != "signal: interrupt" {
				t.Errorf("the run ended with %v, want it ended by the signal\n%s", expect.Text(err), stderrOf(cmd))
			}
			return
		case <-time.After(20 * time.Millisecond):
			if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
		}
	}
}
