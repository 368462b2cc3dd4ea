package main

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed testdata/conformance.py
var conformance string

// python finds a Python that has Jupyter's own tests of kernels, or skips the test.
func python(t *testing.T) string {
	t.Helper()
	for _, p := range []string{os.Getenv("JUPYTER_PYTHON"), "python3"} {
		if p != "" && exec.Command(p, "-c", "import jupyter_kernel_test, nbclient").Run() == nil {
			return p
		}
	}
	t.Skip("no Python with jupyter_kernel_test and nbclient; JUPYTER_PYTHON may name one")
	return ""
}

// toyEnv is an environment in which Jupyter knows this program as the kernel "toy".
func toyEnv(t *testing.T, interruptMode string) []string {
	t.Helper()
	dir := t.TempDir()
	spec, err := json.Marshal(fields{
		"argv": []string{os.Args[0], "{connection_file}"}, "display_name": "toy", "language": "go",
		"env": map[string]string{"TOY_KERNEL": "argument"}, "interrupt_mode": interruptMode,
	})
	if err != nil {
		t.Fatal(err)
	}
	kernel := filepath.Join(dir, "kernels", "toy")
	if err := os.MkdirAll(kernel, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kernel, "kernel.json"), spec, 0o600); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "JUPYTER_PATH="+dir, "HOME="+dir, "IPYTHONDIR="+dir)
}

// Jupyter's own tests of kernels, and its own clients.
func TestJupyter(t *testing.T) {
	t.Parallel()
	for mode, tests := range map[string][]string{"message": nil,
		"signal": {"Clients.test_interrupt", "Clients.test_timeout_of_a_cell"}} {
		t.Run(mode, func(t *testing.T) {
			cmd := exec.Command(python(t), append([]string{"-c", conformance, "-v"}, tests...)...)
			cmd.Env = append(toyEnv(t, mode), "KERNEL=toy")
			out, err := cmd.CombinedOutput()
			t.Logf("interrupt by %s:\n%s", mode, out)
			if err != nil {
				t.Errorf("interrupt by %s: %v", mode, err)
			}
		})
	}
}
