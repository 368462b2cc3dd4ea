package texts

import (
	"strings"
	"testing"
)

// TestCommandsAreRun: a script of package cli runs each command of docs/weights.md.
func TestCommandsAreRun(t *testing.T) {
	script := read(t, "cli/testdata/weightsdoc.txtar")
	n := 0
	for line := range strings.Lines(read(t, "docs/weights.md")) {
		command, ok := strings.CutPrefix(line, "    pcl ")
		if !ok {
			continue
		}
		if n++; !strings.Contains(script, "\npcl "+command) {
			t.Errorf("no script runs: pcl %s", command)
		}
	}
	if n < 4 {
		t.Errorf("%d commands", n)
	}
}
