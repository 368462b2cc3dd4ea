//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ownerFile says in a cell's folder which process is its kernel.
const ownerFile = "kernel.pid"

// removeAbandoned removes the folders that killed kernels left in the temporary folder, each with a compiled cell of tens of
// megabytes.
func removeAbandoned(temporary string) {
	owners, _ := filepath.Glob(filepath.Join(temporary, "gonb_*", ownerFile))
	for _, path := range owners {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.RemoveAll(filepath.Dir(path))
		}
	}
}
