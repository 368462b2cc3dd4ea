package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/kernel"
)

const escapes = "\x1b[2J\x1b]0;owned\a\u009b31m\u202e"

// printed checks that a text has no escapes but says that they were there.
func printed(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x1b\a\u009b\u202e") || !strings.Contains(text, `\x1b[2J`) {
		t.Errorf("printed %q", text)
	}
}

// Whatever an error quotes, the terminal is not at its mercy.
func TestErrorsArePrintable(t *testing.T) {
	var stderr bytes.Buffer
	if code := exitCode(&runContext{ctx: t.Context(), stderr: &stderr}, errors.New("the file says "+escapes)); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	printed(t, stderr.String())
}

// Anybody may have written the files of the kernels that are listed.
func TestKernelListIsPrintable(t *testing.T) {
	data := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", data)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := filepath.Join(data, "kernels", "odd"+escapes)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	spec := fmt.Sprintf(`{"argv": ["/start"], "display_name": %q, "metadata": {"parallelcl": {"version": "v1", "source": "/a\u001b[2J"}}}`, "title\n")
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&kernelListCmd{}).Run(&runContext{ctx: t.Context(), stdout: &out, stderr: &out}); err != nil {
		t.Fatal(err)
	}
	printed(t, out.String())
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %q", n, out.String())
	}
	out.Reset()
	if err := printChecks(&out, []kernel.Check{{Name: "Kernel odd" + escapes, Detail: "gone: " + escapes, Mend: "remove " + escapes}}); err != nil {
		t.Fatal(err)
	}
	printed(t, out.String())
}
