package pcl

import (
	"os/exec"
	"testing"
)

// runPython runs a script, which has to succeed, and returns what it printed.
func runPython(t *testing.T, python, script string, args ...string) string {
	t.Helper()
	out, err := exec.Command(python, append([]string{"-c", script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
