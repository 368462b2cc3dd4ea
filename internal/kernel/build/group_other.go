//go:build unix && !linux

package build

import "syscall"

func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
