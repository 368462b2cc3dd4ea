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

// ownerFile says in a cell's folder which process is its kernel, and where.
const ownerFile = "kernel.pid"

// owner names a process so that it can be told from those of other hosts and containers that share the temporary folder.
func owner(pid int) string { return strconv.Itoa(pid) + " " + here() }

// here is the host and, on Linux, the name space of process ids.
func here() string {
	host, _ := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(host + " " + space)
}

// removeAbandoned removes the folders that killed kernels of this machine left in the temporary folder, each with a compiled
// cell of tens of megabytes.
func removeAbandoned(temporary string) {
	owners, _ := filepath.Glob(filepath.Join(temporary, "gonb_*", ownerFile))
	for _, path := range owners {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		id, where, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		pid, err := strconv.Atoi(id)
		if err == nil && where == here() && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.RemoveAll(filepath.Dir(path))
		}
	}
}
