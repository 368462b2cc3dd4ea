package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSmoke builds the library and smoke.c, which checks it from C.
func TestSmoke(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs a Unix shell")
	}
	dir := t.TempDir()
	run(t, "bash", "build", dir)
	smoke := filepath.Join(dir, "smoke")
	run(t, "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I"+dir, "testdata/smoke.c", "-L"+dir, "-lparallelcl", "-lpthread", "-lm", "-Wl,-rpath,"+dir, "-o", smoke)
	if out := run(t, smoke); !strings.Contains(out, "the C library works") {
		t.Error(out)
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
