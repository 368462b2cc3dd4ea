//go:build unix

package build

import (
	"os/exec"
	"syscall"
	"time"
)

// Group makes a command a process group of its own. When its context ends, all of the group end.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = endsWithParent()
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}
