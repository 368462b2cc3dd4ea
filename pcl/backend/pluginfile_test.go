//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// fakePlugin is a library whose GetPjrtApi returns a table of the given version without functions.
const fakePlugin = `
#include <stddef.h>
static struct {
	size_t size; void* ext; size_t vsize; void* vext; int major, minor;
	void (*functions[140])(void);
} api = { sizeof api, 0, 24, 0, MAJOR, MINOR };
extern int elsewhere;
void* NAME(void) { return RESULT; }`

// TestForeignPluginFiles: files that are not plugins, and plugins that would crash the process,
// give errors that name the file.
func TestForeignPluginFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	files := map[string]string{
		"missing": filepath.Join(dir, "none.so"), "folder": dir, "empty": write("empty.so", ""),
		"text": write("text.so", "#!/bin/sh\nexit 1\n"), "ELF magic": write("magic.so", "\x7fELF\x02\x01\x01"),
	}
	source := write("fake.c", fakePlugin)
	gcc, none := exec.LookPath("gcc")
	for name, flag := range map[string]string{
		"ordinary library": "-DNAME=Other", "returns nothing": "-DRESULT=NULL", "other major": "-DMAJOR=1",
		"too old":        "-DMINOR=56",
		"missing symbol": "-DRESULT=(&elsewhere)",
	} {
		if none != nil {
			t.Log("gcc is missing: fake plugins cannot be built")
			break
		}
		args := []string{"-shared", "-fPIC", "-o", filepath.Join(dir, name+"_cpu.so"), source, flag}
		for _, usual := range []string{"-DNAME=GetPjrtApi", "-DRESULT=&api", "-DMAJOR=0", "-DMINOR=81"} {
			if key, _, _ := strings.Cut(usual, "="); !strings.HasPrefix(flag, key+"=") {
				args = append(args, usual)
			}
		}
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		files[name] = args[3]
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			for kind, open := range map[string]func(string, Options) (*Backend, error){XLACPU: openCPUPlugin,
				XLACUDA: openCUDAPlugin} {
				b, err := open(file, Options{})
				b.Close()
				expect.Refusal(t, fmt.Sprintf("%s as %s", name, kind), err, file)
			}
		})
	}
}
