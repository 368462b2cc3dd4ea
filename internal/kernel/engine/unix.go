//go:build unix

package engine

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// waiting is how many bytes can be read from a pipe.
func waiting(f *os.File) (n int) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	err = raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), inputQueue) })
	if err != nil {
		return 0
	}
	return n
}

// makePipe makes a pipe with a name.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
