package cli

import (
	"os/exec"
	"strings"
	"testing"
)

// TestQuoted lets a shell take the advice apart again.
func TestQuoted(t *testing.T) {
	args := []string{"run", "-o", "a b", "it's", "$HOME", "~", "`x`", "#1", "", "*", "a\\b", "[x]", "{a,b}", "é", "x\ny", "tau=1", "!x"}
	out, err := exec.Command("sh", "-c", "printf '%s|' "+quoted(args...)).Output()
	if err != nil {
		t.Skipf("no shell to try: %v", err)
	}
	if want := strings.Join(args, "|") + "|"; string(out) != want {
		t.Errorf("a shell reads %q, want %q", out, want)
	}
}
