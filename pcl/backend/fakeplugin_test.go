//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/must"
)

// fakePlugin is a library whose GetPjrtApi returns a table of the given version without functions.
const fakePlugin = `
#include <stddef.h>
static struct {
	size_t size; void* ext; size_t vsize; void* vext; int major, minor;
	void (*functions[140])(void);
} api = { sizeof api, 0, 24, 0, MAJOR, MINOR };
void* GetPjrtApi(void) { return RESULT; }`

func TestPluginsThatWouldCrashAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"returns nothing": {[]string{"-DRESULT=NULL"}, "returned nothing"},
		"other major":     {[]string{"-DMAJOR=1"}, "PJRT API version 1.81"},
		"too old":         {[]string{"-DMINOR=56"}, "PJRT API version 0.56"},
		"missing symbol":  {[]string{"-DRESULT=(&elsewhere)", "-include", "elsewhere.h"}, "cannot be loaded"},
	} {
		t.Run(name, func(t *testing.T) {
			file := compilePlugin(t, c.flags...)
			err := fail.Tried(func() { openCPUPlugin(file, Options{}).Close() })
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("error %q does not name the file and say %q", err, c.want)
			}
		})
	}
}

// compilePlugin builds fakePlugin with other values for some of its macros.
func compilePlugin(t *testing.T, flags ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is missing: fake plugins cannot be built")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("fake.c", fakePlugin)
	write("elsewhere.h", "extern int elsewhere;\n")
	args := []string{"-shared", "-fPIC", "-o", "fake_cpu.so", "fake.c"}
	given := strings.Join(flags, " ")
	for _, d := range []string{"MAJOR=0", "MINOR=81", "RESULT=&api"} {
		if key, _, _ := strings.Cut(d, "="); !strings.Contains(given, "-D"+key+"=") {
			args = append(args, "-D"+d)
		}
	}
	cmd := exec.Command(gcc, append(args, flags...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "fake_cpu.so")
}
