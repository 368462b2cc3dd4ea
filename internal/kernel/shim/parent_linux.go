package main

import (
	"os"
	"syscall"
)

// dieWithParent has the system kill this program, also after it became another, when the one that started it ends.
func dieWithParent() {
	const setParentDeathSignal = 1 // PR_SET_PDEATHSIG
	parent := os.Getppid()
	syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGKILL), 0)
	if os.Getppid() != parent { // it ended before the system knew
		os.Exit(1)
	}
}

func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
