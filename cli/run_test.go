package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

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
