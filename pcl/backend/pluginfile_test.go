//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/must"
)

// foreignFiles makes files that are no plugins, from this test's own binary and from noise.
func foreignFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		p := filepath.Join(dir, name+".so")
		must.Do(t, os.WriteFile(p, data, 0o644))
		return p
	}
	noise := make([]byte, 1<<16)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	files := map[string]string{
		"missing":      filepath.Join(dir, "none.so"),
		"folder":       dir,
		"empty":        write("empty", nil),
		"random bytes": write("random", noise),
		"text":         write("text", []byte("#!/bin/sh\nexit 1\n")),
		"ELF magic":    write("magic", append([]byte("\x7fELF\x02\x01\x01"), noise...)),
	}
	if lib := sharedLibrary(t); lib != nil {
		files["ordinary library"] = write("ordinary", lib)
		arm := bytes.Clone(lib)
		arm[18] = byte(elf.EM_AARCH64) // e_machine
		files["other machine"] = write("arm", arm)
		small := bytes.Clone(lib)
		small[4] = byte(elf.ELFCLASS32) // e_ident: class
		files["32 bits"] = write("small", small)
		executable := bytes.Clone(lib)
		executable[16] = byte(elf.ET_EXEC) // e_type
		files["executable"] = write("executable", executable)
	}
	return files
}

// sharedLibrary is some shared library of the system, or nil.
func sharedLibrary(t *testing.T) []byte {
	t.Helper()
	for _, pattern := range []string{"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6", "/usr/lib/libm.so.6"} {
		if data, err := os.ReadFile(pattern); err == nil {
			return data
		}
	}
	t.Log("no system library found: files made from one are left out")
	return nil
}

func TestForeignPluginFilesAreErrors(t *testing.T) {
	for name, file := range foreignFiles(t) {
		for kind, open := range map[string]func(string, Options) *Backend{XLACPU: openCPUPlugin, XLACUDA: openCUDAPlugin} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				err := fail.Tried(func() { open(file, Options{}).Close() })
				if err == nil || !strings.Contains(err.Error(), file) {
					t.Errorf("error %v does not name the file", err)
				}
			})
		}
	}
}
