package build

import "syscall"

// endsWithParent has the system end a process when the kernel ends, however that ends.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
