package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// TestSmoke builds the library and smoke.c, which checks it from C.
func TestSmoke(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs a Unix shell")
	}
	build, err := filepath.Abs("build")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "lib")
	in := exec.Command("bash", build, "lib") // a user may have set CDPATH, by which cd finds folders elsewhere
	in.Dir, in.Env = filepath.Dir(dir), append(os.Environ(), "CDPATH=.")
	if out, err := in.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	licences := map[string]string{"LICENSE": "Apache License", "THIRD_PARTY_LICENSES": "The Gonum Authors"}
	for name, want := range licences {
		t.Run(name, func(t *testing.T) {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s beside the library has no %q: %v", name, want, expect.Text(err))
			}
		})
	}
	smoke := filepath.Join(dir, "smoke")
	run(t, "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I"+dir, "testdata/smoke.c", "-L"+dir, "-lparallelcl",
		"-lpthread", "-lm", "-Wl,-rpath,"+dir, "-o", smoke)
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
