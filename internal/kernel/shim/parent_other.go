//go:build unix && !linux

package main

import "syscall"

// dieWithParent does nothing where the system has nothing for it.
func dieWithParent() {}

func dup2(from, to int) error { return syscall.Dup2(from, to) }
