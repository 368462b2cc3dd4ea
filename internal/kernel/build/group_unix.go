//go:build unix

package build

import (
	"os/exec"
	"reflect"
	"syscall"
	"time"
)

// Group makes a command a process group of its own. When its context ends, all of the group end.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Linux can end it with this process
	if f := reflect.ValueOf(cmd.SysProcAttr).Elem().FieldByName("Pdeathsig"); f.IsValid() {
		f.SetInt(int64(syscall.SIGKILL))
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}
