package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// marker is a variable in the environment of all that a kernel starts, and that these start. It has
// the kernel's folder.
const marker = "PARALLELCL_NOTEBOOK="

// endMarked ends what a kernel has started that has ended, and has left its folder. Only Linux says
// which processes these are.
func endMarked(dir string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		variables, _ := os.ReadFile(file) // of our own processes
		if !bytes.Contains(append([]byte{0}, variables...), []byte("\x00"+marker+dir+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}
