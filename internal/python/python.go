// Package python finds the Python of tests that compare with Python's packages.
package python

import (
	"cmp"
	"os"
	"os/exec"
	"testing"
)

// Find returns the Python program that PARALLELCL_PYTHON names, or python3. The test is skipped if it does not have the
// modules, given as "numpy, onnx".
func Find(t *testing.T, modules string) string {
	t.Helper()
	name := cmp.Or(os.Getenv("PARALLELCL_PYTHON"), "python3")
	if err := exec.Command(name, "-c", "import "+modules).Run(); err != nil {
		t.Skipf("%s does not have all of: %s. Install them, or name another Python by PARALLELCL_PYTHON", name, modules)
	}
	return name
}

// Run runs a script, which has to succeed, and returns what it printed.
func Run(t *testing.T, python, script string, args ...string) string {
	t.Helper()
	out, err := exec.Command(python, append([]string{"-c", script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
