package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// TestAdvise checks that an interruption claims no checkpoint that is not there, and what else helps where.
func TestAdvise(t *testing.T) {
	c, config := &runCmd{Out: t.TempDir()}, experiment.DefaultConfig("glyphs")
	other := errors.New("other")
	if err := c.advise(other, config); err != other {
		t.Errorf("another error became %v", err)
	}
	err := c.advise(experiment.ErrInterrupted, config)
	if !errors.Is(err, experiment.ErrInterrupted) || strings.Contains(err.Error(), "saved") || !strings.HasSuffix(err.Error(), "--resume") {
		t.Errorf("with nothing saved: %v", err)
	}
	if err := os.MkdirAll(c.dir(config), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir(config), "checkpoint-000000007.pcl"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.advise(experiment.ErrInterrupted, config); !strings.Contains(err.Error(), "saved in "+c.dir(config)) {
		t.Errorf("with a checkpoint: %v", err)
	}
	full := &experiment.UnsavedError{Dir: "folder", Err: errors.New("disk full")}
	if err := c.advise(full, config); errors.Is(err, experiment.ErrInterrupted) || !strings.Contains(err.Error(), "disk full") || strings.Contains(err.Error(), "--resume") {
		t.Errorf("where saving failed: %v, want a failure that says why", err)
	}
	for err, want := range map[error]string{
		experiment.ErrUnfinished: "--replace",
		experiment.ErrForeign:    "--replace",
		experiment.ErrUnrecorded: "--replace",
		error(&experiment.DamagedError{Err: other, Whole: "older.pcl"}): "--checkpoint older.pcl",
		error(&experiment.DamagedError{Err: other}):                     "--replace",
	} {
		if got := c.advise(err, config); !errors.Is(got, err) || !strings.Contains(got.Error(), want) {
			t.Errorf("%v: the advice is %v, want %s", err, got, want)
		}
	}
}

// TestQuoted lets a shell take the advice apart again.
func TestQuoted(t *testing.T) {
	args := []string{"run", "-o", "a b", "it's", "$HOME", "~", "`x`", "#1", "", "*", "a\\b", "[x]", "{a,b}", "é", "x\ny", "tau=1", "!x"}
	out, err := exec.Command("sh", "-c", "printf '%s|' "+strings.Join(quoted(args), " ")).Output()
	if err != nil {
		t.Skipf("no shell to try: %v", err)
	}
	if want := strings.Join(args, "|") + "|"; string(out) != want {
		t.Errorf("a shell reads %q, want %q", out, want)
	}
	again := quoted([]string{"run", "--resume", "--checkpoint", "old.pcl", "--checkpoint=old.pcl", "--checkpoint-every", "5", "-q"})
	if got, want := strings.Join(again, " "), "run --checkpoint-every 5 -q"; got != want {
		t.Errorf("the command to go on with is %q, want %q", got, want)
	}
	old := os.Args
	defer func() { os.Args = old }()
	os.Args = []string{"pcl", "run", "-q", "--"}
	if got, want := goOn(), "go on with: pcl run -q --resume --"; got != want {
		t.Errorf("the advice is %q, want %q", got, want)
	}
}
