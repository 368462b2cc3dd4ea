package cli

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// TestPrintable: whatever an error or a table quotes, the terminal is not at its mercy.
func TestPrintable(t *testing.T) {
	const escapes = "\x1b[2J\x1b]0;owned\a\u009b31m\u202e"
	var said, table bytes.Buffer
	if code := exitCode(&runContext{ctx: t.Context(), stderr: &said},
		errors.New("the file says "+escapes)); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	must.Do(t, newTable("NAME", "TITLE").row("odd"+escapes, "title\n").print(&table))
	for _, text := range []string{said.String(), table.String()} {
		t.Run(text, func(t *testing.T) {
			if strings.ContainsAny(text, "\x1b\a\u009b\u202e") || !strings.Contains(text, `\x1b[2J`) {
				t.Errorf("printed %q", text)
			}
		})
	}
	if n := strings.Count(table.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %q", n, table.String())
	}
}

// TestFigures: the line about a run's progress fits a narrow terminal.
func TestFigures(t *testing.T) {
	halfway := experiment.Progress{Step: 50, Steps: 100, K: 12, Loss: 12.3456, PerSecond: 12345.6,
		ETA: 99*time.Hour + 59*time.Minute + 59*time.Second}
	if got, want := figures(halfway), "K=12, loss 12.346, 12346 steps/s, ETA 99h59m59s"; got != want ||
		utf8.RuneCountInString(got) > 55 {
		t.Errorf("%q, want %q", got, want)
	}
	halfway.K, halfway.Skipped, halfway.PerSecond = 0, 51, 0
	if got, want := figures(halfway), "K=0, skipped 51"; got != want {
		t.Errorf("where no row takes part: %q, want %q", got, want)
	}
}

// TestQuoted lets a shell take the advice apart again.
func TestQuoted(t *testing.T) {
	args := []string{"run", "-o", "a b", "it's", "$HOME", "~", "`x`", "#1", "", "*", "a\\b", "[x]", "{a,b}", "é", "x\ny",
		"tau=1", "!x"}
	out, err := exec.Command("sh", "-c", "printf '%s|' "+quoted(args...)).Output()
	if err != nil {
		t.Skipf("no shell to try: %v", err)
	}
	if want := strings.Join(args, "|") + "|"; string(out) != want {
		t.Errorf("a shell reads %q, want %q", out, want)
	}
}
