package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletionLines: the program that a shell asks may be in a folder of any name.
func TestCompletionLines(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	program := filepath.Join(t.TempDir(), "it's my $pcl")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho asked\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	lines, err := completionLines("bash", program)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(bash, "-c", `complete() { eval "$2"; }`+"\n"+lines).CombinedOutput(); string(out) != "asked\n" {
		t.Errorf("%s asks %q (%v)", lines, out, err)
	}
	for shell, want := range map[string]string{"zsh": "bashcompinit\ncomplete -C /usr/bin/pcl pcl\n", "fish": "\n    /usr/bin/pcl\nend\n"} {
		if lines, err := completionLines(shell, "/usr/bin/pcl"); err != nil || !strings.Contains(lines, want) {
			t.Errorf("%s: %s, %v", shell, lines, err)
		}
	}
}
