//go:build cgo

package main

import (
	"os"
	"strings"
	"syscall"
)

const (
	tunables  = "GLIBC_TUNABLES"
	hugePages = "glibc.malloc.hugetlb"
)

// useHugePages starts the program anew, once, with a C library that asks for huge pages: XLA's CPU plugin
// allocates its buffers anew for each gradient, and a ResNet-18's are some hundred megabytes, whose small
// pages take a seventh of a step. The C library reads the setting only at the start, and libraries that do
// not know it pass it over. Programs that pcl starts, a notebook's cells too, inherit it.
func useHugePages() {
	settings := os.Getenv(tunables)
	if strings.Contains(settings, hugePages) {
		return
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	if settings != "" {
		settings = ":" + settings
	}
	if os.Setenv(tunables, hugePages+"=1"+settings) == nil {
		_ = syscall.Exec(program, os.Args, os.Environ()) // returns only where it failed: then without
	}
}
